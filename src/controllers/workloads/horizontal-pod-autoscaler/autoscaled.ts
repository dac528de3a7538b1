/**
 * Queues the autoscalers that a write concerns (registry/autoscaling/autoscaled-work.ts), after the sync period of
 * kube-controller-manager.
 */
import { HopelessWork } from '../../../registry/work/hopeless-work.ts'
import { ownerKindOf } from '../../../registry/work/owner-kinds.ts'
import { mayHaveObjects } from '../../../registry/served/written-types.ts'
import { afterAWhile } from '../../work/after-a-while.ts'
import { clientsetFor } from '../../client/clientset.ts'
import type { Controller } from '../../controller.ts'
import { AUTOSCALERS } from './horizontal-pod-autoscaler.ts'
import { PERIOD_MS } from './history.ts'
import { keyOf } from '../../../registry/work/work.ts'

/** Key: NAMESPACE/NAME of the autoscaler. */
export const writtenAutoscaler = afterAWhile('horizontal-pod-autoscaler', PERIOD_MS)

/** Key: an AutoscaledKey in JSON. */
export const autoscaledTargets: Controller = {
  async reconcile(key, context) {
    const [namespace = '', kind, name] = partsOf(key)
    // every rollout comes here, but most control planes have no autoscalers; a new autoscaler queues itself
    if (!(await mayHaveObjects(context, AUTOSCALERS))) return undefined
    const clients = clientsetFor(context, 'horizontal-pod-autoscaler')
    for await (const autoscaler of clients.resource(AUTOSCALERS, namespace).each()) {
      const { scaleTargetRef = {} } = autoscaler.spec ?? {}
      if (kind !== undefined && (ownerKindOf(scaleTargetRef) !== kind || scaleTargetRef.name !== name)) continue
      context.later('horizontal-pod-autoscaler', keyOf(autoscaler), PERIOD_MS)
    }
    return undefined
  },
}

/** @throws HopelessWork */
function partsOf(key: string): readonly string[] {
  try {
    const parts: unknown = JSON.parse(key)
    if (Array.isArray(parts) && [0, 1, 3].includes(parts.length) && parts.every((part) => typeof part === 'string'))
      return parts
  } catch {
    // refused below
  }
  throw new HopelessWork(`${JSON.stringify(key)} names no target`)
}
