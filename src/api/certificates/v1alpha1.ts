// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export interface ClusterTrustBundle {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ClusterTrustBundleSpec
}
export interface ClusterTrustBundleList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ClusterTrustBundle[]
}
export interface ClusterTrustBundleSpec {
  signerName?: string
  trustBundle?: string
}
