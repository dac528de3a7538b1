/**
 * The order of the members of free JSON. Bodies, JSON patches and merge patches keep it. Strategic merge patches and
 * applies go through Go maps, which sort it: a field that may not change refuses them if it was stored in another order.
 */
import { expect, test } from 'vitest'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'a-token-of-thirty-two-characters'
const COLLECTION = '/apis/apps/v1/namespaces/default/controllerrevisions'

const about = { apiVersion: 'apps/v1', kind: 'ControllerRevision' }
const SENT = '{"b":1,"a":{"z":1,"c":2}}'
const SORTED = '{"a":{"c":2,"z":1},"b":1}'
const IMMUTABLE = `ControllerRevision.apps "r" is invalid: data: Invalid value: ${SORTED}: field is immutable`

interface Answer {
  readonly data?: object
  readonly message?: string
}

function cluster() {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  return async (method: string, path: string, body: object, type = 'application/json') => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': type }
    try {
      const response = await answer(server.request(path, { method, headers, body: JSON.stringify(body) }))
      return JSON.stringify(((await response.json()) as Answer).data)
    } catch (error) {
      return (error as Error).message
    }
  }
}

const revision = (labels: object) => ({
  ...about,
  metadata: { name: 'r', labels },
  revision: 1,
  data: JSON.parse(SENT) as object,
})
const change = { metadata: { labels: { a: 'b' } } }

test.each([
  ['merge-patch+json', change, SENT],
  ['json-patch+json', [{ op: 'add', path: '/metadata/labels/a', value: 'b' }], SENT],
  ['strategic-merge-patch+json', change, IMMUTABLE],
  ['apply-patch+yaml', { ...about, metadata: { name: 'r', labels: { a: 'b' } } }, IMMUTABLE],
])('after a create: %s', async (type, patch, expected) => {
  const send = cluster()
  expect(await send('POST', COLLECTION, revision({ x: 'y' }))).toBe(SENT)
  expect(await send('PATCH', `${COLLECTION}/r?fieldManager=m`, patch, `application/${type}`)).toBe(expected)
})

test('after an apply, and again', async () => {
  const send = cluster()
  const apply = (labels: object) =>
    send('PATCH', `${COLLECTION}/r?fieldManager=m`, revision(labels), 'application/apply-patch+yaml')
  expect(await apply({ a: 'b' })).toBe(SORTED)
  expect(await apply({ a: 'c' })).toBe(SORTED)
})
