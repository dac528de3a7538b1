// An idle control plane costs nothing, also with simulated nodes: fifty watches are open on twenty resource types, and
// for more than a minute there is no write. Every watched shard hibernates. Bookmarks keep coming, and the next write
// reaches every watch.
import type { IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import type { ShardStats } from '../../src/storage/shards/shard-protocol.ts'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

const WATCHES = 50
/** An object hibernates after ten seconds without a request. */
const ASLEEP_MS = 15_000

const core = (resource: string): [shard: string, path: string] => [resource, `/api/v1/${resource}`]
const of = (group: string, resource: string): [shard: string, path: string] => [
  `${resource}.${group}`,
  `/apis/${group}/v1/${resource}`,
]
const types = [
  ...['configmaps', 'secrets', 'pods', 'services', 'endpoints', 'events', 'nodes', 'persistentvolumes'].map(core),
  ...['serviceaccounts', 'limitranges', 'podtemplates', 'resourcequotas', 'replicationcontrollers'].map(core),
  ...['deployments', 'daemonsets', 'statefulsets', 'replicasets'].map((resource) => of('apps', resource)),
  ...['jobs', 'cronjobs'].map((resource) => of('batch', resource)),
  of('coordination.k8s.io', 'leases'),
]

let server: KedgeProcess
let client: ApiClient
const streams: { path: string; response: IncomingMessage; text: string }[] = []

beforeAll(async () => {
  server = await startKedge(['--ephemeral', '--port', '0', '--nodes', '2'], { ...process.env, KEDGE_COUNT_WAKES: '1' })
  client = new ApiClient(server.kubeconfig)
  await client.send('GET', '/api/v1/namespaces/default/configmaps/kube-root-ca.crt')
  // The setup of the new control plane has finished.
  await eventually(async () => {
    const { body } = await client.send('GET', '/api/v1/nodes')
    expect(JSON.stringify(body).match(/"KubeletReady"/g)).toHaveLength(2)
  })
})
afterAll(async () => {
  for (const { response } of streams) response.destroy()
  await server.stop()
})

async function stats(): Promise<Map<string, ShardStats>> {
  const { body } = await client.send('GET', '/debug/shards')
  const { shards } = body as unknown as { shards: ShardStats[] }
  return new Map(shards.map((shard) => [shard.name.slice(shard.name.indexOf('/') + 1), shard]))
}

async function watch(path: string, query: string): Promise<void> {
  const list = await client.send('GET', `${path}?limit=1`)
  const version = list.body.metadata.resourceVersion
  const response = await client.open(
    'GET',
    `${path}?watch=1&allowWatchBookmarks=true&resourceVersion=${version}${query}`,
  )
  const stream = { path, response, text: '' }
  response.setEncoding('utf8').on('data', (part: string) => (stream.text += part))
  response.on('error', () => {})
  streams.push(stream)
}

test('watched shards sleep, bookmarks keep coming, the next write reaches everybody', async () => {
  // Every third watch has a selector: selectors must survive hibernation as well.
  for (let n = 0; n < WATCHES; n++)
    await watch(types[n % types.length]![1], n % 3 === 2 ? '&labelSelector=wanted%3Dyes' : '')
  const before = await stats()
  // Bookmarks come once a minute; a shard stays awake for less.
  await eventually(() => {
    for (const { path, text } of streams) expect(text, `bookmark for ${path}`).toContain('"type":"BOOKMARK"')
  })
  await pause(ASLEEP_MS)
  const after = await stats()
  for (const [shard] of types) {
    const [was, is] = [before.get(shard), after.get(shard)]
    expect(is?.since, `${shard} was constructed anew`).toBeGreaterThan(was?.since ?? Infinity)
    expect(is?.constructed, `${shard} was woken by this question alone`).toBe((was?.constructed ?? 0) + 1)
    expect(is?.reasons, `what ${shard} was asked for`).toEqual({})
    expect(is?.sockets, `sockets of ${shard}`).toBe(was?.sockets)
  }

  await pause(ASLEEP_MS)
  await client.send('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'plain' } })
  await client.send('POST', '/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'wanted', labels: { wanted: 'yes' } },
  })
  const ofConfigMaps = streams.filter(({ path }) => path === '/api/v1/configmaps')
  expect(ofConfigMaps.length).toBe(3)
  await eventually(() => {
    for (const { text } of ofConfigMaps) expect(text).toContain('"name":"wanted"')
  })
  ofConfigMaps.forEach(({ text }, n) => {
    // Every third watch has a selector.
    expect(text.includes('"name":"plain"')).toBe((n * types.length) % 3 !== 2)
  })
})
