// What a server that simulates nodes begins with: `kedge start`, `kedge start --nodes 3`.
import { SIMULATED, simulatedNode } from '../registry/core/simulated-node.ts'
import { ask } from './ask.ts'
import type { Server } from './backup.ts'

const STORAGE_CLASSES = '/apis/storage.k8s.io/v1/storageclasses'
const CLUSTER_ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
const CREATED = 201
const EXISTS = 409
const MISSING = 404

const NODES = '/api/v1/nodes'
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
/** The manager of what is made here: a restore takes it for nobody's. */
const MANAGER = '?fieldManager=kedge-start'

export interface SimulatedNodes {
  readonly count: number
  /** Somebody asked for them: they are made beside whatever is there. */
  readonly isAsked: boolean
}

/**
 * Nodes, a class for claims that name none, and the role of metrics-server. What is there stays as it is. Where nobody asked, a control plane that
 * has a node, or was led by a kube-scheduler or kube-controller-manager, is somebody's cluster and gets nothing.
 * @returns how many simulated nodes there are
 */
export async function createSimulatedCluster(server: Server, { count, isAsked }: SimulatedNodes): Promise<number> {
  if (isAsked || (await isNew(server))) await createNodes(server, count)
  const simulated = await nodesOf(server, `labelSelector=${SIMULATED}%3Dtrue`)
  if (simulated > 0) await Promise.all([createDefaultClass(server), createMetricsReader(server)])
  return simulated
}

async function isNew(server: Server): Promise<boolean> {
  const [nodes, isLed] = await Promise.all([nodesOf(server, 'limit=1'), wasLed(server)])
  return nodes === 0 && !isLed
}

async function nodesOf(server: Server, query: string): Promise<number> {
  const { items } = (await ask(server, 'GET', `${NODES}?${query}`)) as { readonly items: readonly unknown[] } // a list
  return items.length
}

async function wasLed(server: Server): Promise<boolean> {
  const leases = ['kube-scheduler', 'kube-controller-manager']
  const found = await Promise.all(leases.map((name) => ask(server, 'GET', `${LEASES}/${name}`, undefined, [MISSING])))
  return found.some((lease) => lease !== undefined)
}

async function createNodes(server: Server, count: number): Promise<void> {
  for (let index = 1; index <= count; index++)
    await ask(server, 'POST', NODES + MANAGER, simulatedNode(index), [CREATED, EXISTS])
}

/** Only where there is no class at all: somebody may want none, or have one of their own. */
async function createDefaultClass(server: Server): Promise<void> {
  const { items } = (await ask(server, 'GET', STORAGE_CLASSES)) as { readonly items: readonly unknown[] } // a list
  if (items.length > 0) return
  const metadata = { name: 'simulated', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } }
  const storageClass = {
    kind: 'StorageClass',
    apiVersion: 'storage.k8s.io/v1',
    metadata,
    provisioner: 'kedge.dev/simulated',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
  }
  await ask(server, 'POST', STORAGE_CLASSES + MANAGER, storageClass, [CREATED, EXISTS])
}

/** Who may view what is in a namespace may see what its pods use: the role that metrics-server brings. */
async function createMetricsReader(server: Server): Promise<void> {
  const labels = Object.fromEntries(
    ['view', 'edit', 'admin'].map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, 'true']),
  )
  const clusterRole = {
    kind: 'ClusterRole',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: { name: 'system:aggregated-metrics-reader', labels },
    rules: [{ apiGroups: ['metrics.k8s.io'], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
  }
  await ask(server, 'POST', CLUSTER_ROLES + MANAGER, clusterRole, [CREATED, EXISTS])
}
