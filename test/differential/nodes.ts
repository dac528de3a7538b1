/** The nodes of both sides: three, each in a zone of its own, with devices by which scenarios keep out of each other's way. */
import type { Cluster } from './cluster.ts'
import { pause } from './cluster.ts'

export const NODES = ['node-1', 'node-2', 'node-3']

/** Extended resources of each node, four of each: a scenario that counts resources has one of its own. */
export const DEVICES = 40
export const device = (number: number): string => `example.com/device-${number}`

/** Gives the nodes labels and devices that the scenarios go by, once they are ready. */
export async function prepareNodes(cluster: Cluster): Promise<void> {
  // the scenarios are recorded where claims have no class by default
  await cluster.send('DELETE', '/apis/storage.k8s.io/v1/storageclasses/simulated', undefined, [404])
  const devices = Object.fromEntries(Array.from({ length: DEVICES }, (_, number) => [device(number), '4']))
  for (const [index, name] of NODES.entries()) {
    const path = `/api/v1/nodes/${name}`
    await change(cluster, path, '', (node) => {
      node.metadata.labels = {
        ...node.metadata.labels,
        'topology.kubernetes.io/zone': `zone-${index + 1}`,
        'topology.kubernetes.io/region': 'region-1',
        'example.com/number': String(index + 1),
        ...(index === 0 ? { disk: 'fast' } : {}),
      }
    })
    await change(cluster, path, '/status', (node) => {
      node.status = {
        ...node.status,
        capacity: { ...node.status?.capacity, ...devices },
        allocatable: { ...node.status?.allocatable, ...devices },
      }
    })
  }
}

interface NodeObject {
  readonly metadata: { labels?: Record<string, string> }
  readonly spec?: { readonly taints?: readonly unknown[] }
  status?: {
    readonly capacity?: Readonly<Record<string, string>>
    readonly allocatable?: Readonly<Record<string, string>>
  }
}

async function change(cluster: Cluster, path: string, place: string, edit: (node: NodeObject) => void): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const node = (await cluster.send('GET', path, undefined, [404])) as unknown as NodeObject
    if (node.status?.capacity !== undefined && (node.spec?.taints ?? []).length === 0) {
      edit(node)
      const answer = await cluster.send('PUT', path + place, node, [409])
      if (answer.kind === 'Node') return
    }
    await pause(100)
  }
  throw new Error(`${path} can't be changed`)
}
