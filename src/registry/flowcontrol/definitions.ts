import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { flowSchemas } from './flow-schemas.ts'
import { priorityLevels } from './priority-levels.ts'

export const flowcontrolDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'flowschemas.flowcontrol.apiserver.k8s.io': untyped(flowSchemas),
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': untyped(priorityLevels),
}
