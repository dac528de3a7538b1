// What controllers, watches and the local front remember: filled as filled.test.ts fills the rest.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import type { Node, Service } from '../../src/api/core/v1.ts'
import type { EndpointSlice } from '../../src/api/discovery/v1.ts'
import { serveOutgoingCalls } from '../../src/cli/outgoing/calls.ts'
import { onceEach } from '../../src/controllers/work/once-each.ts'
import { untilRemoval } from '../../src/controllers/workloads/daemon-set/back-off.ts'
import { planForClients } from '../../src/controllers/workloads/endpoints/slice-topology.ts'
import { socketPaceOf } from '../../src/flowcontrol/socket-pace.ts'
import { openApiDocuments } from '../../src/openapi/documents.ts'
import { customModelName } from '../../src/registry/custom-resources/custom-model-name.ts'
import { customServing } from '../../src/registry/custom-resources/custom-serving.ts'
import type { ResourceEntry } from '../../src/registry/served/resources.ts'
import { builtInResources } from '../../src/registry/served/resources.ts'
import { withDynamic } from '../../src/registry/served/served-groups.ts'
import { answeredHere } from '../../src/storage/shards/shards-here.ts'
import { byFront } from '../../src/webhooks/by-front.ts'
import { outgoingBinding } from '../outgoing-binding.ts'
import type { Filled } from './filled.ts'
import { fillBeyondBounds, times } from './filled.ts'

vi.mock('../../src/base/bounded-map.ts', async (original) => {
  const { recording } = await import('./recorded.ts')
  return recording(await original())
})

const zoned = (zone: string): Node => ({
  metadata: { name: zone, labels: { 'topology.kubernetes.io/zone': zone } },
  status: { allocatable: { cpu: '4' }, conditions: [{ type: 'Ready', status: 'True' }] },
})
const endpointIn = (zone: string) => ({ addresses: ['10.0.0.1'], conditions: { ready: true }, zone })

/** A version of custom resources with a long schema. */
function customVersion(n: number): ResourceEntry {
  const [group, version, kind] = ['e.com', 'v1', `Thing${n}`]
  const description = `${n}`.padEnd(100_000, 'x')
  const schema = { type: 'object', properties: { spec: { type: 'object', description } } }
  return {
    ...builtInResources().find('', 'v1', 'configmaps')!,
    group: `g${n}.${group}`,
    version,
    resource: `things${n}`,
    kind,
    listKind: `${kind}List`,
    type: customModelName(`g${n}.${group}`, version, kind),
    serving: customServing,
    openApi: { schemaOf: { uid: `u${n}`, generation: 1 }, schema },
  }
}

const rows: readonly Filled[] = [
  {
    file: 'src/controllers/work/once-each.ts',
    how: 'an object that names many owners',
    fill() {
      const once = onceEach()
      return times(10_000, (n) => once(`owner-${n}`, async () => n))
    },
  },
  {
    file: 'src/controllers/workloads/daemon-set/back-off.ts',
    how: 'pods of many DaemonSets that fail on many nodes',
    fill: () =>
      times(11_000, (n) => untilRemoval('t', { set: { metadata: { uid: `u${n}` } }, now: new Date(0) }, `node-${n}`)),
  },
  {
    file: 'src/controllers/workloads/endpoints/slice-topology.ts',
    how: 'Services with hints',
    fill() {
      const nodes = [zoned('a'), zoned('b')]
      const slice: EndpointSlice = {
        metadata: { name: 's' },
        addressType: 'IPv4',
        endpoints: ['a', 'a', 'a', 'b', 'b', 'b'].map(endpointIn),
      }
      return times(4_200, (n) => {
        const annotations = { 'service.kubernetes.io/topology-mode': 'Auto' }
        const service: Service = { metadata: { name: `s${n}`, uid: `u${n}`, annotations }, spec: {} }
        const plan = { create: [slice], update: [], remove: [] }
        return planForClients({ uid: 'hinted' }, service, 'IPv4', { plan, existing: [], nodes })
      })
    },
  },
  {
    file: 'src/flowcontrol/socket-pace.ts',
    how: 'users with long names who watch over WebSockets',
    fill: () =>
      times(300, (n) => {
        const user = { name: `${n}`.padEnd(50_000, 'x'), groups: [] }
        return socketPaceOf({ tenant: { uid: 'watched' }, user, clock: () => 0 } as never)
      }),
  },
  {
    file: 'src/openapi/documents.ts',
    how: 'definitions whose documents are asked for',
    fill: () =>
      times(60, async (n) => {
        const entry = customVersion(n)
        const { group, version } = entry
        const versions = [{ version, priority: 100, resources: [entry] }]
        const served = withDynamic(builtInResources(), [{ group, priority: 1000, versions }])
        await openApiDocuments(served, { cbor: false }).v3(`apis/${group}/${version}`)
      }),
  },
  {
    file: 'src/storage/shards/shards-here.ts',
    how: 'control planes of one isolate',
    fill: () => times(300, (n) => answeredHere(`t${n}/control`, { revision: n }, n)),
  },
  {
    file: 'src/cli/outgoing/calls.ts',
    how: 'webhooks that come and go',
    async fill() {
      const directory = mkdtempSync(join(tmpdir(), 'kedge-calls-'))
      const socket = join(directory, 'calls.sock')
      const front = await serveOutgoingCalls(socket)
      const post = byFront(outgoingBinding(socket))
      const caBundle = 'x'.repeat(30_000)
      // nobody listens there, and no bundle is one
      await times(250, (n) =>
        post({ url: `https://127.0.0.1:1/${n}`, headers: {}, timeoutMs: 1_000, caBundle }, '').catch(() => {}),
      )
      front.close()
      rmSync(directory, { recursive: true })
    },
  },
]

fillBeyondBounds(rows)
