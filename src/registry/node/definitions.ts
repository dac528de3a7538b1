import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { runtimeClasses } from './runtime-classes.ts'

export const nodeDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'runtimeclasses.node.k8s.io': untyped(runtimeClasses),
}
