// How long a watch lasts by its timeoutSeconds.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { answer } from '../../../src/server.ts'
import { memoryServer } from '../../request-in-memory.ts'

const TOKEN = 'a-token-of-thirty-two-characters'

beforeEach(() => {
  vi.stubGlobal('IdentityTransformStream', TransformStream) // workerd has it, Node does not
})
afterEach(() => {
  vi.unstubAllGlobals()
})

test.each(['-1', '-2', '9223372037'])('a watch of %s seconds ends before its first event', async (seconds) => {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  const path = `/api/v1/namespaces?watch=1&resourceVersion=0&timeoutSeconds=${seconds}`
  const response = await answer(server.request(path, { headers: { Authorization: `Bearer ${TOKEN}` } }))
  expect([response.status, await response.text()]).toEqual([200, ''])
})

test.each([
  [undefined, 1_800, 3_600],
  ['2', 2, 4],
])('without it a watch ends after the time of the setting or up to twice as much: %s', async (seconds, least, most) => {
  const lengths: number[] = []
  vi.stubGlobal('setTimeout', (_work: () => void, milliseconds = 0) => lengths.push(milliseconds))
  const settings = seconds === undefined ? {} : { KEDGE_MIN_REQUEST_TIMEOUT: seconds }
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN, ...settings })
  const request = server.request('/api/v1/namespaces?watch=1&resourceVersion=0', {
    headers: { Authorization: `Bearer ${TOKEN}` },
  })
  await answer(request)
  const length = lengths.find((one) => one > 0) ?? 0 // a turn of others has none
  expect(length).toBeGreaterThanOrEqual(least * 1000)
  expect(length).toBeLessThanOrEqual(most * 1000)
})
