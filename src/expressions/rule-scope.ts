import type { JSONSchemaProps } from '../api/apiextensions/v1.ts'
import type { FieldPath } from '../api/field.ts'

/** Checks the rules of a schema (x-kubernetes-validations). Rules are checked only if the schema has no other error. */
export interface RuleScope {
  /** @param at path of the object's schema */
  property(schema: JSONSchemaProps, name: string, at: FieldPath): RuleScope
  values(schema: JSONSchemaProps): RuleScope
  /** @param at path of the list's schema */
  items(schema: JSONSchemaProps, at: FieldPath): RuleScope
  /** @param at path of the schema */
  check(at: FieldPath): void
}
