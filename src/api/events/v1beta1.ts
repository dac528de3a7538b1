// Generated from the facts by `npm run generate`. Do not edit.
import type * as CoreV1 from '../core/v1.ts'
import type * as MetaV1 from '../meta/v1.ts'

export interface Event {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  eventTime?: MetaV1.MicroTime
  series?: EventSeries
  reportingController?: string
  reportingInstance?: string
  action?: string
  reason?: string
  regarding?: CoreV1.ObjectReference
  related?: CoreV1.ObjectReference
  note?: string
  type?: string
  deprecatedSource?: CoreV1.EventSource
  deprecatedFirstTimestamp?: MetaV1.Time
  deprecatedLastTimestamp?: MetaV1.Time
  deprecatedCount?: number
}
export interface EventList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: Event[]
}
export interface EventSeries {
  count?: number
  lastObservedTime?: MetaV1.MicroTime
}
