// Generated from the facts by `npm run generate`. Do not edit.
import type * as ApiResource from '../api/resource.ts'
import type * as CoreV1 from '../core/v1.ts'
import type * as MetaV1 from '../meta/v1.ts'

export interface Overhead {
  podFixed?: Record<string, ApiResource.Quantity>
}
export interface RuntimeClass {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: RuntimeClassSpec
}
export interface RuntimeClassList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: RuntimeClass[]
}
export interface RuntimeClassSpec {
  runtimeHandler?: string
  overhead?: Overhead
  scheduling?: Scheduling
}
export interface Scheduling {
  nodeSelector?: Record<string, string>
  tolerations?: CoreV1.Toleration[]
}
