import { untyped } from '../core/strategies.ts'
import type { Strategy } from '../strategy.ts'
import { podDisruptionBudgets } from './pod-disruption-budgets.ts'

export const policyStrategies: Readonly<Record<string, Strategy>> = {
  'poddisruptionbudgets.policy': untyped(podDisruptionBudgets),
}
