// Each list field of each built-in kind: twice as many elements are twice the work of a create, from the body to storage.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'
import { CountedWork } from './counted-work.ts'
import { listFields } from './list-fields.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })

let work: CountedWork
beforeAll(async () => {
  const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'default' } }
  await server.put('', 'namespaces', { ...namespace, status: { phase: 'Active' } })
  const account = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default', namespace: 'default' } }
  await server.put('', 'serviceaccounts', account)
  work = await CountedWork.start()
})
afterAll(() => work.stop())

const create = (url: string, body: string): Promise<Response> => {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' }
  return answer(server.request(url, { method: 'POST', body, headers }))
}

/** Some lists have a limit, above which nothing is looked at; what they cost there is not told by what they cost below. */
const ABOVE_LIMITS = 150

/** 2 grows with the body, 4 with its square. */
const LINEAR = 3.3

const all = listFields()

test('there are many', () => expect(all.length).toBeGreaterThan(200))

test.each(all)('$path', async ({ url, object }) => {
  const growthFrom = (n: number) =>
    work.growth(
      (count) => JSON.stringify(object(count)),
      (body) => create(url, body),
      n,
    )
  // where bodies begin to be worked on in parts, work grows by more than with the body, once: the square grows again
  const growth = await growthFrom(ABOVE_LIMITS)
  expect(growth < LINEAR ? growth : await growthFrom(4 * ABOVE_LIMITS)).toBeLessThan(LINEAR)
})
