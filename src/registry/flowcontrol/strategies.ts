import type { Strategy } from '../strategy.ts'
import { untyped } from '../untyped.ts'
import { flowSchemas } from './flow-schemas.ts'
import { priorityLevels } from './priority-levels.ts'

export const flowcontrolStrategies: Readonly<Record<string, Strategy>> = {
  'flowschemas.flowcontrol.apiserver.k8s.io': untyped(flowSchemas),
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': untyped(priorityLevels),
}
