import type { KubeObject } from '../api/object.ts'
import type { BuiltInDefinition } from './built-in-definition.ts'

/** A definition gets only objects of its own kind, which the schema of that kind has decoded. */
export function untyped<O extends KubeObject>(definition: BuiltInDefinition<O>): BuiltInDefinition {
  return definition as unknown as BuiltInDefinition
}
