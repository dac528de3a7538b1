import { switchesOf } from '../tenancy/workload-switches.ts'
import type { StrategyContext } from './strategy.ts'
import { isSwitchedOn } from './work/workload-controllers.ts'

/** Whether the scheduler of this server places pods. */
export function schedulesHere(context: StrategyContext): boolean {
  const switches = switchesOf(context)
  return switches.workloads === 'simulated' && isSwitchedOn('scheduler', switches)
}

/** Whether this server makes the ResourceClaims of templates. */
export const makesClaimsHere = (context: StrategyContext): boolean =>
  isSwitchedOn('resource-claim', switchesOf(context))

/**
 * A Warning for an object that waits for a controller of kube-controller-manager that is not built in. There is none
 * where no workload controllers run: then somebody else brings all of them.
 */
export const unservedWork =
  (controller: string) =>
  (_object: unknown, context: StrategyContext): string[] =>
    switchesOf(context).workloads === 'off'
      ? []
      : [`this server has no ${controller}: the object waits until a kube-controller-manager runs one`]
