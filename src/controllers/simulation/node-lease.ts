/**
 * The Leases of simulated nodes. Only a kube-controller-manager that leads needs them: without a heartbeat for 50 s it
 * marks a node as Unknown. Then this server renews the Lease of each simulated node like a kubelet (KEP-589). Otherwise
 * it writes none.
 */
import type { Lease } from '../../api/coordination/v1.ts'
import type { Node } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clientset } from '../client/clientset.ts'
import { typedResource } from '../client/clientset.ts'
import type { ControllerContext } from '../controller.ts'
import { isHeld } from '../leader/leadership.ts'
import { isRefusal } from '../work/refusal.ts'

const LEASES = typedResource<Lease>('coordination.k8s.io', 'leases')
const NAMESPACE = 'kube-node-lease'
/** Seconds, as in the Lease of a kubelet. */
const DURATION = 40
const RENEW_MS = 15_000

/** @returns milliseconds until the next renewal; undefined if no kube-controller-manager reads the Lease */
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
    // another writer renewed the Lease, or a webhook refuses it: the next renewal is soon enough
    if (!isRefusal(error)) throw error
  }
  return RENEW_MS
}
