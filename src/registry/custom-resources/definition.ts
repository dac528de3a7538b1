/** Reads a CustomResourceDefinition: its versions, its conditions, the resources that it serves. */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionVersion,
} from '../../api/apiextensions/v1.ts'
import type { GroupResource } from '../../api/group-version.ts'

export const DEFINITIONS: GroupResource = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }

export const conditionOf = (
  { status }: CustomResourceDefinition,
  type: string,
): CustomResourceDefinitionCondition | undefined => status?.conditions?.find((condition) => condition.type === type)

export const isConditionTrue = (definition: CustomResourceDefinition, type: string): boolean =>
  conditionOf(definition, type)?.status === 'True'

/**
 * The server answers requests for objects of an established definition, and discovery lists its resource. A definition
 * stays established.
 */
export const isEstablished = (definition: CustomResourceDefinition): boolean =>
  isConditionTrue(definition, 'Established')

export const isTerminating = (definition: CustomResourceDefinition): boolean =>
  isConditionTrue(definition, 'Terminating')

export const versionsOf = ({ spec }: CustomResourceDefinition): readonly CustomResourceDefinitionVersion[] =>
  spec?.versions ?? []

export const versionNamed = (
  definition: CustomResourceDefinition,
  name: string,
): CustomResourceDefinitionVersion | undefined => versionsOf(definition).find((version) => version.name === name)

/** The version in which storage keeps objects. Validation makes sure that there is one. */
export const storageVersion = (definition: CustomResourceDefinition): string =>
  versionsOf(definition).find(({ storage }) => storage)?.name ?? ''

export const isNamespaced = ({ spec }: CustomResourceDefinition): boolean => spec?.scope === 'Namespaced'

/** Whether names are equal, apart from empty ones. */
export function sameNames(
  a: CustomResourceDefinitionNames | undefined,
  b: CustomResourceDefinitionNames | undefined,
): boolean {
  const text = (names: CustomResourceDefinitionNames | undefined) => {
    const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = names ?? {}
    return JSON.stringify([plural, singular, kind, listKind, shortNames, categories])
  }
  return text(a) === text(b)
}

/** The names of the versions that some of the definitions serve. */
export const servedVersionsOf = (definitions: readonly CustomResourceDefinition[]): ReadonlySet<string> =>
  new Set(
    definitions.flatMap((definition) =>
      versionsOf(definition).flatMap(({ served, name }) => (served && name ? [name] : [])),
    ),
  )
