/**
 * Converts Events between events.k8s.io/v1 and core/v1 (the storage version). Both have the same data under different
 * field names.
 */
import type * as Core from '../../api/core/v1.ts'
import type * as Events from '../../api/events/v1.ts'

export function toCore(event: Events.Event): Core.Event {
  const {
    note,
    regarding,
    reportingController,
    deprecatedSource,
    deprecatedFirstTimestamp,
    deprecatedLastTimestamp,
    deprecatedCount,
    ...same
  } = event
  return {
    ...same,
    involvedObject: regarding ?? {},
    message: note,
    reportingComponent: reportingController,
    source: deprecatedSource,
    firstTimestamp: deprecatedFirstTimestamp,
    lastTimestamp: deprecatedLastTimestamp,
    count: deprecatedCount,
  }
}

export function fromCore(event: Core.Event): Events.Event {
  const { message, involvedObject, reportingComponent, source, firstTimestamp, lastTimestamp, count, ...same } = event
  return {
    ...same,
    regarding: involvedObject,
    note: message,
    reportingController: reportingComponent,
    deprecatedSource: source,
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedCount: count,
  }
}

/** Translates a field selector of events.k8s.io to the field of the core Event. */
export const coreField = (field: string): string =>
  field === 'reportingController' ? 'reportingComponent' : field.replace(/^regarding\./, 'involvedObject.')
