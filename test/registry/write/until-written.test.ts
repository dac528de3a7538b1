/** Writes that name no resourceVersion know no conflict: kube-apiserver tries them again until the request's time is over. */
import { describe, expect, test, vi } from 'vitest'
import { StatusError } from '../../../src/api/status.ts'
import { answer } from '../../../src/server.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import type { ResourceScope } from '../../../src/registry/resource-scope.ts'
import { parseQuery } from '../../../src/request/query-parameters.ts'
import { untilWritten } from '../../../src/registry/write/until-written.ts'
import { memoryServer } from '../../request-in-memory.ts'

const TOKEN = 'a-token-of-thirty-two-characters'
const WRITERS = 60
const PATH = '/api/v1/namespaces/default/configmaps'

interface Body {
  readonly metadata: { readonly resourceVersion: string }
  readonly data: object
}

function refused(error: unknown): Response {
  if (!(error instanceof StatusError)) throw error
  return Response.json(error.status, { status: error.code })
}

async function cluster() {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  const send = async (method: string, path: string, body: object, type = 'application/json') => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': type }
    const request = server.request(path, { method, headers, body: JSON.stringify(body) })
    const response = await answer(request).catch((error: unknown) => refused(error))
    return { status: response.status, body: (await response.json()) as Body }
  }
  await send('POST', PATH, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { first: '' } })
  return send
}

type Write = readonly [method: string, path: string, body: object, type?: string]

describe('sixty writers of one object', () => {
  const applied = (n: number) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
    data: { [`k${n}`]: '' },
  })
  test.each<[string, (n: number) => Write]>([
    ['merge patches', (n) => ['PATCH', `${PATH}/a`, { data: { [`k${n}`]: '' } }, 'application/merge-patch+json']],
    [
      'JSON patches',
      (n) => ['PATCH', `${PATH}/a`, [{ op: 'add', path: `/data/k${n}`, value: '' }], 'application/json-patch+json'],
    ],
    [
      'strategic merge patches',
      (n) => ['PATCH', `${PATH}/a`, { data: { [`k${n}`]: '' } }, 'application/strategic-merge-patch+json'],
    ],
    ['applies', (n) => ['PATCH', `${PATH}/a?fieldManager=m${n}`, applied(n), 'application/apply-patch+yaml']],
  ])('%s: each is made', async (_what, write) => {
    const send = await cluster()
    const answers = await Promise.all(Array.from({ length: WRITERS }, (_, n) => send(...write(n))))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const { body } = await send('PATCH', `${PATH}/a`, {}, 'application/merge-patch+json')
    expect(Object.keys(body.data)).toHaveLength(1 + WRITERS)
  })

  test('unconditional updates: each is made', async () => {
    const send = await cluster()
    const answers = await Promise.all(Array.from({ length: WRITERS }, (_, n) => send('PUT', `${PATH}/a`, applied(n))))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  })

  test('patches of a version: one is made', async () => {
    const send = await cluster()
    const { body } = await send('PATCH', `${PATH}/a`, {}, 'application/merge-patch+json')
    const { resourceVersion } = body.metadata
    const patch = (n: number) => ({ metadata: { resourceVersion }, data: { [`k${n}`]: '' } })
    const answers = await Promise.all(
      Array.from({ length: WRITERS }, (_, n) => send('PATCH', `${PATH}/a`, patch(n), 'application/merge-patch+json')),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...answers.slice(1).map(() => 409)])
  })
})

test.each([
  ['for half a minute', '', 34],
  ['for as long as it allowed', '?timeout=5s', 5],
])('a writer that others overtake %s is told that its time is over', async (_, search, tries) => {
  let now = 0
  const attempt = vi.fn(async () => {
    now += 1_000
    throw new StorageError('Conflict')
  })
  const place = { namespace: 'default', name: 'a' }
  const collection = { tenant: { uid: 't' }, shard: 'configmaps', prefix: 'configmaps' }
  const info = { verb: 'update', isResourceRequest: true, subresource: '', path: PATH }
  const request = { env: {}, now: new Date(0), clock: () => now, tenant: { uid: 't' }, info, query: parseQuery(search) }
  // what untilWritten reads of a scope
  const scope = {
    request,
    place,
    collection,
    resource: { gvr: { group: '', resource: 'configmaps' }, namespaced: true },
  }
  await expect(untilWritten(scope as unknown as ResourceScope, 'a', attempt)).rejects.toMatchObject({
    code: 504,
    status: { reason: 'Timeout' },
  })
  expect(attempt).toHaveBeenCalledTimes(tries)
})
