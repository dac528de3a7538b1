import { goQuote } from '../../go/quote.ts'
import { badRequest } from '../../api/status.ts'
import type { ListOptions } from '../../request/options.ts'
import { parseFieldSelector } from '../../storage/selectors/field-selector.ts'
import { parseLabelSelector } from '../../storage/selectors/label-selector.ts'
import type { FieldRequirement, Selection } from '../../storage/selectors/selection.ts'
import { coreField } from '../../registry/events/conversion.ts'
import type { SelectableField } from '../../registry/resource.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'

const METADATA_NAME = 'metadata.name'

/**
 * The selectors of a list, watch or deletecollection. Only fields that the resource supports are allowed. A path that
 * names an object (the deprecated /watch/…/NAME) selects it, and a field selector must then select that name too. No
 * requirement is dropped, because an authorizer may have allowed the request because of it.
 */
export function selectionOf(scope: RequestScope, options: ListOptions): Selection {
  const labels = parseLabelSelector(options.labelSelector)
  const fields = parseFieldSelector(options.fieldSelector).map((requirement) => knownField(scope, requirement))
  const {
    place: { name: named, namespace },
  } = scope
  if (named === '') return { labels, fields }
  const ofName = { field: METADATA_NAME, operator: '=', value: named } as const
  // of a namespaced resource the path of one object with an empty namespace selects none
  if (scope.resource.namespaced && namespace === '')
    return { labels, fields: [ofName, { field: 'metadata.namespace', operator: '=', value: '' }] }
  if (fields.length === 0) return { labels, fields: [ofName] }
  const first = fields.find(({ field, operator }) => field === METADATA_NAME && operator === '=')
  if (first?.value !== named) throw badRequest("fieldSelector metadata.name doesn't match requested name")
  return { labels, fields }
}

function knownField(
  { resource: { entry, kind, strategy, fieldAt } }: RequestScope,
  requirement: FieldRequirement,
): FieldRequirement {
  const { field } = requirement
  const known = entry.fieldSelectors
  if (known.includes(field))
    return entry.group === 'events.k8s.io'
      ? { ...requirement, field: coreField(field) }
      : placed(requirement, fieldAt?.(field))
  const onlyMetadata = known.every((name) => name.startsWith('metadata.')) && known.length === 2
  throw badRequest(
    strategy.unknownField?.(field, kind) ?? (onlyMetadata ? unknownMetadataField(field) : unsupportedField(field)),
  )
}

function placed(requirement: FieldRequirement, at: SelectableField | undefined): FieldRequirement {
  if (at === undefined) return requirement
  const { names, defaults } = at
  if (defaults.every((text) => text === '')) return { ...requirement, place: { names } }
  return { ...requirement, place: { names, filled: defaults.map((text) => text === requirement.value) } }
}

const unsupportedField = (field: string): string => `field label not supported: ${field}`

const unknownMetadataField = (field: string): string =>
  `${goQuote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
