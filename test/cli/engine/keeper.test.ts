import { expect, test } from 'vitest'
import { EngineFailed, EngineKeeper } from '../../../src/cli/engine/keeper.ts'
import type { Engine } from '../../../src/cli/engine/engine.ts'

type Fate = 'starts' | 'listens' | 'listens and is killed' | 'is killed' | 'gives up' | 'cannot be launched'

/** A keeper whose engines meet these fates one after the other; the last fate repeats. */
function keeperOf(...fates: Fate[]) {
  const pauses: number[] = []
  const logged: string[] = []
  let [now, runs] = [0, 0]
  const launch = () => {
    const fate = fates[Math.min(runs, fates.length - 1)]!
    if (fate === 'cannot be launched') throw new Error(`ENOSPC ${++runs}`)
    let end!: (exit: { signal: string | null }) => void
    const ended = new Promise<{ signal: string | null }>((resolve) => (end = resolve))
    const listens = fate.startsWith('listens')
    const engine: Engine = {
      pid: 1,
      listening: listens ? Promise.resolve() : ended.then(() => Promise.reject(new Error('ended'))),
      ended,
      stop: async () => end({ signal: 'SIGTERM' }),
    }
    if (fate !== 'listens' && fate !== 'starts')
      setTimeout(() => end({ signal: fate === 'gives up' ? null : 'SIGKILL' }))
    return { engine, address: ++runs }
  }
  const keeper = new EngineKeeper<number>({
    launch,
    now: () => now,
    pause: async (ms) => {
      pauses.push(ms)
      now += ms
    },
    log: (text) => void logged.push(text),
  })
  return { keeper, pauses, logged, runs: () => runs, ended: keeper.run() }
}

test('an engine that is killed is started again at once', async () => {
  const { keeper, pauses, runs, ended } = keeperOf('listens and is killed', 'listens and is killed', 'listens')
  while (runs() < 3) await new Promise((resolve) => setTimeout(resolve))
  expect(await keeper.ready()).toBe(3)
  expect(pauses).toEqual([])
  await keeper.stop(0)
  await ended
  await keeper.ended
})

test('an engine that is killed before it listens is started again after growing pauses', async () => {
  const { keeper, pauses } = keeperOf(
    ...(['listens and is killed', 'is killed', 'is killed', 'is killed', 'is killed', 'listens'] as const),
  )
  expect(await keeper.ready()).toBe(1)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await keeper.ready()).toBe(6)
  expect(pauses).toEqual([100, 200, 400, 800])
  await keeper.stop(0)
  await keeper.ended
})

test('the first engine is started again, too', async () => {
  const { keeper } = keeperOf('is killed', 'is killed', 'listens')
  expect(await keeper.ready()).toBe(3)
  await keeper.stop(0)
})

test('a first engine that exits by itself is not started again', async () => {
  const { keeper, runs } = keeperOf('gives up')
  await expect(keeper.ended).rejects.toThrow(EngineFailed)
  await expect(keeper.ready()).rejects.toThrow('The engine (workerd) ended before it was ready; see above.')
  expect(runs()).toBe(1)
})

test('the keeper gives up an engine that does not listen again within a minute', async () => {
  const { keeper, runs, pauses } = keeperOf('listens and is killed', 'gives up')
  await expect(keeper.ended).rejects.toThrow('did not get ready in 60 s')
  await expect(keeper.ready()).rejects.toThrow(EngineFailed)
  expect(runs()).toBeLessThan(25)
  expect(Math.max(...pauses)).toBe(5_000)
})

test('an engine that cannot be launched, as on a full disk, is tried again', async () => {
  const { keeper, pauses } = keeperOf('listens and is killed', 'cannot be launched', 'cannot be launched', 'listens')
  expect(await keeper.ready()).toBe(1)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await keeper.ready()).toBe(4)
  expect(pauses).toEqual([100, 200])
  await keeper.stop(0)
  await keeper.ended
})

test('a first engine that cannot be launched is not tried again', async () => {
  const { keeper, runs } = keeperOf('cannot be launched')
  await expect(keeper.ended).rejects.toThrow(EngineFailed)
  await expect(keeper.ready()).rejects.toThrow('The engine (workerd) ended before it was ready; see above.')
  expect(runs()).toBe(1)
})

test('an engine is replaced by another at once, and no log says that it ended', async () => {
  const { keeper, pauses, logged } = keeperOf('listens')
  expect(await keeper.ready()).toBe(1)
  await keeper.replace(0)
  await expect.poll(() => keeper.ready()).toBe(2)
  expect([pauses, logged]).toEqual([[], []])
  await keeper.stop(0)
  await keeper.ended
})

test('one that is replaced before it listens is no failed start', async () => {
  const { keeper, runs } = keeperOf('starts', 'listens')
  await keeper.replace(0)
  expect(await keeper.ready()).toBe(2)
  expect(runs()).toBe(2)
  await keeper.stop(0)
})
