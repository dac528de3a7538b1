// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export interface PriorityClass {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  value?: number
  globalDefault?: boolean
  description?: string
  preemptionPolicy?: string
}
export interface PriorityClassList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: PriorityClass[]
}
