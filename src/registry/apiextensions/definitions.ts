import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { customResourceDefinitions } from './custom-resource-definitions.ts'

/** Resources of the group apiextensions.k8s.io that differ from the others, by `resource.group`. */
export const apiextensionsDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'customresourcedefinitions.apiextensions.k8s.io': untyped(customResourceDefinitions),
}
