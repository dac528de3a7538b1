import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { podGroups } from './pod-groups.ts'
import { priorityClasses } from './priority-classes.ts'
import { workloads } from './workloads.ts'

export const schedulingDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'podgroups.scheduling.k8s.io': untyped(podGroups),
  'priorityclasses.scheduling.k8s.io': untyped(priorityClasses),
  'workloads.scheduling.k8s.io': untyped(workloads),
}
