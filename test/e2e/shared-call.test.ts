// Requests of one isolate wait for one call, in the engine itself: the one that made it may go away.
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BareEngine } from './bare-engine.ts'
import { startBareEngine } from './bare-engine.ts'

let engine: BareEngine
beforeAll(async () => {
  engine = await startBareEngine(join(import.meta.dirname, 'shared-call'), ['worker', 'client'], '/begin')
})
afterAll(() => engine.stop())

const ask = async (path: string): Promise<string> => (await fetch(engine.url + path)).text()

async function asking(requests: number): Promise<void> {
  while ((await ask('/asking')) !== String(requests)) await pause(5)
}

test.each([
  ['is answered to all who wait for it', { how: '&kept', isGivenUp: false }, ['first', 'first']],
  [
    'goes on when its client is gone, if the request keeps it',
    { how: '&kept', isGivenUp: true },
    ['given up', 'first'],
  ],
  [
    'else counts as lost after a while, and is made again',
    { how: '&impatient', isGivenUp: true },
    ['given up', 'second'],
  ],
])('a call that requests share %s', async (_, { how, isGivenUp }, expected) => {
  await ask('/begin')
  const first = ask(`/call?by=first${how}`)
  await asking(1)
  const second = ask(`/call?by=second${how}`)
  await asking(2)
  if (isGivenUp) {
    await ask('/give-up?by=first')
    await first
  }
  await ask('/end')
  expect(await Promise.all([first, second])).toEqual(expected)
})

/** Until the engine has optimized what they run. */
const MANY = 12_800
const CLIENTS = 16

// a promise may not know its request once the code that makes it is optimized: who waited went on in another's, in most runs
test('each of many requests that wait goes on as itself', async () => {
  const answers = new Map<string, number>()
  const client = async () => {
    for (let asked = 0; asked < MANY / CLIENTS; asked++) {
      const answer = await ask('/look')
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  expect([...answers]).toEqual([['looked', MANY]])
}, 600_000)
