import { expect, test } from 'vitest'
import { TurnBudget } from '../../../src/storage/shards/turn-budget.ts'

/** A budget with a clock and turns of the test. `log` has what ran, a list for each turn. */
function engine() {
  const log: string[][] = [[]]
  const timers: (() => void)[] = []
  let now = 0
  let count = 0
  const budget = new TurnBudget(
    () => now,
    () => {
      count++
      return new Promise((resolve) => timers.push(resolve))
    },
  )
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return {
    budget,
    log,
    /** Works for some milliseconds. */
    work(name: string, milliseconds: number) {
      log.at(-1)!.push(name)
      now += milliseconds
    },
    settled,
    /** Runs what is ready, then the timers, until nothing is left. */
    async run() {
      await settled()
      for (let turn = 0; timers.length > 0 && turn < 100; turn++) {
        log.push([])
        for (const timer of timers.splice(0)) timer()
        await settled()
      }
      return log.filter((turn) => turn.length > 0)
    },
    get timers() {
      return count
    },
  }
}

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `${n}`)

test.each<[string, number, readonly (readonly string[])[]]>([
  ['short', 1, [['0', '1', '2', '3'], ['4']]], // prettier-ignore
  ['longer', 3, [['0', '1'], ['2', '3'], ['4']]], // prettier-ignore
  ['long', 20, [['0'], ['1'], ['2'], ['3'], ['4']]],
])('callers whose steps are %s continue in a turn until it has no time left', async (_, milliseconds, turns) => {
  const { budget, work, run } = engine()
  for (const name of names(5)) void budget.room().then(() => work(name, milliseconds))
  expect(await run()).toEqual(turns)
})

test('where the clock stands still, a number of callers continues in a turn', async () => {
  const { budget, work, run } = engine()
  for (const name of names(40)) void budget.room().then(() => work(name, 0))
  expect((await run()).map((turn) => turn.length)).toEqual([16, 16, 8])
})

test('answers that come at once are used one after the other, a few in a turn', async () => {
  const { budget, work, run, settled } = engine()
  let answer = (): void => {}
  const answered = new Promise<void>((resolve) => (answer = resolve))
  for (const name of names(4))
    void budget
      .awaited(() => answered)
      .then(async () => {
        // the step goes on after some microtasks
        for (let step = 0; step < 20; step++) await null
        work(name, 3)
      })
  await settled()
  answer()
  expect(await run()).toEqual([
    ['0', '1'],
    ['2', '3'],
  ])
})

test('one call at a time works in a turn', async () => {
  const { budget, work, run } = engine()
  const call = (name: string, milliseconds: number) =>
    void budget.call(async () => {
      await new Promise((resolve) => setImmediate(resolve))
      work(name, milliseconds)
    })
  for (const name of names(3)) call(name, 5)
  expect(await run()).toEqual([['0'], ['1'], ['2']])
})

test('a call that takes long does not hold up other calls', async () => {
  const { budget, work, run } = engine()
  const slow = budget.call(() => new Promise<never>(() => {}))
  void budget.call(async () => work('other', 1))
  expect((await run()).flat()).toEqual(['other'])
  expect(await Promise.race([slow, 'under way'])).toBe('under way')
})

test('a turn counts from its beginning, not from its first caller', async () => {
  const { budget, work, run, settled, log } = engine()
  let answer = (): void => {}
  void budget.awaited(() => new Promise<void>((resolve) => (answer = resolve))).then(() => work('writer', 1))
  const next = budget.nextTurn()
  void next.then(() => {
    work('commit', 7)
    answer()
  })
  await settled()
  expect(log).toEqual([[]])
  expect(await run()).toEqual([['commit'], ['writer']])
})

test('the failure of a call is thrown, and others go on', async () => {
  const { budget, work, run } = engine()
  const failing = budget.call(async () => Promise.reject(new Error('broken')))
  failing.catch(() => {})
  void budget.call(async () => work('other', 1))
  expect((await run()).flat()).toEqual(['other'])
  await expect(failing).rejects.toThrow('broken')
})

test('all who wait for the next turn share a timer, and an object that does nothing sets none', async () => {
  const server = engine()
  for (const name of names(50)) void server.budget.turn().then(() => server.work(name, 0))
  await server.settled()
  expect(server.timers).toBe(1)
  expect((await server.run()).flat()).toHaveLength(50)
  const before = server.timers
  await server.run()
  expect(server.timers).toBe(before)
})

test('thousands of callers leave nothing behind', async () => {
  const { budget, settled, run } = engine()
  const { waiting } = budget as unknown as { waiting: readonly unknown[] }
  const all = names(1_500).map(() => budget.room())
  await settled()
  expect(waiting.length).toBeGreaterThan(1_000)
  await run()
  await Promise.all(all)
  expect(waiting).toEqual([])
})
