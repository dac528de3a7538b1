// `npm run bench -- --against DIR`: this tree beside another checkout of it, in many short turns. Each pair of turns gives
// one ratio of CPU; their median and quartiles say how much dearer a request got, also on a machine that others use.
import { join } from 'node:path'
import { LAUNCHER, startKedge } from '../cli/kedge-process.ts'
import { fill, median, part, succeed } from './load.ts'
import type { Call } from './load.ts'
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

const measures: readonly Measure[] = [
  { what: 'get, 16 clients', clients: 16, requests: 400, call: (side) => side.get() },
  { what: 'create 2 KB, 16 clients', clients: 16, requests: 200, call: (side, id) => side.create(id) },
]

/** A directory named in the command line, or this tree. */
const startIn = (directory: string): ReturnType<typeof startKedge> =>
  startKedge(undefined, undefined, [], join(directory, 'src/cli/kedge.mjs'))

/** @param rounds pairs of turns */
export async function besideCheckout(directory: string, rounds: number): Promise<void> {
  const here = join(LAUNCHER, '../../..')
  const [own, other] = [await startIn(here), await startIn(directory)]
  const sideOf = (name: string, { kubeconfig, process: { pid = 0 } }: typeof own): Promise<ApiSide> =>
    apiSide(name, readKubeconfig(kubeconfig), [pid])
  const sides = [await sideOf('other', other), await sideOf('this', own)] as const
  const rows: string[][] = []
  for (const side of sides) await succeed(side.target, side.create('first'))
  for (const measure of measures) rows.push(...(await pairs(sides, measure, rounds)))
  console.log(table(['CPU, ms each', 'other', 'this', 'ratio', 'quartiles', 'pairs'], rows))
  await own.stop()
  await other.stop()
}

/** Pairs that are not counted: the engine optimizes what has run often. */
const WARM_UP = 40

/** Milliseconds of CPU a request. */
interface Cost {
  readonly front: number
  readonly engine: number
}

async function pairs(
  [other, own]: readonly [ApiSide, ApiSide],
  { what, clients, requests, call }: Measure,
  rounds: number,
): Promise<string[][]> {
  let id = 0
  const turn = async (side: ApiSide): Promise<Cost> => {
    const before = millisecondsOfTree(side.pids[0] ?? 0)
    await fill(side.target, clients, requests, () => call(side, `${clients}-${id++}`))
    const after = millisecondsOfTree(side.pids[0] ?? 0)
    const front = (after.own - before.own) / requests
    return { front, engine: (after.all - before.all) / requests - front }
  }
  const found: { readonly other: Cost; readonly own: Cost }[] = []
  for (let round = -WARM_UP; round < rounds; round++) {
    // neither is always the one behind the other
    const isFirst = round % 2 === 0
    const early = await turn(isFirst ? other : own)
    const late = await turn(isFirst ? own : other)
    if (round >= 0) found.push(isFirst ? { other: early, own: late } : { other: late, own: early })
  }
  const row = (name: string, of: (cost: Cost) => number): string[] => {
    const ratios = found.map((pair) => of(pair.own) / of(pair.other))
    return [
      `${what}: ${name}`,
      median(found.map((pair) => of(pair.other))).toFixed(3),
      median(found.map((pair) => of(pair.own))).toFixed(3),
      median(ratios).toFixed(3),
      `${part(ratios, 0.25).toFixed(3)}–${part(ratios, 0.75).toFixed(3)}`,
      String(rounds),
    ]
  }
  return [
    row('all', ({ front, engine }) => front + engine),
    row('front', ({ front }) => front),
    row('engine', ({ engine }) => engine),
  ]
}
