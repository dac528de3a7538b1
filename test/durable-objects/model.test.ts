/**
 * Random histories run on real shards and on the model: single and concurrent writes, lists of the present and the
 * past, pages, and watches from any revision, while the instance sleeps, crashes, loses its sockets and compacts. Each
 * history has two independent shards. A failure prints its seed and the shortest history found that still fails.
 * `KEDGE_SEED=N KEDGE_SEEDS=1 npm run test:model` repeats it; `KEDGE_SEEDS=20000` runs many histories.
 */
import { env } from 'cloudflare:workers'
import { reset } from 'cloudflare:test'
import { afterEach, describe, it } from 'vitest'
import type { Action } from './modelled-shard.ts'
import { ACTIONS, ModelledShard } from './modelled-shard.ts'

const { SEED, SEEDS } = env as unknown as { SEED: string; SEEDS: string }
const first = SEED === '' ? Math.floor(Math.random() * 1e9) : Number(SEED)
const count = Number(SEEDS)

/** Histories that one test runs at the same time. */
const TOGETHER = 24
const GROUP = 100

describe('random histories', () => {
  console.log(`${count} histories; again: KEDGE_SEED=${first} KEDGE_SEEDS=${count} npm run test:model`)
  afterEach(reset)
  const groups = Array.from({ length: Math.ceil(count / GROUP) }, (_, group) => first + group * GROUP)
  it.each(groups)(
    'from seed %i',
    async (begin) => {
      const seeds = Array.from({ length: Math.min(GROUP, first + count - begin) }, (_, index) => begin + index)
      const failures: { seed: number; error: unknown }[] = []
      const next = async (): Promise<void> => {
        for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
          const failure = await run(historyOf(seed), `model-${seed}`, 60_000)
          if (failure === undefined) continue
          failures.push({ seed, error: failure.error })
          seeds.length = 0 // one failure is enough
        }
      }
      await Promise.all(Array.from({ length: TOGETHER }, next))
      const [failure] = failures
      if (failure !== undefined) throw new Error(await told(failure.seed, failure.error), { cause: failure.error })
    },
    600_000,
  )
})

interface Step {
  readonly shard: 0 | 1
  readonly action: Action
  /** The seed of this step alone: the step does the same when other steps are left out. */
  readonly seed: number
}

interface Failure {
  readonly error: unknown
  readonly log: readonly string[]
}

interface Plan {
  readonly steps: readonly Step[]
  readonly large: number
}

function historyOf(seed: number): Plan {
  const random = mulberry32(seed)
  const weighted = (Object.keys(ACTIONS) as Action[]).flatMap((action) => Array<Action>(ACTIONS[action]).fill(action))
  const length = 15 + Math.floor(random() * 30)
  const large = random() < 0.1 ? 0.4 : 0
  const others = random() < 0.3 ? 0.3 : 0
  const steps = Array.from({ length }, (): Step => ({
    shard: random() < others ? 1 : 0,
    action: weighted[Math.floor(random() * weighted.length)]!,
    seed: Math.floor(random() * 2 ** 32),
  }))
  return { steps, large }
}

/** @returns what went wrong, if anything did */
async function run({ steps, large }: Plan, tenant: string, patience: number): Promise<Failure | undefined> {
  const log: string[] = []
  const names = steps.some(({ shard }) => shard === 1) ? ['things', 'others'] : ['things']
  const shards = names.map((name) => new ModelledShard(tenant, name, (line) => log.push(line), patience, large))
  try {
    for (const shard of shards) await shard.begin()
    for (const { shard, action, seed } of steps) await shards[shard]!.act(action, mulberry32(seed))
    for (const shard of shards) await shard.finish()
    return undefined
  } catch (error) {
    return { error, log }
  } finally {
    for (const shard of shards) shard.leave()
  }
}

/** Repeats a failing history alone, and drops steps while it still fails. @returns the report */
async function told(seed: number, error: unknown): Promise<string> {
  let plan = historyOf(seed)
  let runs = 0
  const again = (steps: readonly Step[]) => run({ ...plan, steps }, `model-${seed}-again-${runs++}`, 2_000)
  let failure: Failure | undefined
  for (let tries = 0; tries < 5 && failure === undefined; tries++) failure = await again(plan.steps)
  const repeat = `KEDGE_SEED=${seed} KEDGE_SEEDS=1 npm run test:model`
  if (failure === undefined) return `seed ${seed}: ${String(error)}\nnot when it runs alone: ${repeat}`
  const end = Date.now() + 60_000
  for (let size = plan.steps.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < plan.steps.length && Date.now() < end;) {
      const steps = plan.steps.toSpliced(at, size)
      const found = await again(steps)
      if (found === undefined) at += size
      else [plan, failure] = [{ ...plan, steps }, found]
    }
  }
  return `seed ${seed}: ${String(failure.error)}\n${failure.log.join('\n')}\nagain: ${repeat}`
}

function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
