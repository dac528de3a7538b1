import type { KubeObject } from '../api/object.ts'
import type { BuiltInDefinition } from './built-in-definition.ts'

/** A definition is given only objects of its own kind, decoded by that kind's schema. */
export function untyped<O extends KubeObject>(definition: BuiltInDefinition<O>): BuiltInDefinition {
  return definition as unknown as BuiltInDefinition
}
