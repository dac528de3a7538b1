// A small request yields to other requests while it goes through long webhook configurations.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configurationCases } from '../bench/wide-configurations.ts'
import { countedServer } from './longest-counted-step.ts'
import type { CountedServer } from './longest-counted-step.ts'

const WEBHOOKS = 1_000

/** The most work of one step (counted-bundle.ts). Without steps it is five times as much. */
const MOST = 200 * WEBHOOKS

let server: CountedServer

beforeAll(async () => {
  server = await countedServer()
}, 120_000)
afterAll(() => server.restore())

test('thousands of webhooks that leave a request out', { timeout: 120_000 }, async () => {
  const cases = configurationCases.filter(({ what }) => /^many webhooks (for|whose).*(else|out)$/.test(what))
  expect(cases).toHaveLength(3)
  for (const { what, stored = () => [] } of cases)
    for (const [group, resource, { metadata: _, ...rest }] of stored(WEBHOOKS))
      await server.put(group, resource, { ...rest, metadata: { name: what.replaceAll(' ', '-') } })
  // the first request fills caches and does not count
  const secret = JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } })
  await server.send({ method: 'POST', path: '/api/v1/namespaces/default/secrets', body: secret })
  const [call] = cases[0]!.calls(WEBHOOKS)
  const step = await server.longestStep(call!)
  expect(step.status, step.text).toBe(201)
  expect(step.work, `in a step that came by\n${step.seen}`).toBeLessThan(MOST)
})
