// What controllers do between two turns does not grow with the objects that they work over: a request never waits behind
// all of them. A whole server runs in this process, and its work is counted; nothing is timed.
// It needs modules of its own: what other files left in the process could run in its turns.
import { beforeAll, expect, test, vi } from 'vitest'
import type { ControllerCase, serverInProcess } from '../bench/controller-cases.ts'
import { countedBundle } from '../hostile/counted-bundle.ts'
import type { Counted } from '../hostile/counted-bundle.ts'

const FEW = 60
const MORE = 180
/** What a ReplicaSet's status counts of its pods is one step: a microsecond of each. */
const STATUS = 24
/**
 * The scheduler's longest step is a share of a cycle over 100 nodes, however many pods wait: some 80,000, which chance
 * moves by a third. A look at 100 nodes for each pod would be thousands for each object more.
 */
const CYCLE = 400
/** What goes in slices grows up to their size, which fewer objects than this do not fill. */
const FILLED = 160
/**
 * How much comes together in one step is chance to a part. What grows with the objects does so in each run. Each run
 * only lowers the difference, so the first that is low enough is the last.
 */
const RUNS = 8
/** Functions, turns of loops and rows for each object more: a pass over names or references is some of them. */
const MOST = 12

interface Loaded {
  readonly counted$: Counted
  readonly cases: readonly ControllerCase[]
  readonly serverInProcess: typeof serverInProcess
}

let loaded: Loaded
beforeAll(async () => {
  loaded = await countedBundle<Loaded>('controller-cases.ts')
}, 120_000)

test.each<[what: string, least?: number, most?: number]>([
  ['an owner is deleted in the background'],
  ['an owner is deleted in the foreground'],
  ['an owner is deleted, its dependents stay'],
  ['a namespace is emptied'],
  ['a collection is deleted'],
  ['a quota is counted'],
  ['a Deployment comes up', FILLED, STATUS],
  ['a Service gets many endpoints', FILLED],
  ['Services get their endpoints', FILLED],
  ['a DaemonSet on many nodes', FILLED],
  ['nodes fall silent', FILLED],
  ['pods are scheduled on 100 nodes', FILLED, CYCLE],
])('%s', { timeout: 600_000 }, async (what, least = FEW, most = MOST) => {
  const one = loaded.cases.find((known) => known.what === what)!
  await longestStep(one, least) // what is made on first use is no part of it
  let [few, many] = [0, Infinity]
  const ofEach = (): number => (many - few) / MORE
  for (let run = 0; run < RUNS && ofEach() >= most; run++) {
    few = Math.max(few, await longestStep(one, least))
    many = Math.min(many, await longestStep(one, least + MORE))
  }
  expect(ofEach()).toBeLessThan(most)
})

async function longestStep(one: ControllerCase, count: number): Promise<number> {
  const { counted$: counted } = loaded
  const server = loaded.serverInProcess(one.settings, () => void counted.work++)
  await one.setUp(server, count)
  let longest = 0
  let before = counted.work
  let isOver = false
  const turn = (): void => {
    longest = Math.max(longest, counted.work - before)
    before = counted.work
  }
  const look = (): void => {
    turn()
    if (!isOver) setImmediate(look)
  }
  look()
  // a timer is a turn of its own in the engine; Node runs all that are due in one, and on a slow machine many are
  const { setTimeout: later } = globalThis
  vi.stubGlobal('setTimeout', (work: () => void, ms?: number) =>
    later(() => {
      turn()
      work()
    }, ms),
  )
  try {
    await one.begin(server, count)
    while (!(await one.isDone(server, count))) await new Promise((resolve) => setTimeout(resolve, 20))
  } finally {
    isOver = true
    vi.unstubAllGlobals()
  }
  return longest
}
