import type { Strategy } from '../strategy.ts'
import { untyped } from '../untyped.ts'
import { priorityClasses } from './priority-classes.ts'

export const schedulingStrategies: Readonly<Record<string, Strategy>> = {
  'priorityclasses.scheduling.k8s.io': untyped(priorityClasses),
}
