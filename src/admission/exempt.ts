import type { GroupResource } from '../api/group-version.ts'
import { definitionOf } from '../registry/definitions.ts'

/** Whether no policy, or no webhook, is ever asked about a resource. */
export const isExempt = (resource: GroupResource, from: 'policies' | 'webhooks'): boolean =>
  definitionOf(resource).exemptFrom?.includes(from) === true
