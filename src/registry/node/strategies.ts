import type { Strategy } from '../strategy.ts'
import { untyped } from '../untyped.ts'
import { runtimeClasses } from './runtime-classes.ts'

export const nodeStrategies: Readonly<Record<string, Strategy>> = {
  'runtimeclasses.node.k8s.io': untyped(runtimeClasses),
}
