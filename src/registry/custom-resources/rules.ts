/** Validation rules of schemas (x-kubernetes-validations). A lazily loaded module compiles and runs them. */
import type { CustomResourceDefinition, JSONSchemaProps } from '../../api/apiextensions/v1.ts'
import { someSchema } from '../apiextensions/schemas-below.ts'
import { versionsOf } from './definition.ts'

export type RuleEngine = typeof import('../../expressions/custom-resource-rules.ts')

export const loadRuleEngine = (): Promise<RuleEngine> => import('../../expressions/custom-resource-rules.ts')

const hasRules = (schema: JSONSchemaProps): boolean => (schema['x-kubernetes-validations'] ?? []).length > 0

/** Whether any version has rules; in parts. */
export const definitionHasRules = (definition: CustomResourceDefinition): boolean =>
  versionsOf(definition).some(
    ({ schema }) => schema?.openAPIV3Schema !== undefined && someSchema(schema.openAPIV3Schema, hasRules),
  )
