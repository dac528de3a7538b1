/**
 * The first objects of a control plane with simulated nodes. `kedge start` creates them. A ControlPlane that is
 * switched on while the server runs does the same.
 */
import { SIMULATED, simulatedNode } from '../../api/simulated-node.ts'

export interface Place {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** The API with the permissions of the caller. */
export interface ClusterAccess {
  /** The number of objects. */
  count(place: Place, labelSelector?: string): Promise<number>
  /** An existing object stays as it is. */
  create(place: Place, object: object): Promise<void>
}

/** The field manager of these objects. A restore treats objects of this manager as system objects. */
export const STARTER = 'kedge-start'

const NODES: Place = { group: '', version: 'v1', resource: 'nodes' }
const STORAGE_CLASSES: Place = { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' }
const CLUSTER_ROLES: Place = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }

/** Creates the nodes 1 to `count`. Existing nodes stay, also those with higher numbers. */
export async function createSimulatedNodes(access: ClusterAccess, count: number): Promise<void> {
  for (let index = 1; index <= count; index++) await access.create(NODES, simulatedNode(index))
}

/**
 * Creates the objects that simulated nodes need, if there are such nodes: a default StorageClass, and the role of
 * metrics-server.
 * @returns the number of simulated nodes
 */
export async function equipSimulatedNodes(access: ClusterAccess): Promise<number> {
  const nodes = await access.count(NODES, `${SIMULATED}=true`)
  if (nodes === 0) return 0
  // the user may have another class, or want no default class
  if ((await access.count(STORAGE_CLASSES)) === 0) await access.create(STORAGE_CLASSES, defaultClass)
  await access.create(CLUSTER_ROLES, metricsReader)
  return nodes
}

const defaultClass = {
  kind: 'StorageClass',
  apiVersion: 'storage.k8s.io/v1',
  metadata: { name: 'simulated', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'kedge.dev/simulated',
  volumeBindingMode: 'WaitForFirstConsumer',
  allowVolumeExpansion: true,
}

/** Users who may view a namespace may also read the usage of its pods. */
const metricsReader = {
  kind: 'ClusterRole',
  apiVersion: 'rbac.authorization.k8s.io/v1',
  metadata: {
    name: 'system:aggregated-metrics-reader',
    labels: {
      'rbac.authorization.k8s.io/aggregate-to-view': 'true',
      'rbac.authorization.k8s.io/aggregate-to-edit': 'true',
      'rbac.authorization.k8s.io/aggregate-to-admin': 'true',
    },
  },
  rules: [{ apiGroups: ['metrics.k8s.io'], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
}
