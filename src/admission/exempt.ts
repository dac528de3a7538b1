import type { GroupResource } from '../api/group-version.ts'
import { definitionOf } from '../registry/definitions.ts'

/** Whether a resource is exempt from all policies, or from all webhooks. */
export const isExempt = (resource: GroupResource, from: 'policies' | 'webhooks'): boolean =>
  definitionOf(resource).exemptFrom?.includes(from) === true
