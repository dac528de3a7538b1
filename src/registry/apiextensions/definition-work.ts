/** Which writes of CustomResourceDefinitions are work for controllers. */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ServedKind } from '../work/collector-work.ts'
import { isConditionTrue, isEstablished, sameNames, versionsOf } from '../custom-resources/definition.ts'
import type { Change, Work } from '../work/work.ts'
import { work } from '../work/work.ts'
import { APPROVED_BY, isProtectedGroup } from './approval.ts'

type Definition = KubeObject & CustomResourceDefinition

export const definitionWork = ({ object, old }: Change<Definition>): readonly Work[] => [
  ...servingWork(object, old),
  ...work('kind-served', newlyServedKind(object, old)),
]

function servingWork(object: Definition | undefined, old: Definition | undefined): readonly Work[] {
  const { name, generation, deletionTimestamp } = (object ?? old)?.metadata ?? {}
  if (object !== undefined && deletionTimestamp !== undefined && old?.metadata.deletionTimestamp === undefined)
    return work('crd-finalizer', name)
  const isSpecSame = object !== undefined && old !== undefined && generation === old.metadata.generation
  const isApprovalSame = object?.metadata.annotations?.[APPROVED_BY] === old?.metadata.annotations?.[APPROVED_BY]
  if (isSpecSame)
    return [
      ...(isApprovalSame ? [] : work('crd-approval', name)),
      ...(losesNames(object, old) ? work('crd-names', name) : []),
    ]
  const group = name?.slice(name.indexOf('.') + 1)
  const renewal = old === undefined ? [] : work('crd-renewal', name)
  const approved = object !== undefined && isProtectedGroup(group ?? '') ? work('crd-approval', name) : []
  return [...work('crd-names', name), ...work('crd-api-services', group), ...renewal, ...approved]
}

/** Whether a write of the status takes away what the controllers of names have written. */
function losesNames(definition: Definition, before: Definition): boolean {
  const { acceptedNames } = definition.status ?? {}
  const wasTrue = (type: string) => isConditionTrue(before, type) && !isConditionTrue(definition, type)
  return (
    wasTrue('NamesAccepted') ||
    wasTrue('Established') ||
    (!sameNames(acceptedNames, before.status?.acceptedNames) && !sameNames(acceptedNames, definition.spec?.names))
  )
}

/** Returns a ServedKind as JSON if the definition now serves its kind in other versions than before. */
function newlyServedKind(definition: Definition | undefined, before: Definition | undefined): string | undefined {
  const { group, names } = definition?.spec ?? {}
  const versions = definition === undefined ? '' : servedVersions(definition)
  if (versions === '' || (before !== undefined && versions === servedVersions(before))) return undefined
  const kind: ServedKind = { group: group ?? '', resource: names?.plural ?? '', kind: names?.kind ?? '' }
  return JSON.stringify(kind)
}

const servedVersions = (definition: CustomResourceDefinition): string =>
  isEstablished(definition)
    ? versionsOf(definition)
        .filter(({ served }) => served)
        .map(({ name }) => name)
        .join()
    : ''
