// `npm run bench -- --against DIR` compares this tree with another checkout in many short turns. Each pair of turns
// gives one ratio of CPU. The median ratio is the change of a request's cost, and the interval beside it is its
// confidence, also on a shared machine. Both sides start several times, because a process may be faster by chance: by
// the layout of its code, or by what the engine optimized.
import { join } from 'node:path'
import { LAUNCHER, startKedge } from '../cli/kedge-process.ts'
import { fill, median, succeed } from './load.ts'
import type { Call } from './load.ts'
import { METADATA, TABLE } from './lists.ts'
import { medianInterval } from './median-interval.ts'
import { millisecondsOfTree } from './process-usage.ts'
import { table } from './report.ts'
import { ownPod } from './requests.ts'
import { createPolicies } from './policies.ts'
import { apiSide, readKubeconfig } from './side.ts'
import type { ApiSide } from './side.ts'
import { openWatchers } from './watchers.ts'

interface Measure {
  readonly what: string
  readonly clients: number
  /** Requests in a turn. */
  readonly requests: number
  call(side: ApiSide, id: string): Call
  prepare?(side: ApiSide): Promise<Prepared>
}

/** What a side keeps during a measure. */
interface Prepared {
  /** Called after the requests of a turn, and belongs to it. */
  finished?(): Promise<void>
  close(): Promise<void> | void
}

const WATCHERS = 2_000
/** Events of a turn for each watcher. */
const EVENTS = 16
const POLICIES = 100

/** Opens watches. A turn is over when each has got each event. */
async function watching({ target, watchPath }: ApiSide, requests: number): Promise<Prepared> {
  const watchers = await openWatchers(target, watchPath, WATCHERS)
  let expected = watchers.events()
  return {
    finished: () => watchers.until((expected += requests * WATCHERS)),
    close: () => watchers.close(),
  }
}

/** The lists run before the cases that create objects. */
const LISTED = 300

const oneOf = ({ collection }: ApiSide, id: string): string =>
  `${collection}/listed-${Number(id.split('-')[1]) % (LISTED - 1)}`

const MERGE_PATCH = 'application/merge-patch+json'
const APPLY = 'application/apply-patch+yaml'

const measures: readonly Measure[] = [
  { what: 'get, 16 clients', clients: 16, requests: 400, call: (side) => side.get() },
  {
    what: `get of one of ${LISTED}, 16 clients`,
    clients: 16,
    requests: 400,
    call: (side, id) => ({ method: 'GET', path: oneOf(side, id) }),
  },
  { what: `list of ${LISTED}, 4 clients`, clients: 4, requests: 32, call: (side) => side.list() },
  {
    what: `Table of ${LISTED}, 4 clients`,
    clients: 4,
    requests: 32,
    call: (side) => ({ ...side.list(), accept: TABLE }),
  },
  {
    what: `metadata of ${LISTED}, 4 clients`,
    clients: 4,
    requests: 32,
    call: (side) => ({ ...side.list(), accept: METADATA }),
  },
  {
    what: `page of 50, 4 clients`,
    clients: 4,
    requests: 100,
    call: ({ collection }) => ({ method: 'GET', path: `${collection}?limit=50` }),
  },
  {
    what: `1 % by label, 4 clients`,
    clients: 4,
    requests: 50,
    call: ({ collection }) => ({ method: 'GET', path: `${collection}?labelSelector=one%3Dpercent` }),
  },
  { what: 'create 2 KB, 16 clients', clients: 16, requests: 200, call: (side, id) => side.create(id) },
  {
    what: 'update by merge patch, 16 clients',
    clients: 16,
    requests: 150,
    call: (side, id) => ({
      method: 'PATCH',
      path: oneOf(side, id),
      body: `{"data":{"number":"${id}"}}`,
      contentType: MERGE_PATCH,
    }),
  },
  {
    what: 'server-side apply, 16 clients',
    clients: 16,
    requests: 150,
    call: (side, id) => ({
      method: 'PATCH',
      path: `${oneOf(side, id)}?fieldManager=bench&force=true`,
      body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${oneOf(side, id).split('/').at(-1)}"},"data":{"applied":"${id}"}}`,
      contentType: APPLY,
    }),
  },
  {
    what: 'pod: create, 16 clients',
    clients: 16,
    requests: 100,
    call: ({ namespace }, id) => ({ method: 'POST', path: `${namespace}/pods`, body: ownPod(`p${id}`) }),
  },
  {
    what: `fan-out to ${WATCHERS}`,
    clients: 8,
    requests: EVENTS,
    call: (side, id) => side.create(`event-${id}`),
    prepare: (side) => watching(side, EVENTS),
  },
  {
    what: `create with ${POLICIES} policies, 16 clients`,
    clients: 16,
    requests: 100,
    call: (side, id) => side.create(`policed-${id}`),
    prepare: async ({ target }) => ({ close: await createPolicies(target, POLICIES, 'that match') }),
  },
]

/** Milliseconds of CPU for one request. */
interface Cost {
  readonly front: number
  readonly engine: number
}

interface Pair {
  readonly other: Cost
  readonly own: Cost
}

export interface Rounds {
  /** How often both sides are started. */
  readonly starts: number
  /** Pairs of turns for each start. */
  readonly pairs: number
  /** Runs cases whose name begins with this. */
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
      // prints the results so far, in case the rest takes too long
      for (const row of rowsOf(measure.what, ofStarts)) process.stderr.write(`  ${row.join(' | ')}\n`)
    }
    await own.stop()
    await other.stop()
  }
  const rows = [...found].flatMap(([{ what }, ofStarts]) => rowsOf(what, ofStarts))
  console.log(table(['CPU, ms each', 'other', 'this', 'ratio', '95 % interval', 'of each start', 'pairs'], rows))
}

/** The start function of the checkout in `directory`, or of this tree. */
const startIn = (directory: string): ReturnType<typeof startKedge> =>
  startKedge(undefined, undefined, [], join(directory, 'src/cli/kedge.mjs'))

/** Pairs that do not count, because the engine optimizes code only after many runs. */
const WARM_UP = 15

async function measured(
  [other, own]: readonly [ApiSide, ApiSide],
  { clients, requests, call, prepare }: Measure,
  pairs: number,
): Promise<Pair[]> {
  let id = 0
  const prepared = new Map<ApiSide, Prepared>()
  if (prepare !== undefined) for (const side of [other, own]) prepared.set(side, await prepare(side))
  const turn = async (side: ApiSide): Promise<Cost> => {
    const before = millisecondsOfTree(side.pids[0] ?? 0)
    await fill(side.target, clients, requests, () => call(side, `${clients}-${id++}`))
    await prepared.get(side)?.finished?.()
    const after = millisecondsOfTree(side.pids[0] ?? 0)
    const front = (after.own - before.own) / requests
    return { front, engine: (after.all - before.all) / requests - front }
  }
  const found: Pair[] = []
  for (let round = -WARM_UP; round < pairs; round++) {
    // the sides alternate in going first
    const isFirst = round % 2 === 0
    const early = await turn(isFirst ? other : own)
    const late = await turn(isFirst ? own : other)
    if (round >= 0) found.push(isFirst ? { other: early, own: late } : { other: late, own: early })
  }
  for (const one of prepared.values()) await one.close()
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
