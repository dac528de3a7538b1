import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { podDisruptionBudgets } from './pod-disruption-budgets.ts'

export const policyDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'poddisruptionbudgets.policy': untyped(podDisruptionBudgets),
}
