/** A list whose selection names one object is a read of this one. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StatusError } from '../../../src/api/status.ts'
import { answer } from '../../../src/server.ts'
import { memoryServer } from '../../request-in-memory.ts'

const TOKEN = 'a-token-of-thirty-two-characters'
const HERE = '/api/v1/namespaces/default/configmaps'

beforeEach(() => {
  vi.stubGlobal('IdentityTransformStream', TransformStream) // workerd has it, Node does not
})
afterEach(() => {
  vi.unstubAllGlobals()
})

interface List {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly { readonly metadata: { readonly name: string } }[]
}

async function cluster() {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  const namespace = { metadata: { name: 'default' }, status: { phase: 'Active' } }
  await server.put('', 'namespaces', { kind: 'Namespace', apiVersion: 'v1', ...namespace })
  const ask = async (method: string, path: string, body?: object): Promise<List> => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    return (await answer(server.request(path, { method, headers, ...sent }))).json()
  }
  for (const name of ['a', 'b', 'c']) await ask('POST', HERE, { metadata: { name } })
  return ask
}

test.each<[path: string, selector: string, isOne: boolean]>([
  [HERE, 'metadata.name=b', true],
  ['/api/v1/configmaps', 'metadata.name=b,metadata.namespace=default', true],
  ['/api/v1/configmaps', 'metadata.name=b', false],
  [HERE, 'metadata.name!=a', false],
])('%s with %s', async (path, selector, isOne) => {
  const ask = await cluster()
  const query = `?limit=1&fieldSelector=${encodeURIComponent(selector)}`
  const before = await ask('GET', path + query)
  expect(before.items.map(({ metadata }) => metadata.name)).toEqual(['b'])
  expect('continue' in before.metadata).toBe(!isOne)
  await ask('DELETE', `${HERE}/b`)
  // of several objects, a limit asks for the state at the version
  const { resourceVersion } = before.metadata
  const after = await ask('GET', `${path}${query}&resourceVersion=${resourceVersion}`)
  expect(after.items).toHaveLength(isOne ? 0 : 1)
})

test.each([
  ['resourceVersionMatch=Exact', undefined],
  ['limit=1', undefined],
  ['limit=1&resourceVersionMatch=NotOlderThan', 1],
  ['', 1],
])('a version that is not reached, with %s', async (more, retryAfterSeconds) => {
  const ask = await cluster()
  const query = `?fieldSelector=metadata.name%3Db&resourceVersion=9000000000000000&${more}`
  const refused: unknown = await ask('GET', HERE + query).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(StatusError)
  const { status } = refused as StatusError
  expect([status.code, status.details?.retryAfterSeconds]).toEqual([504, retryAfterSeconds])
})
