/** DELETE of a collection answers with the list of the deleted objects, for any size. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MOST_OF_USER, takeListPlace } from '../../../src/flowcontrol/open-lists.ts'
import { authenticated } from '../../../src/request/user-info.ts'
import { answer } from '../../../src/server.ts'
import { collectionOf } from '../../../src/storage/collections.ts'
import type { MemoryStorage } from '../../../src/storage/memory.ts'
import { memoryServer } from '../../request-in-memory.ts'

const TOKEN = 'a-token-of-thirty-two-characters'
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

beforeEach(() => {
  vi.stubGlobal('IdentityTransformStream', TransformStream) // workerd has it, Node does not
})
afterEach(() => {
  vi.unstubAllGlobals()
})

interface List {
  readonly kind: string
  readonly metadata: {
    readonly resourceVersion: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
  readonly items: readonly unknown[]
}

/** @param size the size of each object */
async function filled(count: number, size: number) {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  const namespace = { metadata: { name: 'default' }, status: { phase: 'Active' } }
  await server.put('', 'namespaces', { kind: 'Namespace', apiVersion: 'v1', ...namespace })
  const ask = async (method: string, query = '', accept = 'application/json', body?: object): Promise<List> => {
    const headers = { Authorization: `Bearer ${TOKEN}`, Accept: accept, 'Content-Type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    return (await answer(server.request(CONFIG_MAPS + query, { method, headers, ...sent }))).json()
  }
  for (let n = 0; n < count; n++)
    await ask('POST', '', undefined, {
      metadata: { name: `c-${String(n).padStart(4, '0')}`, labels: { odd: String(n % 2) } },
      data: { text: 'x'.repeat(size) },
    })
  return Object.assign(ask, { server })
}

const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1'

test.each([
  ['few objects', 10, 100, '', 'application/json'],
  ['more than are kept', 150, 8_000, '', 'application/json'],
  ['more than are kept, of those that are selected', 300, 8_000, '?labelSelector=odd=1', 'application/json'],
  ['more than are kept, of a page', 300, 8_000, '?limit=150', 'application/json'],
  ['more than are kept, as a table', 150, 8_000, '', TABLE],
])('%s: the answer is the list of them, as they were', async (_, count, size, query, accept) => {
  const ask = await filled(count, size)
  const all = await ask('GET')
  const before = await ask('GET', query, accept)
  const answered = await ask('DELETE', query, accept)
  expect(JSON.stringify(answered)).toBe(JSON.stringify(before))
  const shown = 'rows' in before ? (before.rows as readonly unknown[]) : before.items
  expect((await ask('GET')).items).toHaveLength(all.items.length - shown.length)
})

test.each(['', '?limit=140'])('deletions%s that outlast the history: the answer is the list of them', async (query) => {
  const ask = await filled(150, 8_000)
  const before = await ask('GET', query)
  const storage = ask.server.storage as MemoryStorage // it is one in memory
  const collection = collectionOf(ask.server.tenant, { group: '', resource: 'configmaps' })
  const remove = storage.delete.bind(storage)
  let deletions = 0
  vi.spyOn(storage, 'delete').mockImplementation(async (...deleted) => {
    const gone = await remove(...deleted)
    deletions++
    storage.compact(collection, gone.revision)
    return gone
  })
  const answered = await ask('DELETE', query)
  expect(deletions).toBe(before.items.length)
  expect(JSON.stringify(answered)).toBe(JSON.stringify(before))
})

// kube-apiserver reads the objects in pages, and a page of a version is exact
test.each<[query: string, deleted: readonly string[]]>([
  ['', ['c-0000']],
  ['&limit=5', ['c-0000']],
  ['&resourceVersionMatch=Exact', ['c-0000']],
])('a version names the state whose objects are deleted: %s', async (query, deleted) => {
  const ask = await filled(1, 10)
  const { resourceVersion } = (await ask('GET')).metadata
  await ask('POST', '', undefined, { metadata: { name: 'later', labels: { odd: '0' } } })
  const answered = await ask('DELETE', `?labelSelector=odd=0&resourceVersion=${resourceVersion}${query}`)
  expect(answered.items.map((item) => (item as { metadata: { name: string } }).metadata.name)).toEqual(deleted)
})

const sizes: readonly [sort: string, count: number, size: number][] = [
  ['few objects', 10, 100],
  ['more objects than are kept', 150, 8_000],
]
const SELECTED = '?labelSelector=odd'

const placesOf = ({ server }: Awaited<ReturnType<typeof filled>>, count: number) => {
  const user = authenticated({ name: 'kubernetes-admin', groups: [] })
  return Promise.all(Array.from({ length: count }, () => takeListPlace({ ...server.request(CONFIG_MAPS), user })))
}

test.each(sizes)('a user without a place for a list deletes nothing: %s', async (_, count, size) => {
  const ask = await filled(count, size)
  const uses = await placesOf(ask, MOST_OF_USER)
  for (const more of ['', '&dryRun=All'])
    await expect(ask('DELETE', SELECTED + more)).rejects.toMatchObject({
      status: { code: 429, reason: 'TooManyRequests' },
    })
  for (const use of uses) use.ended()
  expect((await ask('DELETE', SELECTED)).items).toHaveLength(count)
})

test.each(sizes)('its place gets free: %s', async (_, count, size) => {
  const ask = await filled(count, size)
  const uses = await placesOf(ask, MOST_OF_USER - 1)
  for (let n = 0; n < 3; n++) expect((await ask('DELETE', `${SELECTED}&dryRun=All`)).items).toHaveLength(count)
  await expect(ask('DELETE', `${SELECTED}&resourceVersion=999999999999999999`)).rejects.toThrow()
  expect((await ask('GET', SELECTED)).items).toHaveLength(count)
  for (const use of uses) use.ended()
})

test.each(sizes)('nothing more is deleted when its time is over: %s', async (_, count, size) => {
  const ask = await filled(count, size)
  const storage = ask.server.storage as MemoryStorage // it is one in memory
  const remove = storage.delete.bind(storage)
  let deletions = 0
  vi.spyOn(storage, 'delete').mockImplementation(async (...deleted) => {
    if (++deletions === 5) ask.server.now = new Date(ask.server.now.getTime() + 60_000)
    return remove(...deleted)
  })
  await expect(ask('DELETE', SELECTED)).rejects.toMatchObject({ status: { code: 504, reason: 'Timeout' } })
  expect((await ask('GET', SELECTED)).items).toHaveLength(count - 5)
})
