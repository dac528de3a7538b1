/** A request that fails by a mistake of the server is in the error log with its user, not with the one before authentication. */
import { expect, test, vi } from 'vitest'
import { respondStatus } from '../../src/codec/respond.ts'
import { answer, steps } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'a-token-of-thirty-two-characters'
const PATH = '/api/v1/namespaces/default/configmaps/a'

test.each([
  ['the user of its token', { authorization: `Bearer ${TOKEN}` }, 'kubernetes-admin'],
  ['the user that it impersonates', { authorization: `Bearer ${TOKEN}`, 'impersonate-user': 'jane' }, 'jane'],
  ['nobody', {}, 'system:anonymous'],
])('the log names %s', async (_, headers, user) => {
  const logged: string[] = []
  vi.spyOn(console, 'error').mockImplementation((line: string) => void logged.push(line))
  const request = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN }).request(PATH, { headers })
  const fails = (): never => {
    throw new TypeError('no such field')
  }
  const failed = await answer(request, { ...steps, authorize: fails }).catch((error: unknown) => error)
  expect((await respondStatus(request, failed)).status).toBe(500)
  vi.restoreAllMocks()
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { message: 'a request failed', path: PATH, user, error: 'no such field' },
  ])
})
