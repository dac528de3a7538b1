import type { BuiltInDefinition } from '../built-in-definition.ts'
import { events } from '../core/events.ts'
import { untyped } from '../untyped.ts'

/** events.k8s.io serves the same objects as the core group's events, in another form. */
export const eventsDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'events.events.k8s.io': untyped(events),
}
