// What a server that simulates nodes begins with: `kedge start --workloads simulated --nodes 3`.
import { ask } from './ask.ts'
import type { Server } from './backup.ts'

const STORAGE_CLASSES = '/apis/storage.k8s.io/v1/storageclasses'
const CREATED = 201
const EXISTS = 409

/** Nodes, and a class for claims that name none. What is there stays as it is. */
export async function createSimulatedCluster(server: Server, nodes: number): Promise<void> {
  await createNodes(server, nodes)
  await createDefaultClass(server)
}

async function createNodes(server: Server, count: number): Promise<void> {
  for (let index = 1; index <= count; index++) {
    const name = `node-${index}`
    const labels = {
      'kedge.dev/simulated': 'true',
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
    }
    const node = { kind: 'Node', apiVersion: 'v1', metadata: { name, labels } }
    await ask(server, 'POST', '/api/v1/nodes', node, [CREATED, EXISTS])
  }
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
  await ask(server, 'POST', STORAGE_CLASSES, storageClass, [CREATED, EXISTS])
}
