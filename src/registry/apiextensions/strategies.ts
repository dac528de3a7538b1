import { untyped } from '../core/strategies.ts'
import type { Strategy } from '../strategy.ts'
import { customResourceDefinitions } from './custom-resource-definitions.ts'

/** Resources of the group apiextensions.k8s.io that differ from the others, by `resource.group`. */
export const apiextensionsStrategies: Readonly<Record<string, Strategy>> = {
  'customresourcedefinitions.apiextensions.k8s.io': untyped(customResourceDefinitions),
}
