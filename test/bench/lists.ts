// Measures full lists, partial lists, and lists of an old revision.
import { fill, median, open, pause, send, succeed } from './load.ts'
import type { Call } from './load.ts'
import type { Report } from './report.ts'
import type { ApiSide, Side } from './side.ts'
import { timed } from './side.ts'

const RUNS = 7

async function listed(report: Report, sides: readonly Side[], what: string, call: (side: Side) => Call): Promise<void> {
  for (const side of sides) await send(side.target, call(side)) // warm-up
  const rates = new Map<Side, number[]>(sides.map((side) => [side, []]))
  await report.inTurn(sides, what, async (side) => {
    for (let list = 0; list < 2; list++) {
      const { bytes, total } = await succeed(side.target, call(side))
      rates.get(side)!.push(bytes / 1000 / total)
    }
    return 2
  })
  for (const side of sides) report.note(side, `${what}: MB/s`, median(rates.get(side)!))
}

export async function measureLists(report: Report, sides: readonly Side[]): Promise<void> {
  await listed(report, sides, 'list all', (side) => side.list())
  await measureFirstByte(report, sides)
}

/** The time to the first byte, with one client on an idle server. */
async function measureFirstByte(report: Report, sides: readonly Side[]): Promise<void> {
  const times = new Map<Side, number[]>(sides.map((side) => [side, []]))
  for (let run = 0; run < 21; run++)
    for (const side of sides) {
      await pause(50)
      times.get(side)!.push((await succeed(side.target, side.list())).firstByte)
    }
  for (const side of sides) report.note(side, 'list all: first byte ms', median(times.get(side)!))
}

export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
export const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

/** Measures without a counterpart in the floor. */
export async function measureForms(report: Report, sides: readonly ApiSide[]): Promise<void> {
  await listed(report, sides, 'list all as a Table', (side) => ({ ...side.list(), accept: TABLE }))
  await listed(report, sides, 'list all, metadata only', (side) => ({ ...side.list(), accept: METADATA }))
}

/** The ratio to the full list of the same server. */
export async function measureSelections(report: Report, side: ApiSide): Promise<void> {
  const { target, collection } = side
  const full = await timed(target, side.list())
  for (const [what, query] of [
    ['1 % label selector', '?labelSelector=one%3Dpercent'],
    ['page of 500', '?limit=500'],
  ] as const) {
    const times = await timed(target, { method: 'GET', path: collection + query })
    report.note(side, `${what}: ms`, times)
    report.note(side, `${what}: full list / it`, full / times)
  }
  report.note(side, 'list at an old revision / list', await oldAgainstNew(side))
}

/** Compares a list of an old revision with a current one, after one object in a hundred has changed. */
async function oldAgainstNew({ target, collection, list }: ApiSide): Promise<number> {
  const { resourceVersion } = await metadataOf(target, `${collection}?limit=1`)
  await fill(target, 16, 100, (n) => ({
    method: 'PATCH',
    path: `${collection}/f${String(200 + n).padStart(7, '0')}`,
    body: `{"data":{"changed":"${n}"}}`,
    contentType: 'application/merge-patch+json',
  }))
  const old: Call = {
    method: 'GET',
    path: `${collection}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`,
  }
  const ratios: number[] = []
  for (let run = 0; run < RUNS; run++) {
    const now = (await succeed(target, list())).total
    ratios.push((await succeed(target, old)).total / now)
  }
  return median(ratios)
}

async function metadataOf(target: ApiSide['target'], path: string): Promise<{ resourceVersion: string }> {
  let text = ''
  for await (const chunk of (await open(target, { method: 'GET', path })).setEncoding('utf8')) text += chunk as string
  return (JSON.parse(text) as { metadata: { resourceVersion: string } }).metadata
}
