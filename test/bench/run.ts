// `npm run bench` compares Kedge with the floor on the same engine in one run, as ratios, because single times mean
// little. It also counts the rows that writes write, and compares the codecs with the engine's JSON. `npm run bench --
// --kubeconfig FILE [--pid N,…]` measures any server alone (N: its processes, for CPU and memory). `--beside` measures
// Kedge in turn with it. `--against DIR` compares the cost of requests with another checkout, in `--rounds` pairs of
// turns for each of `--starts`; `--in-process` compares only the steps of a request. `--only get` selects cases whose
// name begins with `get`, for both. `--webhooks` measures what webhooks add to a create (also for another checkout with
// `--against`, or a server with `--kubeconfig`). `--write` writes the results into the README.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startKedge } from '../cli/kedge-process.ts'
import { admissionFigures, admissionTable } from './admission.ts'
import { besideCheckout } from './against.ts'
import { besideCheckoutInProcess } from './against-in-process.ts'
import { codecFigures } from './codecs.ts'
import { coldStartFigures, printColdStart } from './cold-start.ts'
import { expressionFigures, expressionTable } from './expressions.ts'
import { identityFigures, identityTable } from './identity.ts'
import { measureFanOut } from './fan-out.ts'
import { measureForms, measureLists, measureSelections } from './lists.ts'
import { fill } from './load.ts'
import { machine, Report, table, writeReadme } from './report.ts'
import { measurePolicies } from './policies.ts'
import { measureRequests, measureWrites } from './requests.ts'
import { rowsWritten } from './rows-written.ts'
import { webhookCosts } from './webhooks.ts'
import { apiSide, floorSide, readKubeconfig, usage } from './side.ts'
import type { ApiSide, Side } from './side.ts'

const { values: flags } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    pid: { type: 'string' },
    beside: { type: 'boolean', default: false },
    against: { type: 'string' },
    webhooks: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '200' },
    starts: { type: 'string', default: '3' },
    'in-process': { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    // a warm-up of two thirds of it comes first, because the engine optimizes hot code for several seconds
    seconds: { type: 'string', default: '12' },
    objects: { type: 'string', default: '10000' },
    watchers: { type: 'string', default: '100,500,2000' },
  },
})
const seconds = Number(flags.seconds)
const objects = Number(flags.objects)
const pids = flags.pid?.split(',').map(Number) ?? []
const watchers = flags.watchers.split(',').map(Number)

const report = new Report()

async function measure(sides: readonly Side[], apis: readonly ApiSide[]): Promise<void> {
  await measureRequests(report, sides, seconds)
  for (const side of sides) await fill(side.target, 64, objects, (n) => side.create(`f${String(n).padStart(7, '0')}`))
  await measureLists(report, sides)
  await measureForms(report, apis)
  for (const side of apis) await measureSelections(report, side)
  for (const count of watchers) await measureFanOut(report, sides, count)
  await measureWrites(report, apis, seconds)
  await measurePolicies(report, apis, seconds / 2)
  for (const side of sides) {
    const used = usage(side)
    if (used !== undefined) report.note(side, 'resident MB at the end', used.residentBytes / 1e6)
  }
}

async function besideFloor(): Promise<void> {
  const floor = spawn(process.execPath, [join(import.meta.dirname, 'floor.ts')], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const url = await new Promise<string>((resolve) =>
    floor.stdout!.once('data', (text: Buffer) => resolve(String(text).trim())),
  )
  const kedge = await startKedge()
  const api = await apiSide('kedge', readKubeconfig(kedge.kubeconfig), [kedge.process.pid!])
  await measure([floorSide(url, [floor.pid!]), api], [api])
  await kedge.stop()
  floor.kill('SIGTERM')
  const rows = await rowsWritten()
  for (const [verb, count] of Object.entries(rows)) report.note(api, `rows written a ${verb}, with compaction`, count)
  print('benchmark table', ['floor', 'kedge'], (what) => !/p50 ms$/.test(what) || what.startsWith('fan-out'))
  const codecs = (await codecFigures()).map(({ what, microseconds, ratio }) => [
    what,
    microseconds.toFixed(1),
    ratio.toFixed(2),
  ])
  const text = table(['a Pod', 'µs', '× JSON.parse + stringify'], codecs)
  console.log(`\n${text}`)
  if (flags.write) writeReadme('codec table', text)
  console.log(`\n${identityTable(await identityFigures())}`)
  console.log(`\n${admissionTable(await admissionFigures())}`)
  const expressions = expressionTable(await expressionFigures())
  console.log(`\n${expressions}`)
  if (flags.write) writeReadme('expression table', expressions)
  printColdStart(await coldStartFigures())
}

/** Prints all rows, and writes the wanted ones into the README. */
function print(place: string, names: readonly string[], isWanted: (what: string) => boolean): void {
  console.log(`\n${machine()}; ${objects} objects of 2 KB.\n\n${report.table(names)}`)
  if (flags.write) writeReadme(place, report.table(names, isWanted))
}

async function drive(kubeconfig: string): Promise<void> {
  const server = await apiSide('reference', readKubeconfig(kubeconfig), pids)
  const kedge = flags.beside ? await startKedge() : undefined
  const sides = [server]
  if (kedge !== undefined) sides.push(await apiSide('kedge', readKubeconfig(kedge.kubeconfig), [kedge.process.pid!]))
  await measure(sides, sides)
  await kedge?.stop()
  const names = sides.map(({ name }) => name)
  print('reference table', names, (what) =>
    /server CPU|first byte|selector: ms|page of 500: ms|events|resident/.test(what),
  )
}

if (flags.webhooks)
  await webhookCosts(
    {
      checkout: flags.against,
      server: flags.kubeconfig === undefined ? undefined : { kubeconfig: flags.kubeconfig, pids },
    },
    Number(flags.starts),
  )
else if (flags.against !== undefined && flags['in-process'])
  await besideCheckoutInProcess(flags.against, Number(flags.rounds), flags.only)
else if (flags.against !== undefined)
  await besideCheckout(flags.against, {
    starts: Number(flags.starts),
    pairs: Number(flags.rounds),
    only: flags.only,
  })
else if (flags.kubeconfig === undefined) await besideFloor()
else await drive(flags.kubeconfig)
process.exit(0)
