// Cases in which controllers work over many objects. After the setup of a case, one or a few requests start the work.
import type { ServerInProcess } from '../engine-in-process/server.ts'
import { serverInProcess } from '../engine-in-process/server.ts'
import type { Env } from '../../src/env.ts'

export { serverInProcess }

export interface ControllerCase {
  readonly what: string
  /** The number of objects in the case. */
  readonly count: number
  readonly settings?: Partial<Env>
  setUp(server: ServerInProcess, count: number): Promise<void>
  begin(server: ServerInProcess, count: number): Promise<void>
  isDone(server: ServerInProcess, count: number): Promise<boolean>
}

const NAMESPACE = '/api/v1/namespaces/many'
const SERVICES = `${NAMESPACE}/services`
const PODS = `${NAMESPACE}/pods`
const CONFIG_MAPS = `${NAMESPACE}/configmaps`
/** Concurrent writes. */
const TOGETHER = 8

async function each(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: TOGETHER }, worker))
}

async function namespace(server: ServerInProcess): Promise<void> {
  await server.send('POST', '/api/v1/namespaces', metaOf('v1', 'Namespace', { name: 'many' }))
  for (;;)
    try {
      await server.send('GET', `${NAMESPACE}/serviceaccounts/default`)
      return
    } catch {
      await pause(20)
    }
}

const metaOf = (apiVersion: string, kind: string, metadata: object, more: object = {}) => ({
  apiVersion,
  kind,
  metadata,
  ...more,
})

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: {
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'nginx', resources: { requests: { cpu: '10m', memory: '16Mi' } } }],
  },
})

const pod = (name: string, app = 'loose', more: object = {}) => {
  const { metadata, spec } = template(app)
  return metaOf('v1', 'Pod', { ...metadata, name }, { spec: { ...spec, ...more } })
}

const node = (name: string, isSimulated: boolean) => {
  const capacity = { cpu: '64', memory: '256Gi', 'ephemeral-storage': '500Gi', pods: '250' }
  const labels = { 'kubernetes.io/hostname': name, ...(isSimulated ? { 'kedge.dev/simulated': 'true' } : {}) }
  return metaOf('v1', 'Node', { name, labels }, { status: { capacity, allocatable: capacity } })
}

const nodes = (server: ServerInProcess, count: number, isSimulated: boolean) =>
  each(count, (n) => server.send('POST', '/api/v1/nodes', node(`node-${n}`, isSimulated)))

const deployment = (name: string, replicas: number) =>
  metaOf(
    'apps/v1',
    'Deployment',
    { name },
    {
      spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name) },
    },
  )

const keysOf = async (server: ServerInProcess, shard: string): Promise<number> => (await server.stats(shard)).keys

/** Gives controllers time until no due work is left. */
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Waits until ten polls in a row see no call to these shards. */
async function rested(server: ServerInProcess, shards: readonly string[]): Promise<void> {
  const calls = async () =>
    JSON.stringify(await Promise.all(shards.map(async (shard) => (await server.stats(shard)).reasons)))
  let before = await calls()
  for (let looks = 0; looks < 10;) {
    await pause(50)
    const now = await calls()
    looks = now === before ? looks + 1 : 0
    before = now
  }
}

/** An owner and ConfigMaps with an ownerReference to it. */
async function family(server: ServerInProcess, count: number): Promise<void> {
  await namespace(server)
  await server.send('POST', SERVICES, metaOf('v1', 'Service', { name: 'owner' }, { spec: { clusterIP: 'None' } }))
  const owner = await server.send('GET', `${SERVICES}/owner`)
  const { uid } = owner.body.metadata as unknown as { uid: string }
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name: 'owner', uid, blockOwnerDeletion: true }]
  await each(count, (n) =>
    server.send(
      'POST',
      CONFIG_MAPS,
      metaOf('v1', 'ConfigMap', { name: `owned-${n}`, ownerReferences }, { data: { text: 'x'.repeat(500) } }),
    ),
  )
}

const deleted = (propagationPolicy: string): Omit<ControllerCase, 'what' | 'count'> => ({
  setUp: family,
  begin: async (server) => void (await server.send('DELETE', `${SERVICES}/owner`, { propagationPolicy })),
  // each namespace keeps its kube-root-ca.crt
  isDone: async (server) => (await keysOf(server, 'configmaps')) < 20 && (await keysOf(server, 'services')) === 1,
})

export const cases: readonly ControllerCase[] = [
  { what: 'an owner is deleted in the background', count: 10_000, ...deleted('Background') },
  { what: 'an owner is deleted in the foreground', count: 10_000, ...deleted('Foreground') },
  {
    what: 'an owner is deleted, its dependents stay',
    count: 10_000,
    ...deleted('Orphan'),
    isDone: async (server) => (await keysOf(server, 'services')) === 1,
  },
  {
    what: 'a namespace is emptied',
    count: 10_000,
    async setUp(server, count) {
      await namespace(server)
      await each(count / 2, (n) => server.send('POST', CONFIG_MAPS, metaOf('v1', 'ConfigMap', { name: `c-${n}` })))
      await each(count / 2, (n) => server.send('POST', PODS, pod(`p-${n}`)))
    },
    async begin(server) {
      await server.send('DELETE', NAMESPACE)
      server.pass(6_000)
    },
    isDone: async (server) => (await keysOf(server, 'pods')) === 0 && (await keysOf(server, 'configmaps')) < 20,
  },
  {
    what: 'a collection is deleted',
    count: 10_000,
    async setUp(server, count) {
      await namespace(server)
      const data = { text: 'x'.repeat(500) }
      await each(count, (n) =>
        server.send('POST', CONFIG_MAPS, metaOf('v1', 'ConfigMap', { name: `c-${n}` }, { data })),
      )
    },
    begin: async (server) => void (await server.send('DELETE', CONFIG_MAPS)),
    isDone: async (server) => (await keysOf(server, 'configmaps')) < 20,
  },
  {
    what: 'a quota is counted',
    count: 10_000,
    async setUp(server, count) {
      await namespace(server)
      await each(count, (n) => server.send('POST', PODS, pod(`p-${n}`)))
    },
    async begin(server) {
      const hard = { pods: '20k', 'requests.cpu': '1k', 'count/pods': '20k' }
      await server.send(
        'POST',
        `${NAMESPACE}/resourcequotas`,
        metaOf('v1', 'ResourceQuota', { name: 'q' }, { spec: { hard } }),
      )
    },
    async isDone(server) {
      const { status = {} } = (await server.send('GET', `${NAMESPACE}/resourcequotas/q`)).body
      return status['used'] !== undefined
    },
  },
  {
    what: 'a Deployment comes up',
    count: 1_000,
    settings: { KEDGE_WORKLOADS: 'simulated' },
    async setUp(server) {
      await namespace(server)
      await nodes(server, 10, true)
      await pause(1_000)
    },
    begin: async (server, count) =>
      void (await server.send('POST', '/apis/apps/v1/namespaces/many/deployments', deployment('large', count))),
    async isDone(server, count) {
      const { status = {} } = (await server.send('GET', '/apis/apps/v1/namespaces/many/deployments/large')).body
      return status['availableReplicas'] === count
    },
  },
  {
    what: 'Services get their endpoints',
    count: 1_000,
    settings: { KEDGE_WORKLOADS: 'simulated' },
    async setUp(server, count) {
      await namespace(server)
      await nodes(server, 10, true)
      await server.send('POST', '/apis/apps/v1/namespaces/many/deployments', deployment('web', count / 10))
      for (;;) {
        const { status = {} } = (await server.send('GET', '/apis/apps/v1/namespaces/many/deployments/web')).body
        if (status['availableReplicas'] === count / 10) return
        await pause(50)
      }
    },
    begin: (server, count) =>
      each(count, (n) =>
        server.send(
          'POST',
          SERVICES,
          metaOf('v1', 'Service', { name: `s-${n}` }, { spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } }),
        ),
      ),
    isDone: async (server, count) => (await keysOf(server, 'endpointslices.discovery.k8s.io')) >= count,
  },
  {
    what: 'a Service gets many endpoints',
    count: 1_000,
    settings: { KEDGE_WORKLOADS: 'simulated' },
    async setUp(server, count) {
      await namespace(server)
      await nodes(server, Math.ceil(count / 200) + 1, true)
      await server.send('POST', '/apis/apps/v1/namespaces/many/deployments', deployment('web', count))
      for (;;) {
        const { status = {} } = (await server.send('GET', '/apis/apps/v1/namespaces/many/deployments/web')).body
        if (status['availableReplicas'] === count) return
        await pause(50)
      }
    },
    begin: async (server) =>
      void (await server.send(
        'POST',
        SERVICES,
        metaOf('v1', 'Service', { name: 's' }, { spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } }),
      )),
    isDone: async (server, count) => (await keysOf(server, 'endpointslices.discovery.k8s.io')) >= count / 100,
  },
  {
    what: 'a DaemonSet on many nodes',
    count: 1_000,
    settings: { KEDGE_WORKLOADS: 'simulated' },
    async setUp(server, count) {
      await namespace(server)
      await nodes(server, count, true)
      await pause(1_000)
    },
    async begin(server) {
      const selector = { matchLabels: { app: 'daemon' } }
      const spec = { selector, template: template('daemon') }
      await server.send(
        'POST',
        '/apis/apps/v1/namespaces/many/daemonsets',
        metaOf('apps/v1', 'DaemonSet', { name: 'daemon' }, { spec }),
      )
    },
    async isDone(server, count) {
      const { status = {} } = (await server.send('GET', '/apis/apps/v1/namespaces/many/daemonsets/daemon')).body
      return status['numberReady'] === count
    },
  },
  {
    what: 'pods are scheduled on 100 nodes',
    count: 1_000,
    settings: { KEDGE_WORKLOADS: 'simulated' },
    async setUp(server, count) {
      await namespace(server)
      await each(count, (n) => server.send('POST', PODS, pod(`p-${n}`)))
      while ((await server.queued()) > 0) await pause(50)
    },
    begin: (server) => nodes(server, 100, false),
    async isDone(server) {
      const unbound = `${PODS}?fieldSelector=${encodeURIComponent('spec.nodeName=')}&limit=1`
      return ((await server.send('GET', unbound)).body.items ?? []).length === 0
    },
  },
  {
    what: 'nodes fall silent',
    count: 1_000,
    settings: { KEDGE_WORKLOADS: 'simulated' },
    async setUp(server, count) {
      await namespace(server)
      await nodes(server, count, false)
      await each(count, (n) => ready(server, `node-${n}`))
      await each(count * 5, (n) => server.send('POST', PODS, pod(`p-${n}`, 'loose', { nodeName: `node-${n % count}` })))
      // the controller counts the time of a heartbeat from when it sees it
      await rested(server, ['nodes', 'pods', 'leases.coordination.k8s.io'])
    },
    async begin(server, count) {
      server.pass(60_000)
      // a change of each node makes the controller look at work that is due
      await each(count, (n) =>
        server.send('PATCH', `/api/v1/nodes/node-${n}`, { metadata: { labels: { seen: 'yes' } } }, MERGE),
      )
    },
    async isDone(server) {
      const { items = [] } = (await server.send('GET', '/api/v1/nodes')).body
      return items.every(({ status }) => JSON.stringify(status).includes('NodeStatusUnknown'))
    },
  },
]

const MERGE = 'application/merge-patch+json'

const ready = (server: ServerInProcess, name: string) =>
  server.send(
    'PATCH',
    `/api/v1/nodes/${name}/status`,
    { status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' }] } },
    MERGE,
  )
