// Generated from the facts by `npm run generate`. Do not edit.
import type * as CoreV1 from '../core/v1.ts'
import type * as MetaV1 from '../meta/v1.ts'

export interface Endpoint {
  addresses?: string[]
  conditions?: EndpointConditions
  hostname?: string
  targetRef?: CoreV1.ObjectReference
  topology?: Record<string, string>
  nodeName?: string
  hints?: EndpointHints
}
export interface EndpointConditions {
  ready?: boolean
  serving?: boolean
  terminating?: boolean
}
export interface EndpointHints {
  forZones?: ForZone[]
  forNodes?: ForNode[]
}
export interface EndpointPort {
  name?: string
  protocol?: string
  port?: number
  appProtocol?: string
}
export interface EndpointSlice {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  addressType?: string
  endpoints?: Endpoint[]
  ports?: EndpointPort[]
}
export interface EndpointSliceList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: EndpointSlice[]
}
export interface ForNode {
  name?: string
}
export interface ForZone {
  name?: string
}
