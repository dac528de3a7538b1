// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export interface APIGroupDiscovery {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  versions?: APIVersionDiscovery[]
}
export interface APIGroupDiscoveryList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: APIGroupDiscovery[]
}
export interface APIResourceDiscovery {
  resource?: string
  responseKind?: MetaV1.GroupVersionKind
  scope?: string
  singularResource?: string
  verbs?: string[]
  shortNames?: string[]
  categories?: string[]
  subresources?: APISubresourceDiscovery[]
}
export interface APISubresourceDiscovery {
  subresource?: string
  responseKind?: MetaV1.GroupVersionKind
  acceptedTypes?: MetaV1.GroupVersionKind[]
  verbs?: string[]
}
export interface APIVersionDiscovery {
  version?: string
  resources?: APIResourceDiscovery[]
  freshness?: string
}
