// Control planes that share an isolate and have the same settings do not see each other's state, whatever their names
// are. Their requests alternate, so that each finds what the other left in the isolate.
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { shardsOf } from '../../src/endpoints/backup/format.ts'
import { builtInStorages, CONTROL_SHARD } from '../../src/storage/collections.ts'
import { revisionAt } from '../../src/storage/revisions/revision.ts'
import { statusFor } from '../../src/storage/storage-status.ts'
import { StorageError } from '../../src/storage/errors.ts'
import { respondStatus } from '../../src/codec/respond.ts'
import { measureRequest } from '../../src/metrics/measurements.ts'
import { answer } from '../../src/server.ts'
import type { MemoryServer } from '../request-in-memory.ts'
import { memoryServer } from '../request-in-memory.ts'

const ADMIN = 'administrator-of-all-control-planes-of-it'
let key: string
beforeAll(async () => {
  // workerd has it, Node does not
  vi.stubGlobal('IdentityTransformStream', TransformStream)
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  key = JSON.stringify({ ...(await exportJWK(privateKey)), alg: 'ES256', kid: 'k1' })
})

afterAll(() => vi.unstubAllGlobals())

/** Pairs of tenant names that look alike, or look like something else. */
const PAIRS: readonly (readonly [string, string])[] = [
  ['first', 'second'],
  ['tenant', 'tenant1'],
  ['a', 'a/secrets'],
  ['a', 'A'],
  ['constructor', '__proto__'],
  ['x y', 'x'],
  ['["a"', '["a","b"'],
]

let runs = 0

interface Answered {
  readonly status: number
  readonly body: any
}

describe.each(PAIRS)('%j and %j', (first, second) => {
  let server: MemoryServer
  let uids: Readonly<Record<'one' | 'other', string>>

  beforeEach(() => {
    server = memoryServer({ KEDGE_SA_KEY: key, KEDGE_ADMIN_TOKEN: ADMIN })
    runs++
    uids = { one: `${first}~${runs}`, other: `${second}~${runs}` }
  })

  async function ask(
    of: 'one' | 'other',
    method: string,
    path: string,
    { token = ADMIN, body }: { token?: string; body?: object } = {},
  ): Promise<Answered> {
    const request = server.request(path, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const asked = { ...request, tenant: { uid: uids[of] } }
    const measured = measureRequest(asked)
    const response = await answer(asked).catch((error: unknown) =>
      respondStatus(asked, error instanceof StorageError ? statusFor(error, { group: '', resource: '' }, '') : error),
    )
    measured(response)
    const text = await response.text()
    let read: unknown = text
    try {
      read = JSON.parse(text)
    } catch {
      // lines of metrics
    }
    return { status: response.status, body: read }
  }
  /** Empties the control plane as an abandoned restore does. */
  async function empty(of: 'one' | 'other'): Promise<void> {
    const { storage } = server
    const tenant = { uid: uids[of] }
    const id = revisionAt(server.clock())
    const control = { tenant: tenant.uid, shard: CONTROL_SHARD }
    const shards = [...shardsOf(tenant, builtInStorages()).filter(({ shard }) => shard !== CONTROL_SHARD), control]
    for (const shard of shards.toReversed()) await storage.lock(shard, id)
    for (const shard of shards) await storage.clear(shard, id)
    for (const shard of shards) await storage.unlock(shard, id, 0)
  }
  const both = async (method: string, path: string, body: (of: string) => object): Promise<void> => {
    for (const of of ['one', 'other'] as const) {
      const { status, body: answered } = await ask(of, method, path, { body: body(of) })
      expect(status, JSON.stringify(answered)).toBe(201)
    }
  }
  const SECRETS = '/api/v1/namespaces/default/secrets'
  const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'
  const tokenOf = async (of: 'one' | 'other'): Promise<string> =>
    (await ask(of, 'POST', `${ACCOUNTS}/robot/token`, { body: {} })).body.status.token
  const letRead = (of: 'one' | 'other') =>
    ask(of, 'POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      body: {
        metadata: { name: 'robots' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'robot' }],
      },
    })

  test('objects of one name are two', async () => {
    await both('POST', SECRETS, (of) => ({ metadata: { name: 's' }, stringData: { of } }))
    for (const of of ['one', 'other', 'one'] as const)
      expect((await ask(of, 'GET', `${SECRETS}/s`)).body.data.of).toBe(btoa(of))
    await ask('one', 'DELETE', `${SECRETS}/s`)
    expect((await ask('one', 'GET', `${SECRETS}/s`)).status).toBe(404)
    expect((await ask('other', 'GET', `${SECRETS}/s`)).status).toBe(200)
  })

  test('a token of one is none of the other, also after it was good', async () => {
    await both('POST', ACCOUNTS, () => ({ metadata: { name: 'robot' } }))
    for (const of of ['one', 'other'] as const) expect((await letRead(of)).status).toBe(201)
    const token = await tokenOf('one')
    expect((await ask('one', 'GET', SECRETS, { token })).status).toBe(200)
    expect((await ask('other', 'GET', SECRETS, { token })).status).toBe(401)
    expect((await ask('one', 'GET', SECRETS, { token })).status).toBe(200)
  })

  test('and what the other refused is still good here', async () => {
    await both('POST', ACCOUNTS, () => ({ metadata: { name: 'robot' } }))
    await letRead('one')
    const token = await tokenOf('one')
    expect((await ask('other', 'GET', SECRETS, { token })).status).toBe(401)
    expect((await ask('one', 'GET', SECRETS, { token })).status).toBe(200)
  })

  test('a grant of one is none of the other', async () => {
    await both('POST', ACCOUNTS, () => ({ metadata: { name: 'robot' } }))
    await letRead('one')
    const tokens = { one: await tokenOf('one'), other: await tokenOf('other') }
    for (const of of ['one', 'other', 'one', 'other'] as const)
      expect((await ask(of, 'GET', SECRETS, { token: tokens[of] })).status).toBe(of === 'one' ? 200 : 403)
  })

  test('a definition of one is served by it alone', async () => {
    const { status } = await ask('one', 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      body: {
        metadata: { name: 'widgets.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'widgets', kind: 'Widget' },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
        },
      },
    })
    expect(status).toBe(201)
    const found = await ask('other', 'GET', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions')
    expect(found.body.items).toEqual([])
    expect((await ask('other', 'GET', '/apis/example.com/v1/namespaces/default/widgets')).status).toBe(404)
  })

  test('a place in a list, and a version, show nothing of the other', async () => {
    for (const name of ['a', 'b', 'c'])
      await ask('one', 'POST', SECRETS, { body: { metadata: { name }, stringData: { of: 'one' } } })
    await ask('other', 'POST', SECRETS, { body: { metadata: { name: 'z' }, stringData: { of: 'other' } } })
    const { metadata } = (await ask('one', 'GET', `${SECRETS}?limit=1`)).body
    const onward = `${SECRETS}?limit=5&continue=${encodeURIComponent(metadata.continue)}`
    const versions = [
      `${SECRETS}?resourceVersion=${metadata.resourceVersion}`,
      `${SECRETS}/z?resourceVersion=${metadata.resourceVersion}`,
    ]
    for (const path of [onward, ...versions]) {
      const found = await ask('other', 'GET', path)
      expect([200, 404, 504]).toContain(found.status)
      expect(JSON.stringify(found.body)).not.toContain(btoa('one'))
    }
  })

  test('metrics of one do not tell of the other', async () => {
    await ask('one', 'GET', '/apis/apps/v1/namespaces/default/statefulsets')
    expect((await ask('one', 'GET', '/metrics')).body).toContain('resource="statefulsets"')
    expect((await ask('other', 'GET', '/metrics')).body).not.toMatch(/apiserver_request_total.*resource="statefulsets"/)
  })

  const REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews'

  test('definitions of one name and uid are two: each has its own schema, documents and rules', async () => {
    const THINGS = '/apis/example.com/v1/namespaces/default/things'
    const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
    for (const [of, type] of [
      ['one', 'string'],
      ['other', 'integer'],
    ] as const) {
      const openAPIV3Schema = { type: 'object', properties: { size: { type }, [`of-${of}`]: { type: 'string' } } }
      const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
      const conditions = ['NamesAccepted', 'Established'].map((one) => ({ type: one, status: 'True' }))
      const definition = {
        metadata: { name: 'things.example.com', uid: 'the-same', generation: 1 },
        spec: { group: 'example.com', scope: 'Namespaced', names, versions },
        status: { acceptedNames: names, storedVersions: ['v1'], conditions },
      }
      await ask(of, 'GET', '/api')
      await server.put('apiextensions.k8s.io', 'customresourcedefinitions', definition, { uid: uids[of] })
      server.now = new Date(server.now.getTime() + 3_000)
    }
    for (const [of, size, status] of [
      ['one', 'large', 201],
      ['other', 'large', 422],
      ['other', 7, 201],
      ['one', 7, 422],
    ] as const) {
      const name = `t-${String(size)}`
      const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name }, size }
      const answered = await ask(of, 'POST', THINGS, { body: object })
      expect(answered.status, JSON.stringify(answered.body)).toBe(status)
    }
    for (const of of ['one', 'other', 'one'] as const) {
      const there = of === 'one' ? 'other' : 'one'
      for (const path of ['/openapi/v3/apis/example.com/v1', '/openapi/v2']) {
        const text = JSON.stringify((await ask(of, 'GET', path)).body)
        expect(text).toContain(`of-${of}`)
        expect(text).not.toContain(`of-${there}`)
      }
      expect((await ask(of, 'GET', THINGS)).body.items).toHaveLength(1)
    }
  })

  test('what one refuses, the other admits', async () => {
    const policies = '/apis/admissionregistration.k8s.io/v1'
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
    await ask('one', 'POST', `${policies}/validatingadmissionpolicies`, {
      body: {
        metadata: { name: 'none' },
        spec: {
          failurePolicy: 'Fail',
          matchConstraints: { resourceRules: [rule] },
          validations: [{ expression: 'false', message: 'not here' }],
        },
      },
    })
    await ask('one', 'POST', `${policies}/validatingadmissionpolicybindings`, {
      body: { metadata: { name: 'none' }, spec: { policyName: 'none', validationActions: ['Deny'] } },
    })
    for (const of of ['one', 'other', 'one', 'other'] as const) {
      const made = await ask(of, 'POST', '/api/v1/namespaces/default/configmaps?dryRun=All', {
        body: { metadata: { name: 'tried' } },
      })
      expect(made.status, JSON.stringify(made.body)).toBe(of === 'one' ? 422 : 201)
    }
  })

  test('who is asked about is somebody of this control plane', async () => {
    await both('POST', ACCOUNTS, () => ({ metadata: { name: 'robot' } }))
    await letRead('one')
    for (const of of ['one', 'other', 'one', 'other'] as const) {
      const spec = {
        user: 'system:serviceaccount:default:robot',
        resourceAttributes: { verb: 'get', resource: 'secrets', namespace: 'default' },
      }
      expect((await ask(of, 'POST', REVIEWS, { body: { spec } })).body.status.allowed).toBe(of === 'one')
    }
    const token = await tokenOf('one')
    for (const of of ['one', 'other', 'one'] as const) {
      const { body } = await ask(of, 'POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
        body: { spec: { token } },
      })
      expect(body.status.authenticated ?? false).toBe(of === 'one')
    }
  })

  test('the seats of one are not those of the other', async () => {
    const hold = await Promise.all(Array.from({ length: 300 }, () => ask('one', 'GET', `${SECRETS}?limit=1`)))
    expect(hold.every(({ status }) => status === 200 || status === 429)).toBe(true)
    expect((await ask('other', 'GET', '/metrics')).body).not.toMatch(/dispatched_requests_total\{[^}]*\} 3\d\d\b/)
    expect((await ask('other', 'GET', SECRETS)).status).toBe(200)
  })

  test('a deletion of everything leaves the other', async () => {
    await both('POST', SECRETS, () => ({ metadata: { name: 's' } }))
    expect((await ask('one', 'DELETE', SECRETS)).body.items).toHaveLength(1)
    expect((await ask('one', 'GET', SECRETS)).body.items).toEqual([])
    expect((await ask('other', 'GET', SECRETS)).body.items).toHaveLength(1)
  })

  test('one that was emptied and made anew knows nobody of before', async () => {
    const account = { metadata: { name: 'robot' } }
    await both('POST', ACCOUNTS, () => account)
    for (const of of ['one', 'other'] as const) await letRead(of)
    await ask('one', 'POST', SECRETS, { body: { metadata: { name: 's' } } })
    const tokens = { one: await tokenOf('one'), other: await tokenOf('other') }
    for (const of of ['one', 'other'] as const)
      expect((await ask(of, 'GET', SECRETS, { token: tokens[of] })).status).toBe(200)
    const { metadata } = (await ask('one', 'GET', '/api/v1/namespaces?limit=1')).body

    await empty('one')
    // an accepted token stays in the cache for ten seconds
    server.now = new Date(server.now.getTime() + 11_000)
    expect((await ask('one', 'GET', SECRETS)).body.items).toEqual([])
    expect((await ask('one', 'GET', SECRETS, { token: tokens.one })).status).toBe(401)
    expect((await ask('one', 'POST', ACCOUNTS, { body: account })).status).toBe(201)
    expect((await letRead('one')).status).toBe(201)
    expect((await ask('one', 'GET', SECRETS, { token: tokens.one })).status).toBe(401)
    expect((await ask('one', 'GET', SECRETS, { token: await tokenOf('one') })).status).toBe(200)
    const onward = `/api/v1/namespaces?limit=1&continue=${encodeURIComponent(metadata.continue)}`
    expect((await ask('one', 'GET', onward)).status).toBe(410)
    expect((await ask('other', 'GET', SECRETS, { token: tokens.other })).status).toBe(200)
  })
})
