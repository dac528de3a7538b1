/** Which writes of namespaces are work for workload controllers. */
import type { Workloads } from '../../../settings/schema.ts'
import type { Change, Work, WorkloadRule } from '../../work/work.ts'

/** Terms of inter-pod affinity select namespaces by their labels. */
function affinityWork({ object, old }: Change, mode: Workloads): readonly Work[] {
  if (mode !== 'simulated' || object === undefined || old === undefined) return []
  const [now, before] = [object, old].map(({ metadata }) => JSON.stringify(metadata.labels))
  return now === before ? [] : [{ topic: 'scheduler', payload: 'NamespaceChanged' }]
}

export const namespaceRules: readonly WorkloadRule[] = [affinityWork]
