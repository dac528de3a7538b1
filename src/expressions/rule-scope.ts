import type { JSONSchemaProps } from '../api/apiextensions/v1.ts'
import type { FieldPath } from '../api/field.ts'

/** The expressions of a schema's rules, which are checked where the schema is right in all else. */
export interface RuleScope {
  property(schema: JSONSchemaProps, name: string): RuleScope
  values(schema: JSONSchemaProps): RuleScope
  /** @param at where the list's schema is */
  items(schema: JSONSchemaProps, at: FieldPath): RuleScope
  /** @param at where the schema is */
  check(at: FieldPath): void
}
