// Several control planes in one isolate, with the same settings: what is kept for one is nothing to another, whatever it
// is called and whoever came before. The requests take turns, so that each finds what the other left in the isolate.
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
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
  // workerd's, which counts its bytes
  vi.stubGlobal('IdentityTransformStream', TransformStream)
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  key = JSON.stringify({ ...(await exportJWK(privateKey)), alg: 'ES256', kid: 'k1' })
})

afterAll(() => vi.unstubAllGlobals())

/** Names that look like others, or like something else. */
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
})
