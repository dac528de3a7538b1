// The test kills the server at many moments while it charges a quota and creates objects. The server writes a charge
// before its object: the objects never exceed the quota, and a controller returns charges without an object.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { Victim, pause, randomFrom } from '../soak/victim.ts'
import type { Answer } from './api-client.ts'

const SPACE = 'crash'
/** The namespace in which the test leaves a charge without an object, and does nothing more. */
const LEFT = 'left'
const HARD = 30
const CREATORS = 12

let victim: Victim
beforeAll(async () => {
  victim = await Victim.start(randomFrom(7), false)
  for (const name of [SPACE, LEFT]) {
    await sent('POST', '/api/v1/namespaces', { metadata: { name } })
    const hard = { secrets: String(HARD) }
    await sent('POST', `${pathOf(name)}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard } })
    await isEmpty(name)
  }
})
afterAll(() => victim.stop())

const pathOf = (space: string): string => `/api/v1/namespaces/${space}`

/** Repeats a request until the restarted server answers. */
async function sent(method: string, path: string, body?: object): Promise<Answer> {
  for (;;) {
    const answer = await victim.target.client.send(method, path, body).catch(() => undefined)
    if (answer !== undefined && answer.status < 500 && answer.status !== 429) return answer
    await pause(100)
  }
}

/** Reads status.used of the quota, and then the number of objects: the quota may not be the newer one. */
async function usage(space: string): Promise<{ used: number; there: number }> {
  const { body } = await sent('GET', `${pathOf(space)}/resourcequotas/q`)
  const { status } = body as { status?: { used?: { secrets?: string } } }
  const { body: list } = await sent('GET', `${pathOf(space)}/secrets`)
  return { used: Number(status?.used?.secrets), there: list.items!.length }
}

const isEmpty = (space: string): Promise<void> =>
  eventually(async () => expect(await usage(space)).toEqual({ used: 0, there: 0 }))

/** Runs creators until a moment after the kill. @returns the names of the acknowledged objects */
async function createUntilKilled(space: string, round: number, after: number): Promise<string[]> {
  const made: string[] = []
  let over = false
  const create = async (who: number): Promise<void> => {
    for (let count = 0; !over; count++) {
      const name = `s-${round}-${who}-${count}`
      const object = { metadata: { name }, stringData: { a: 'b' } }
      const answer = await victim.target.client.send('POST', `${pathOf(space)}/secrets`, object).catch(() => undefined)
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

/** Empties a namespace. It creates one object first: only a deletion makes the controller count within seconds. */
async function emptied(space: string): Promise<void> {
  await sent('POST', `${pathOf(space)}/secrets`, { metadata: { name: 'last' } })
  await sent('DELETE', `${pathOf(space)}/secrets`)
  await isEmpty(space)
}

// The last test reads the result, which takes up to two minutes.
test('a crash leaves a charge without an object', async () => {
  // Most moments of the kill leave one.
  for (let round = 0; round < 40; round++) {
    await createUntilKilled(LEFT, round, 7 + (round % 10) * 7)
    const { used, there } = await usage(LEFT)
    if (used > there) return
    await emptied(LEFT)
  }
  expect.fail('no moment left a charge')
})

test.each([5, 12, 20, 30, 45, 70, 110, 200])(
  'a server killed %i ms after its creators began keeps the quota',
  async (after) => {
    const made = await createUntilKilled(SPACE, after, after)
    const { body } = await sent('GET', `${pathOf(SPACE)}/secrets`)
    const names = body.items!.map(({ metadata }) => metadata.name)
    expect(names.length).toBeLessThanOrEqual(HARD)
    expect(names).toEqual(expect.arrayContaining(made))
    const { used, there } = await usage(SPACE)
    expect(used).toBeGreaterThanOrEqual(there)
    expect(used).toBeLessThanOrEqual(HARD)
    await emptied(SPACE)
  },
)

test('the quota controller returns charges of failed writes', async () => {
  await expect.poll(async () => usage(LEFT).then(({ used, there }) => used - there)).toBe(0)
})
