// What an isolate remembers of values that requests make up: each is filled beyond its bound and must not hold more.
// `accounted.test.ts` says of every collection of the source where it is filled, or why no request fills it.
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { TokenReviewStatus } from '../../src/api/authentication/v1.ts'
import { PassThrough } from 'node:stream'
import { CallDepth } from '../../src/storage/shards/call-depth.ts'
import { Outbox } from '../../durable-objects/outbox.ts'
import { PendingWork } from '../../durable-objects/pending-work.ts'
import { compiledPolicy } from '../../src/admission/policies/compiled-policy.ts'
import { candidatesOf } from '../../src/admission/webhooks/candidates.ts'
import type { CustomResourceDefinition } from '../../src/api/apiextensions/v1.ts'
import { NodeState } from '../../src/controllers/scheduling/node-state.ts'
import { stagesOf } from '../../src/controllers/simulation/stages.ts'
import { EventRecorder } from '../../src/controllers/workloads/events/events.ts'
import { RemoteDocuments } from '../../src/endpoints/aggregation/remote-documents.ts'
import { admitRequest } from '../../src/flowcontrol/admit-request.ts'
import { pathMembers } from '../../src/openapi/rendered-paths.ts'
import { compiledVersion } from '../../src/registry/custom-resources/compiled-versions.ts'
import { convertByWebhook } from '../../src/registry/custom-resources/conversion-webhook.ts'
import { servedResources } from '../../src/registry/served/served.ts'
import { Tunnels } from '../../src/cli/front/tunnels.ts'
import { measurementsOf, measureRequest } from '../../src/metrics/measurements.ts'
import { authenticateToken } from '../../src/authentication/token-authenticator.ts'
import { KeyQuestions } from '../../src/authentication/key-questions.ts'
import { impersonate } from '../../src/authorization/impersonation.ts'
import { compiledPattern } from '../../src/cel/values/patterns.ts'
import { LookPace } from '../../src/controllers/work/look-pace.ts'
import { parsedOnce } from '../../src/controllers/work/parsed-once.ts'
import { changeTime } from '../../src/controllers/workloads/endpoints/change-time.ts'
import { EventCorrelator } from '../../src/controllers/workloads/events/event-correlator.ts'
import { WaitingLine } from '../../src/flowcontrol/waiting-line.ts'
import { Counters, Histograms } from '../../src/metrics/series.ts'
import { quotasOf } from '../../src/admission/plugins/quota/quotas.ts'
import { reviewLikeKnown } from '../../src/admission/webhooks/known-replies.ts'
import { announceWatch } from '../../src/registry/custom-resources/watched-kinds.ts'
import { authenticated } from '../../src/request/user-info.ts'
import { RequestHeaders } from '../../src/request/request-headers.ts'
import { keyElement, readPathElement } from '../../src/schema/path-element.ts'
import { collectionOf } from '../../src/storage/collections.ts'
import { storageOf } from '../../src/storage/environment-storage.ts'
import { WritePause } from '../../src/storage/shards/write-pause.ts'
import { recentObject } from '../../src/tenancy/recent-objects.ts'
import { goPatternError, loadPatterns } from '../../src/validation/go-pattern.ts'
import { memoryServer } from '../request-in-memory.ts'
import { frontAnswering } from '../webhooks/front.ts'
import { fillBeyondBounds, times } from './filled.ts'
import type { Filled } from './filled.ts'

vi.mock('../../src/base/bounded-map.ts', async (original) => {
  const { recording } = await import('./recorded.ts')
  return recording(await original())
})

beforeAll(() => loadPatterns())

const TOKEN = 'a'.repeat(40)
const webhook = {
  connection: { url: 'https://tokens.example', certificateAuthority: 'P', clientCertificate: 'C', clientKey: 'K' },
  version: 'v1',
}
/** A server whose tokens a webhook knows. */
const withTokenWebhook = (status: TokenReviewStatus) =>
  memoryServer({
    OUTGOING: frontAnswering(({ review }) => ({ status: 200, text: JSON.stringify({ ...review, status }) })).binding,
    KEDGE_AUTHENTICATION_TOKEN_WEBHOOK: JSON.stringify(webhook),
  })

const rows: readonly Filled[] = [
  {
    file: 'src/authentication/token-authenticator.ts',
    how: 'one token, for other audiences each time',
    async fill() {
      const { request } = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
      const own = 'https://kubernetes.default.svc.cluster.local'
      await times(4_200, (n) => authenticateToken(request('/'), TOKEN, [own, `a${n}`]))
    },
  },
  {
    file: 'src/authentication/token-webhook.ts',
    how: 'answers of a megabyte',
    async fill() {
      const groups = ['g'.repeat(1_000_000)]
      const { request } = withTokenWebhook({ authenticated: true, user: { username: 'u', groups } })
      await times(12, (n) => authenticateToken(request('/'), `token-${n}`))
    },
  },
  {
    file: 'src/authentication/refused-tokens.ts',
    how: 'made-up tokens, of which a webhook has much to say',
    async fill() {
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const { request } = withTokenWebhook({ authenticated: false, error: 'x'.repeat(500_000) })
      await times(12, (n) => authenticateToken(request('/'), `made-up-${n}`).catch(() => {}))
    },
  },
  {
    file: 'src/authentication/refused-tokens.ts',
    how: 'made-up tokens',
    async fill() {
      const { request } = memoryServer()
      await times(4_200, (n) => authenticateToken(request('/'), `made-up-${n}`).catch(() => {}))
    },
  },
  {
    file: 'src/authentication/key-questions.ts',
    how: 'ids of keys that no issuer has',
    fill() {
      const questions = new KeyQuestions(async () => true, 1_000)
      return times(1_100, (n) =>
        questions.find({ now: new Date(n * 60_000) }, `${n}`.padEnd(100, 'x'), () => undefined),
      )
    },
  },
  {
    file: 'src/authorization/impersonation.ts',
    how: 'users with long names who impersonate',
    async fill() {
      const { request } = memoryServer()
      const headers = RequestHeaders.of(new Headers({ 'Impersonate-User': 'alice' }))
      await times(30, async (n) => {
        const user = authenticated({ name: `${n}`.padEnd(50_000, 'x'), groups: ['system:masters'] })
        await impersonate({ ...request('/api'), headers, user })
      })
    },
  },
  {
    file: 'src/cel/values/patterns.ts',
    how: 'patterns that objects bring',
    isCompiled: true,
    fill: () => times(60, (n) => compiledPattern(`${n}`.padEnd(5_000, 'x'))),
  },
  {
    file: 'src/cel/values/patterns.ts',
    isCompiled: true,
    how: 'many patterns',
    fill: () => times(600, (n) => compiledPattern(`p${n}`)),
  },
  {
    file: 'src/validation/go-pattern.ts',
    how: 'patterns of definitions',
    isCompiled: true,
    fill: () => times(60, (n) => goPatternError(`${n}`.padEnd(5_000, 'x'), {})),
  },
  {
    file: 'src/schema/path-element.ts',
    how: 'keys of list elements',
    fill: () => times(1_100, (n) => readPathElement(keyElement([['name', `n${n}`]]))),
  },
  {
    file: 'src/metrics/series.ts',
    how: 'labels',
    fill() {
      const counters = new Counters()
      const histograms = new Histograms()
      return times(600, (n) => {
        counters.add({ label: `l${n}` })
        histograms.observe(`l${n}`, 1, () => ({ label: `l${n}` }))
      })
    },
  },
  {
    file: 'src/flowcontrol/waiting-line.ts',
    how: 'flows of one level',
    fill() {
      const line = new WaitingLine<number>()
      return times(1_100, (n) => line.join(`f${n}`, { queues: 64, handSize: 6, queueLengthLimit: 50 }, n))
    },
  },
  {
    file: 'src/controllers/work/look-pace.ts',
    how: 'objects of a controller',
    fill() {
      const pace = new LookPace(() => 0)
      return times(10_100, (n) => pace.looked('deployment', `d${n}`))
    },
  },
  {
    file: 'src/controllers/work/parsed-once.ts',
    how: 'objects that controllers read',
    fill() {
      const { tenant } = memoryServer()
      const parse = () => ({ metadata: {} })
      return times(10_100, (n) =>
        parsedOnce(tenant, `{"metadata":{"uid":"u${n}","resourceVersion":"1"},"data":"${'d'.repeat(1_000)}"}`, parse),
      )
    },
  },
  {
    file: 'src/controllers/workloads/endpoints/change-time.ts',
    how: 'Services whose endpoints are written',
    fill() {
      const { tenant } = memoryServer()
      return times(4_200, (n) =>
        changeTime({ tenant, component: 'c', service: { metadata: { uid: `u${n}` } }, pods: [] }, undefined),
      )
    },
  },
  {
    file: 'src/storage/shards/shard-client.ts',
    how: 'shards of many control planes',
    fill() {
      const storage = storageOf(memoryServer().env)
      const resource = { group: '', resource: 'pods' }
      return times(10_100, (n) => storage.get(collectionOf({ uid: `t${n}` }, resource), 'a/b'))
    },
  },
  {
    file: 'src/controllers/workloads/events/event-correlator.ts',
    how: 'objects of which there are events',
    fill() {
      const correlator = new EventCorrelator()
      return times(10_100, (n) => correlator.admit(`pod-${n}`, 'k', 'm', 0))
    },
  },
  {
    file: 'src/storage/shards/write-pause.ts',
    how: 'shards that fail',
    fill() {
      const pause = new WritePause(() => 0)
      return times(10_100, (n) => pause.failed(`t/${n}`, 'Failed'))
    },
  },
  {
    file: 'src/tenancy/recent-objects.ts',
    how: 'large objects',
    async fill() {
      const server = memoryServer()
      const accounts = { group: '', resource: 'serviceaccounts' }
      await times(8, async (n) => {
        const metadata = { name: `s${n}`, namespace: 'a', annotations: { a: 'x'.repeat(900_000) } }
        await server.put('', 'serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
        await recentObject(server, accounts, `a/s${n}`)
      })
    },
  },
  {
    file: 'src/admission/plugins/quota/quotas.ts',
    how: 'namespaces without quotas',
    async fill() {
      const server = memoryServer()
      await server.put('', 'resourcequotas', {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'q', namespace: 'elsewhere' },
      })
      const request = server.request('/')
      await times(10_100, (n) => quotasOf(request, `n${n}`))
    },
  },
  {
    file: 'src/admission/webhooks/known-replies.ts',
    how: 'replies that differ',
    fill: () =>
      times(250, (n) => {
        const text = `{"response":{"uid":"u","allowed":true,"warnings":["${n}"]}}`
        const answer = { status: 200, contentType: '', body: new TextEncoder().encode(text) }
        // only these are looked at
        return reviewLikeKnown(answer as never, 'v1', 'u', async () => JSON.parse(text) as never)
      }),
  },
  {
    file: 'src/registry/custom-resources/watched-kinds.ts',
    how: 'definitions that are watched before they have objects',
    async fill() {
      const server = memoryServer()
      const storage = { group: 'example.com', version: 'v1', resource: 'widgets' }
      await times(30, (n) =>
        // what else they have is not looked at
        announceWatch(
          server,
          { metadata: { name: 'w', uid: `${n}`.padEnd(50_000, 'x') } } as never,
          { storage } as never,
        ),
      )
    },
  },
  {
    file: 'src/admission/policies/compiled-policy.ts',
    how: 'policies, each written again',
    isCompiled: true,
    fill: () =>
      times(60, (n) => {
        const spec = { validations: [{ expression: `"${`${n}`.padEnd(20_000, 'x')}" != ""` }] }
        return compiledPolicy({ uid: 't' }, 'validating', { metadata: { uid: 'u', generation: n }, spec } as never)
      }),
  },
  {
    file: 'src/admission/webhooks/candidates.ts',
    how: 'kinds of definitions that come and go',
    async fill() {
      const server = memoryServer()
      const webhooks: never[] = []
      await times(1_100, (n) => {
        const resource = { group: 'example.com', version: 'v1', resource: `r${n}` }
        const kind = { group: 'example.com', version: 'v1', kind: `K${n}` }
        const about = { operation: 'CREATE', resource, kind, subresource: '', namespace: '' }
        return candidatesOf(webhooks, { attributes: { ...about, request: server.request('/') } } as never)
      })
    },
  },
  {
    file: 'src/controllers/simulation/stages.ts',
    how: 'Stages that are written again',
    isCompiled: true,
    fill: () =>
      times(12, (n) => {
        const stages = Array.from({ length: 200 }, (_, at) => ({
          apiVersion: 'kwok.x-k8s.io/v1alpha1',
          kind: 'Stage',
          metadata: { name: `s${at}`, uid: `u${at}`, resourceVersion: `${n}`, annotations: { a: 'x'.repeat(4_000) } },
        }))
        return stagesOf({ ifKnown: () => ({ list: async () => stages }) } as never)
      }),
  },
  {
    file: 'src/controllers/workloads/events/events.ts',
    how: 'news of many objects',
    async fill() {
      const clients = { tenant: { uid: 'news' }, resource: () => ({ add: async () => {} }) }
      const events = new EventRecorder(clients as never, 'c', () => new Date(0))
      await times(4_200, (n) =>
        events.normal({ apiVersion: 'v1', kind: 'Pod', metadata: { name: `p${n}`, uid: `u${n}` } }, 'R', 'm'),
      )
    },
  },
  {
    file: 'src/flowcontrol/admit-request.ts',
    how: 'flow schemas that come and go',
    async fill() {
      const server = memoryServer()
      const snapshot = { list: () => [] } as never
      await times(1_100, (n) => {
        const schema = { metadata: { name: `s${n}` }, spec: { priorityLevelConfiguration: { name: 'exempt' } } }
        return admitRequest(server.request('/'), snapshot, { schema } as never)
      })
    },
  },
  {
    file: 'src/endpoints/aggregation/remote-documents.ts',
    how: 'APIServices that come and go',
    async fill() {
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const documents = new RemoteDocuments({
        path: () => '/',
        accept: 'a',
        maxBytes: 10,
        mostKept: 10_000,
        read: () => 'x',
      })
      const { request } = memoryServer()
      await times(600, (n) => {
        const conditions = [{ type: 'Available', status: 'True' }]
        const service = { metadata: { name: `s${n}`, uid: `u${n}` }, spec: {}, status: { conditions } }
        return documents.known(request('/'), [service as never])
      })
    },
  },
  {
    file: 'src/openapi/rendered-paths.ts',
    how: 'resources of one version',
    async fill() {
      const { groups } = await servedResources(memoryServer().request('/'))
      const [entry] = groups.flatMap(({ versions }) => versions.flatMap(({ resources }) => resources))
      const entries = Array.from({ length: 1_100 }, () => ({ ...entry! }))
      const steps = pathMembers(
        entries,
        () => undefined as never,
        {} as never,
        () => ({ '/a': 'x' }),
        new Set(),
      )
      let step = steps.next()
      while (step.done !== true) step = steps.next()
      for (const [, text] of step.value) text()
    },
  },
  {
    file: 'src/registry/custom-resources/conversion-webhook.ts',
    how: 'objects that are converted',
    async fill() {
      const { binding } = frontAnswering(({ review }) => ({
        ...review,
        request: undefined,
        response: {
          uid: review.request.uid,
          result: { status: 'Success' },
          convertedObjects: review.request.objects.map((object: object) => ({ ...object, apiVersion: 'e.com/v2' })),
        },
      }))
      const { request } = memoryServer({ OUTGOING: binding })
      const webhook = { clientConfig: { url: 'https://c.example' }, conversionReviewVersions: ['v1'] }
      const definition = {
        metadata: { name: 'd', uid: 'd', generation: 1 },
        spec: { group: 'e.com', conversion: { strategy: 'Webhook', webhook } },
      }
      await times(12, (n) => {
        const metadata = { name: `o${n}`, uid: `u${n}`, resourceVersion: '1' }
        const object = { apiVersion: 'e.com/v1', kind: 'K', metadata, text: 'x'.repeat(900_000) }
        return convertByWebhook(request('/'), definition as never, [object as never], 'v2', 'stored')
      })
    },
  },
  {
    file: 'durable-objects/outbox.ts',
    how: 'shards whose disk takes no writes',
    async fill() {
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const row = { seq: 1, k: 'a', topic: 't', payload: 'p' }
      const rows = { oldestOutbox: (_: number, after = 0) => (after < 1 ? [row] : []), deleteOutbox: () => {} }
      const receiver = { receive: async () => {} }
      const sync = () => Promise.reject(new Error('the disk is full'))
      await times(1_100, async (n) => {
        const outbox = new Outbox(`s${n}`, rows as never, receiver as never, {
          sync,
          now: () => 1e9,
          begins: () => {},
          depth: new CallDepth(false),
        })
        await outbox.deliver()
        await outbox.removeAlone()
      })
    },
  },
]

describe('state that is no BoundedMap', () => {
  test('types of custom resources: what was not used for long goes', () => {
    const tenant = { uid: 'types' }
    const large = (n: number) => {
      const description = `${n}`.padEnd(900_000, 'x')
      const schema = { openAPIV3Schema: { type: 'object', description } }
      return {
        metadata: { name: `w${n}s.e.com`, uid: `u${n}`, generation: 1 },
        spec: { group: 'e.com', names: {}, versions: [{ name: 'v1', served: true, storage: true, schema }] },
        status: { acceptedNames: { kind: 'W' } },
      } as unknown as CustomResourceDefinition // what else it has is not looked at
    }
    const first = compiledVersion(tenant, large(0), 'v1')
    expect(compiledVersion(tenant, large(0), 'v1')).toBe(first)
    for (let n = 1; n < 12; n++) compiledVersion(tenant, large(n), 'v1')
    expect(compiledVersion(tenant, large(0), 'v1')).not.toBe(first)
  })

  test('selectors of which a node knows how many of its pods they select', () => {
    const node = new NodeState({ metadata: { name: 'n' } })
    let asked = 0
    const count = (selector: string): number => node.countOf(selector, () => ++asked)
    for (let n = 0; n < 20; n++) count(`s${n}`)
    count('s0')
    expect(asked).toBe(20)
    count('one more')
    // all others are forgotten
    count('s0')
    expect(asked).toBe(22)
  })

  test('kinds of requests that succeed', () => {
    const server = memoryServer()
    for (let n = 0; n < 1_500; n++)
      measureRequest(server.request(`/apis/g${n}.example/v1/things`))(new Response(null, { status: 200 }))
    expect(measurementsOf(server).requests.size).toBe(1_024)
  })

  test('and what clients may make up in a request that succeeds is no label', () => {
    const server = memoryServer()
    const ask = (path: string) => measureRequest(server.request(path))(new Response(null, { status: 200 }))
    for (let n = 1; n < 50; n++) {
      // discovery answers them all
      ask(`/apis/apps/v1${'/'.repeat(n + 1)}`)
      // what another server serves
      ask(`/apis/g.example/v1/things/x/${'long'.repeat(200)}${n}`)
    }
    ask('/apis/apps/v1/')
    expect([...measurementsOf(server).requests.values()].map(({ labels }) => labels['subresource'])).toEqual([
      '/apis/apps/v1/',
    ])
  })

  test.each<[string, { once?: true }]>([
    ['work that waits for its delivery', {}],
    ['work that is told once', { once: true }],
  ])('%s', (_, how) => {
    const work = new PendingWork()
    const isNew = (payload: string): boolean => work.isNew({ topic: 'departed', payload, ...how })
    expect(isNew('first')).toBe(true)
    expect(isNew('first')).toBe(false)
    for (let n = 0; n < 1_000; n++) isNew(`w${n}`)
    // forgotten, so that it would be stored again
    expect(isNew('first')).toBe(true)
  })

  test('connections that wait for the other side', () => {
    const tunnels = new Tunnels()
    const held = Array.from({ length: 1_100 }, () => tunnels.hold({ socket: new PassThrough(), said: Buffer.alloc(0) }))
    expect(held.filter((ticket) => ticket !== undefined)).toHaveLength(1_000)
    tunnels.close()
    expect(tunnels.hold({ socket: new PassThrough(), said: Buffer.alloc(0) })).toBeDefined()
    tunnels.close()
  })
})

fillBeyondBounds(rows)
