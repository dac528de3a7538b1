/** Decides whether this server does a controller's work, or a kube-controller-manager or kube-scheduler that leads. */
import type { ControllerName } from '../../configuration/controllers.ts'
import type { Topic } from '../../registry/work/topic.ts'
import type { LeaderLease } from '../../registry/work/workload-controllers.ts'
import { isSwitchedOn, leaseOf, workloadTopics } from '../../registry/work/workload-controllers.ts'
import type { WorkloadTopic } from '../../registry/work/workload-controllers.ts'
import { switchesOf } from '../../tenancy/workload-switches.ts'
import type { ControllerContext } from '../controller.ts'

type Asked = Pick<ControllerContext, 'env' | 'tenant' | 'now' | 'sightings'>

/** Whether another program holds the Lease. */
export function isHeld(lease: LeaderLease, { sightings, now }: Pick<Asked, 'sightings' | 'now'>): boolean {
  return (sightings.get(`lease/${lease}`)?.time ?? 0) > now().getTime()
}

/** Whether the switches of the control plane and the Leases let this server run a controller. */
export function isControllerOurs(controller: ControllerName, context: Asked): boolean {
  const { workloads, controllers } = switchesOf(context)
  const lease = leaseOf(controller)
  const isLed = lease !== undefined && isHeld(lease, context)
  return workloads !== 'off' && controllers.isEnabled(controller) && !isLed
}

/** Topics that check this themselves: their simulated provisioners run even if another program binds claims. */
const askThemselves: ReadonlySet<WorkloadTopic> = new Set(['claim-binding', 'volume-binding'])

/** Whether this server runs the controller of a topic. */
export function isOurs(topic: WorkloadTopic, context: Asked): boolean {
  const controller = workloadTopics[topic]
  return controller === 'several' || askThemselves.has(topic)
    ? isSwitchedOn(topic, switchesOf(context))
    : isControllerOurs(controller, context)
}

/** Whether the holder of a Lease does the work of a topic. */
export function isOfLease(topic: Topic, lease: string): boolean {
  const controller = (workloadTopics as Partial<Record<Topic, ControllerName | 'several'>>)[topic]
  return controller === 'several' || (controller !== undefined && leaseOf(controller) === lease)
}
