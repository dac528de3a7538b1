// The first objects of a server that simulates nodes: `kedge start`, `kedge start --nodes 3`.
import type { ClusterAccess, Place } from '../../registry/simulation/simulated-cluster.ts'
import { createSimulatedNodes, equipSimulatedNodes, STARTER } from '../../registry/simulation/simulated-cluster.ts'
import { ask } from '../ask.ts'
import type { Server } from './backup.ts'

const CREATED = 201
const EXISTS = 409
const MISSING = 404

const NODES = '/api/v1/nodes'
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'

export interface SimulatedNodes {
  readonly count: number
  /** The user asked for nodes, so they are created beside existing ones. */
  readonly isAsked: boolean
}

/**
 * Existing objects stay. Unless the user asked for nodes, a control plane with a node, or with the lease of a
 * kube-scheduler or kube-controller-manager, gets none.
 * @returns the number of simulated nodes
 */
export async function createSimulatedCluster(server: Server, { count, isAsked }: SimulatedNodes): Promise<number> {
  const access = accessOf(server)
  if (isAsked || (await isNew(server))) await createSimulatedNodes(access, count)
  return equipSimulatedNodes(access)
}

const pathOf = ({ group, version, resource }: Place): string =>
  `${group === '' ? `/api/${version}` : `/apis/${group}/${version}`}/${resource}`

const accessOf = (server: Server): ClusterAccess => ({
  count: (place, labelSelector = '') =>
    countOf(server, `${pathOf(place)}?labelSelector=${encodeURIComponent(labelSelector)}`),
  async create(place, object) {
    await ask(server, 'POST', `${pathOf(place)}?fieldManager=${STARTER}`, object, [CREATED, EXISTS])
  },
})

async function countOf(server: Server, path: string): Promise<number> {
  const { items } = (await ask(server, 'GET', path)) as { readonly items: readonly unknown[] } // a list
  return items.length
}

async function isNew(server: Server): Promise<boolean> {
  const [nodes, isLed] = await Promise.all([countOf(server, `${NODES}?limit=1`), wasLed(server)])
  return nodes === 0 && !isLed
}

async function wasLed(server: Server): Promise<boolean> {
  const leases = ['kube-scheduler', 'kube-controller-manager']
  const found = await Promise.all(leases.map((name) => ask(server, 'GET', `${LEASES}/${name}`, undefined, [MISSING])))
  return found.some((lease) => lease !== undefined)
}
