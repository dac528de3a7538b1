// `npm run bench -- --against DIR`: this tree beside another checkout of it, in many short turns. Each pair of turns gives
// one ratio of CPU. Their median says how much dearer a request got, and the interval beside it how far that can be
// trusted, also on a machine that others use. Both sides are started several times: what a process is lucky with (where
// its code lies, what the engine optimized) is not what a checkout costs.
import { join } from 'node:path'
import { LAUNCHER, startKedge } from '../cli/kedge-process.ts'
import { fill, median, succeed } from './load.ts'
import type { Call } from './load.ts'
import { medianInterval } from './median-interval.ts'
import { millisecondsOfTree } from './process-usage.ts'
import { table } from './report.ts'
import { apiSide, readKubeconfig } from './side.ts'
import type { ApiSide } from './side.ts'

interface Measure {
  readonly what: string
  readonly clients: number
  /** Requests a turn. */
  readonly requests: number
  call(side: ApiSide, id: string): Call
}

/** The list comes before objects are created. */
const LISTED = 300

const measures: readonly Measure[] = [
  { what: 'get, 16 clients', clients: 16, requests: 400, call: (side) => side.get() },
  {
    what: `get of one of ${LISTED}, 16 clients`,
    clients: 16,
    requests: 400,
    call: ({ collection }, id) => ({
      method: 'GET',
      path: `${collection}/listed-${Number(id.split('-')[1]) % (LISTED - 1)}`,
    }),
  },
  { what: `list of ${LISTED}, 4 clients`, clients: 4, requests: 32, call: (side) => side.list() },
  { what: 'create 2 KB, 16 clients', clients: 16, requests: 200, call: (side, id) => side.create(id) },
]

/** Milliseconds of CPU a request. */
interface Cost {
  readonly front: number
  readonly engine: number
}

interface Pair {
  readonly other: Cost
  readonly own: Cost
}

export interface Rounds {
  /** How often both are started anew. */
  readonly starts: number
  /** Pairs of turns, of each start. */
  readonly pairs: number
  /** What begins so. */
  readonly only: string
}

export async function besideCheckout(directory: string, { starts, pairs, only }: Rounds): Promise<void> {
  const wanted = measures.filter(({ what }) => what.startsWith(only))
  const found = new Map<Measure, Pair[][]>(wanted.map((measure) => [measure, []]))
  for (let start = 0; start < starts; start++) {
    const here = join(LAUNCHER, '../../..')
    const [own, other] = [await startIn(here), await startIn(directory)]
    const sideOf = (name: string, { kubeconfig, process: { pid = 0 } }: typeof own): Promise<ApiSide> =>
      apiSide(name, readKubeconfig(kubeconfig), [pid])
    const sides = [await sideOf('other', other), await sideOf('this', own)] as const
    for (const side of sides) {
      await succeed(side.target, side.create('first'))
      await fill(side.target, 16, LISTED - 1, (n) => side.create(`listed-${n}`))
    }
    for (const [measure, ofStarts] of found) {
      ofStarts.push(await measured(sides, measure, pairs))
      // what is known is told, in case that the rest takes too long
      for (const row of rowsOf(measure.what, ofStarts)) process.stderr.write(`  ${row.join(' | ')}\n`)
    }
    await own.stop()
    await other.stop()
  }
  const rows = [...found].flatMap(([{ what }, ofStarts]) => rowsOf(what, ofStarts))
  console.log(table(['CPU, ms each', 'other', 'this', 'ratio', '95 % interval', 'of each start', 'pairs'], rows))
}

/** A directory named in the command line, or this tree. */
const startIn = (directory: string): ReturnType<typeof startKedge> =>
  startKedge(undefined, undefined, [], join(directory, 'src/cli/kedge.mjs'))

/** Pairs that are not counted: the engine optimizes what has run often. */
const WARM_UP = 15

async function measured(
  [other, own]: readonly [ApiSide, ApiSide],
  { clients, requests, call }: Measure,
  pairs: number,
): Promise<Pair[]> {
  let id = 0
  const turn = async (side: ApiSide): Promise<Cost> => {
    const before = millisecondsOfTree(side.pids[0] ?? 0)
    await fill(side.target, clients, requests, () => call(side, `${clients}-${id++}`))
    const after = millisecondsOfTree(side.pids[0] ?? 0)
    const front = (after.own - before.own) / requests
    return { front, engine: (after.all - before.all) / requests - front }
  }
  const found: Pair[] = []
  for (let round = -WARM_UP; round < pairs; round++) {
    // neither is always the one behind the other
    const isFirst = round % 2 === 0
    const early = await turn(isFirst ? other : own)
    const late = await turn(isFirst ? own : other)
    if (round >= 0) found.push(isFirst ? { other: early, own: late } : { other: late, own: early })
  }
  return found
}

function rowsOf(what: string, ofStarts: readonly (readonly Pair[])[]): string[][] {
  const all = ofStarts.flat()
  const row = (name: string, of: (cost: Cost) => number): string[] => {
    const ratiosOf = (pairs: readonly Pair[]): number[] => pairs.map(({ own, other }) => of(own) / of(other))
    const ratios = ratiosOf(all)
    return [
      `${what}: ${name}`,
      median(all.map(({ other }) => of(other))).toFixed(3),
      median(all.map(({ own }) => of(own))).toFixed(3),
      median(ratios).toFixed(3),
      medianInterval(ratios)
        .map((end) => end.toFixed(3))
        .join('–'),
      ofStarts.map((pairs) => median(ratiosOf(pairs)).toFixed(3)).join(' '),
      String(all.length),
    ]
  }
  return [
    row('all', ({ front, engine }) => front + engine),
    row('front', ({ front }) => front),
    row('engine', ({ engine }) => engine),
  ]
}
