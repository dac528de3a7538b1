/**
 * Steps back while a kube-controller-manager or kube-scheduler holds its Lease, and takes over when the holder releases
 * the Lease or it expires. Each renewal is a write that queues this work, and an alarm wakes it at the expiry, so
 * nothing polls. This server holds no Lease itself: it would have to renew it, and a free Lease lets the other programs
 * begin. Key: the name of the Lease.
 */
import type { Lease } from '../../api/coordination/v1.ts'
import { HopelessWork } from '../../registry/work/hopeless-work.ts'
import { SIMULATED } from '../../api/simulated-node.ts'
import { LEADER_LEASES } from '../../registry/work/workload-controllers.ts'
import { clientsetFor, typedResource } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { NODES } from '../simulation/simulated-node.ts'

const LEASES = typedResource<Lease>('coordination.k8s.io', 'leases')

export const leaderLease: Controller = {
  async reconcile(name, context) {
    if (!LEADER_LEASES.some((lease) => lease === name)) throw new HopelessWork(`${JSON.stringify(name)} leads nothing`)
    const wasHeld = (context.sightings.get(`lease/${name}`)?.time ?? 0) > 0
    const left = await observeLease(name, context)
    if (wasHeld && left === undefined) context.later('workloads-begin', name, 0)
    if (!wasHeld && left !== undefined && name === 'kube-controller-manager') await beginHeartbeats(context)
    return left
  },
}

/** Queues all simulated nodes: a kube-controller-manager that begins to lead needs heartbeats of every node. */
async function beginHeartbeats(context: ControllerContext): Promise<void> {
  const nodes = await clientsetFor(context, 'node-controller')
    .resource(NODES)
    .list({ labelSelector: `${SIMULATED}=true` })
  for (const { metadata } of nodes) context.later('simulated-node', metadata.name ?? '', 0)
}

/**
 * The duration of a Lease counts from the time when this server sees the renewal, as in client-go's leader election,
 * because clocks differ.
 * @returns milliseconds until the Lease expires; undefined: no program holds it
 */
export async function observeLease(name: string, context: ControllerContext): Promise<number | undefined> {
  const lease = await clientsetFor(context, 'deployment-controller').resource(LEASES, 'kube-system').get(name)
  const { holderIdentity, leaseDurationSeconds = 0, renewTime } = lease?.spec ?? {}
  if (!holderIdentity) {
    context.sightings.set(`lease/${name}`, undefined)
    return undefined
  }
  const now = context.now().getTime()
  const known = context.sightings.get(`lease/${name}`)
  const record = JSON.stringify([holderIdentity, renewTime, leaseDurationSeconds])
  const until = known?.record === record ? known.time : now + leaseDurationSeconds * 1000
  // time 0 records the expiry, so that the controllers do not begin a second time
  if (known?.record !== record || until <= now)
    context.sightings.set(`lease/${name}`, { record, time: until > now ? until : 0 })
  return until > now ? until - now : undefined
}
