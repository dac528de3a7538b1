// The server is killed while a quota is charged and used, at one moment after the other. A charge is written before what
// it is for: what is there never exceeds the quota, and what was charged for nothing is given back.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Victim, pause, randomFrom } from '../soak/victim.ts'
import type { Answer } from './api-client.ts'

const SPACE = '/api/v1/namespaces/crash'
const HARD = 30
const CREATORS = 12

let victim: Victim
beforeAll(async () => {
  victim = await Victim.start(randomFrom(7), false)
  await sent('POST', '/api/v1/namespaces', { metadata: { name: 'crash' } })
  const hard = { secrets: String(HARD) }
  await sent('POST', `${SPACE}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard } })
  await vi.waitFor(async () => expect(await usage()).toEqual({ used: 0, there: 0 }), { timeout: 30_000, interval: 200 })
}, 120_000)
afterAll(() => victim.stop())

/** Until the server that is being started again answers. */
async function sent(method: string, path: string, body?: object): Promise<Answer> {
  for (;;) {
    const answer = await victim.target.client.send(method, path, body).catch(() => undefined)
    if (answer !== undefined && answer.status < 500 && answer.status !== 429) return answer
    await pause(100)
  }
}

/** What the quota says, and what is there; the quota is read first, so that it is not the newer one. */
async function usage(): Promise<{ used: number; there: number }> {
  const { body } = await sent('GET', `${SPACE}/resourcequotas/q`)
  const { status } = body as { status?: { used?: { secrets?: string } } }
  const { body: list } = await sent('GET', `${SPACE}/secrets`)
  return { used: Number(status?.used?.secrets), there: list.items!.length }
}

/** Creators until the server is killed, and a moment longer. @returns names of what the server said it made */
async function createUntilKilled(round: number, after: number): Promise<string[]> {
  const made: string[] = []
  let over = false
  const create = async (who: number): Promise<void> => {
    for (let count = 0; !over; count++) {
      const name = `s-${round}-${who}-${count}`
      const object = { metadata: { name }, stringData: { a: 'b' } }
      const answer = await victim.target.client.send('POST', `${SPACE}/secrets`, object).catch(() => undefined)
      if (answer?.status === 201) made.push(name)
      if (answer === undefined) await pause(10)
    }
  }
  const creators = Array.from({ length: CREATORS }, (_, who) => create(who))
  await pause(after)
  await victim.kill()
  over = true
  await Promise.all(creators)
  return made
}

test.each([5, 12, 20, 30, 45, 70, 110, 200])(
  'killed %i ms after its creators began',
  { timeout: 120_000 },
  async (after) => {
    const made = await createUntilKilled(after, after)
    const { body } = await sent('GET', `${SPACE}/secrets`)
    const names = body.items!.map(({ metadata }) => metadata.name)
    expect(names.length).toBeLessThanOrEqual(HARD)
    expect(names).toEqual(expect.arrayContaining(made))
    const { used, there } = await usage()
    expect(used).toBeGreaterThanOrEqual(there)
    expect(used).toBeLessThanOrEqual(HARD)
    // a deletion has the quota counted within seconds; where all that was charged was lost there is nothing to delete yet
    await sent('POST', `${SPACE}/secrets`, { metadata: { name: `last-${after}` } })
    await sent('DELETE', `${SPACE}/secrets`)
    await expect.poll(() => usage(), { timeout: 30_000, interval: 300 }).toEqual({ used: 0, there: 0 })
  },
)

test('what was charged for nothing is given back without anybody’s doing', { timeout: 240_000 }, async () => {
  // until a charge is left over, which most moments leave
  for (let round = 1000, left = 0; left === 0 && round < 1010; round++) {
    await createUntilKilled(round, (round - 999) * 7)
    const { used, there } = await usage()
    left = used - there
    if (left === 0) await sent('DELETE', `${SPACE}/secrets`)
  }
  await expect
    .poll(async () => (await usage().then(({ used, there }) => used - there)) satisfies number, {
      timeout: 150_000,
      interval: 1_000,
    })
    .toBe(0)
})
