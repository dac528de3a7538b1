/** Validation rules of schemas (x-kubernetes-validations). A lazily loaded module compiles and runs them. */
import type { CustomResourceDefinition, JSONSchemaProps } from '../../api/apiextensions/v1.ts'
import { schemasBelow } from '../apiextensions/schemas-below.ts'
import { versionsOf } from './definition.ts'

export type RuleEngine = typeof import('../../expressions/custom-resource-rules.ts')

export const loadRuleEngine = (): Promise<RuleEngine> => import('../../expressions/custom-resource-rules.ts')

export const schemaHasRules = (schema: JSONSchemaProps): boolean =>
  (schema['x-kubernetes-validations'] ?? []).length > 0 || schemasBelow(schema).some(schemaHasRules)

/** Undefined if no version has rules. */
export async function ruleEngineFor(definition: CustomResourceDefinition): Promise<RuleEngine | undefined> {
  const hasRules = versionsOf(definition).some(
    ({ schema }) => schema?.openAPIV3Schema !== undefined && schemaHasRules(schema.openAPIV3Schema),
  )
  return hasRules ? loadRuleEngine() : undefined
}
