/**
 * Stages of KWOK are custom resources. This file says which of their writes are work for simulated nodes, and which
 * warnings clients get.
 */
import type { GroupResource } from '../../api/group-version.ts'
import { switchesOf } from '../../tenancy/workload-switches.ts'
import type { Strategy, StrategyContext } from '../strategy.ts'
import type { KubeObject } from '../../api/object.ts'
import type { WorkRules } from '../work/work.ts'

export const STAGES = { group: 'kwok.x-k8s.io', resource: 'stages' } as const

export const isOfStages = ({ group, resource }: GroupResource): boolean =>
  group === STAGES.group && resource === STAGES.resource

/** After a Stage changes, the controller looks at the pods of all simulated nodes. */
export const stageRules: WorkRules = {
  workloadWork: [(_, mode) => (mode === 'simulated' ? [{ topic: 'simulated-pods', payload: '' }] : [])],
}

/**
 * On a control plane with simulated nodes, a client that writes an unsupported Stage gets a warning with the reason.
 */
export function withStageWarnings(strategy: Strategy): Strategy {
  const warn = async (object: KubeObject, context: StrategyContext): Promise<void> => {
    if (switchesOf(context).workloads !== 'simulated') return
    const { stageProblems } = await import('./stages.ts')
    for (const why of stageProblems(object)) context.warn(`simulated nodes do not play this Stage: ${why}`)
  }
  return {
    ...strategy,
    async validate(object, context) {
      const errors = (await strategy.validate?.(object, context)) ?? []
      if (errors.length === 0) await warn(object, context)
      return errors
    },
    async validateUpdate(object, old, context) {
      const errors = (await strategy.validateUpdate?.(object, old, context)) ?? []
      if (errors.length === 0) await warn(object, context)
      return errors
    },
  }
}
