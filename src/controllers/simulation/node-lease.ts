/**
 * The Leases of simulated nodes. They are needed only while a kube-controller-manager leads, which takes a node for dead
 * that it has not heard of for 50 s; then a node renews its own like a kubelet (KEP-589). Otherwise nothing is written.
 */
import type { Lease } from '../../api/coordination/v1.ts'
import type { Node } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import type { Clientset } from '../clientset.ts'
import { typedResource } from '../clientset.ts'
import type { ControllerContext } from '../controller.ts'
import { isHeld } from '../leadership.ts'

const LEASES = typedResource<Lease>('coordination.k8s.io', 'leases')
const NAMESPACE = 'kube-node-lease'
/** Seconds, as a kubelet's. */
const DURATION = 40
const RENEW_MS = 15_000

/** @returns milliseconds until it has to be renewed; undefined: nobody reads it */
export async function renewNodeLease(
  { metadata: { name = '', uid = '' } }: Node,
  clients: Clientset,
  context: ControllerContext,
): Promise<number | undefined> {
  if (!isHeld('kube-controller-manager', context)) return undefined
  const leases = clients.resource(LEASES, NAMESPACE)
  const spec = {
    holderIdentity: name,
    leaseDurationSeconds: DURATION,
    renewTime: context.now().toISOString().replace('Z', '000Z'),
  }
  const lease: KubeObject & Lease = {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { name, namespace: NAMESPACE, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec,
  }
  try {
    const known = await leases.get(name)
    if (known === undefined) await leases.create(lease)
    else await leases.update({ ...known, spec: { ...known.spec, ...spec } })
  } catch (error) {
    // another writer renewed it: the next time is soon enough
    if (!(error instanceof StatusError) || error.code >= 500) throw error
  }
  return RENEW_MS
}
