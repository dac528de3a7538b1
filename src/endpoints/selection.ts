import { goQuote } from '../go/quote.ts'
import { ownValue } from '../api/own.ts'
import { badRequest } from '../api/status.ts'
import type { ListOptions } from '../request/options.ts'
import { parseFieldSelector } from '../storage/field-selector.ts'
import { parseLabelSelector } from '../storage/label-selector.ts'
import type { FieldRequirement, Selection } from '../storage/selection.ts'
import type { ResourceEntry } from '../registry/resources.ts'
import { coreField } from '../registry/events/conversion.ts'
import type { RequestScope } from '../registry/resource-scope.ts'

const METADATA_NAME = 'metadata.name'

/**
 * The selectors of a list, watch or deletecollection, with only such fields as the resource knows. A path that names
 * an object (the deprecated /watch/…/NAME) selects it.
 */
export function selectionOf(scope: RequestScope, options: ListOptions): Selection {
  const labels = parseLabelSelector(options.labelSelector)
  const fields = parseFieldSelector(options.fieldSelector).map((requirement) => knownField(scope, requirement))
  const {
    place: { name: named },
  } = scope
  if (named !== '') {
    if (fields.some(({ field, operator, value }) => field === METADATA_NAME && operator === '=' && value !== named))
      throw badRequest("fieldSelector metadata.name doesn't match requested name")
    return { labels, fields: [{ field: METADATA_NAME, operator: '=', value: named }] }
  }
  return { labels, fields }
}

function knownField({ resource: { entry } }: RequestScope, requirement: FieldRequirement): FieldRequirement {
  const { field } = requirement
  const known = entry.fieldSelectors
  if (known.includes(field))
    return entry.group === 'events.k8s.io' ? { ...requirement, field: coreField(field) } : requirement
  const onlyMetadata = known.every((name) => name.startsWith('metadata.')) && known.length === 2
  throw badRequest(
    (onlyMetadata ? unknownMetadataField : (ownValue(unknownFieldOf, entry.resource) ?? unknownField))(field, entry),
  )
}

type Complaint = (field: string, entry: ResourceEntry) => string

const unknownField: Complaint = (field) => `field label not supported: ${field}`
const unknownMetadataField: Complaint = (field) =>
  `${goQuote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
/** Kinds that word it in their own way. */
const unknownFieldOf: Readonly<Record<string, Complaint>> = {
  jobs: (field) => `field label ${goQuote(field)} not supported for Job`,
  resourceslices: (field, { group, version, kind }) =>
    `field label not supported for ${group}/${version}, Kind=${kind}: ${field}`,
}
