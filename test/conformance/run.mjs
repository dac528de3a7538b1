// `npm run conformance`: all recordings against fresh servers, a table area by area, and the comparison with the baseline.
//   --area a,b        only these areas (also: mutations, kubectl)     --kind REGEX   only these files of mutations
//   --id REGEX        only these scenarios and cases                  --jobs N       scenarios at once on a server (default 16)
//   --report FILE     every difference: pointer, wanted, got          --order        keys must come in the recorded order too
//   --kubeconfig FILE a server that runs already                      --kubectl PATH --keep (leave objects)  --salt TEXT
//   --share N         of the files of mutations every Nth one; the baseline asks for so much less
//   --times           what took longest, and each area's sum
//   --record          write what the server of --kubeconfig, a kube-apiserver, answers into the recordings
//   --raise           write what was reached to baseline.json where it is more, and the table into the README
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startKedge } from '../cli/kedge-process.ts'
import { Client, Pace, pool } from './client.mjs'
import { excerpts, fallenAreas, lastLine } from './fallen.ts'
import { same } from './mutations.mjs'
import { kindsOf, scenariosOf, sessionsOf } from './recorded.mjs'
import { Recorder } from './recorder.mjs'
import { useSalt } from './scenario.mjs'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const BASELINE = join(HERE, 'baseline.json')
/** So long at most the failures of an area that fell below its baseline are tried once more: a busy machine must not fail a change. */
const SECOND_CHANCE_MS = 300_000
/** A server answers on one thread, so a second one uses a second processor. Each scenario meets one of them. */
const SERVERS = Math.min(2, availableParallelism())
const README = join(HERE, '../../README.md')

const { values: opt } = parseArgs({
  options: {
    area: { type: 'string' },
    kind: { type: 'string' },
    id: { type: 'string' },
    jobs: { type: 'string', default: '16' },
    report: { type: 'string' },
    order: { type: 'boolean', default: false },
    kubeconfig: { type: 'string' },
    kubectl: { type: 'string' },
    keep: { type: 'boolean', default: false },
    salt: { type: 'string', default: '' },
    raise: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    recordings: { type: 'string', default: join(HERE, 'recordings') },
    times: { type: 'boolean', default: false },
    share: { type: 'string', default: '1' },
  },
})
if (opt.record && !opt.kubeconfig) {
  console.error('what is recorded is told by a kube-apiserver: --record needs its --kubeconfig')
  process.exit(2)
}
const areas = opt.area?.split(',')
const wanted = (area) => !areas || areas.includes(area)
const matches = (id) => !opt.id || new RegExp(opt.id).test(id)
if (opt.kubectl) process.env.KUBECTL = opt.kubectl

// ---------------------------------------------------------------- running
const outcomes = []
let planned = 0
let shown = 0
const progress = (last = false) => {
  const every = process.stderr.isTTY ? 200 : 15_000
  if (!last && Date.now() - shown < every) return
  shown = Date.now()
  const exact = outcomes.filter((o) => o.exact).length
  const line = `${outcomes.length} of ${planned} done, ${exact} exact, ${Math.round((Date.now() - began) / 1000)} s`
  process.stderr.write(process.stderr.isTTY ? `\r${line}${last ? '\n' : ''}` : line + '\n')
}
const text = (item, { differences, about = '' }) =>
  `## ${item.id} (${item.area})\n${about}` +
  differences
    .slice(0, 50)
    .map(([p, w, g]) => `${p}\n  want ${JSON.stringify(w)}\n  got  ${JSON.stringify(g)}`)
    .join('\n')

const began = Date.now()
const recorded = { directory: opt.recordings, wanted, matches, order: opt.order, keep: opt.keep }
/** Areas that this machine cannot run, and why: the last line says them. */
const skips = new Map()
const skipSessions = (why) => {
  skips.set('kubectl', why)
  console.log(`kubectl sessions are skipped: ${why}`)
}
const items = [...scenariosOf(recorded), ...sessionsOf(recorded, skipSessions)]
const kinds = kindsOf(recorded, opt.kind)
const mutations = kinds.filter((_, at) => at % Number(opt.share) === 0)
const sizeOf = (of) => of.reduce((n, kind) => n + kind.size(), 0)
planned = sizeOf(mutations) + items.length
if (planned === 0) {
  console.error('nothing is selected')
  process.exit(2)
}
const servers = opt.kubeconfig ? [] : await Promise.all(Array.from({ length: SERVERS }, () => startKedge()))
const kubeconfigs = opt.kubeconfig ? [opt.kubeconfig] : servers.map(({ kubeconfig }) => kubeconfig)
const targets = kubeconfigs.map((kubeconfig) => {
  const client = new Client(kubeconfig)
  return { kubeconfig, client, pace: new Pace(client) }
})
const targetOf = new Map([...items, ...mutations].map((of, at) => [of, targets[at % targets.length]]))
const answerOf = (item) => item.answer(targetOf.get(item).client, targetOf.get(item).kubeconfig)
const runOf = (kind, ids) => kind.run(targetOf.get(kind).client, ids)
/** Calls f for each, on each server for so many at once. */
const onEach = (all, jobs, f) =>
  Promise.all(
    targets.map((target) =>
      pool(
        all.filter((of) => targetOf.get(of) === target),
        jobs,
        f,
      ),
    ),
  )
useSalt(opt.salt)

const judge = async (item) => {
  const start = performance.now()
  let answer
  let result
  try {
    answer = await answerOf(item)
    result = item.judge(answer)
  } catch (e) {
    result = { exact: false, lenient: false, differences: [['', 'an answer', String(e)]] }
  }
  const seconds = (performance.now() - start) / 1000
  return { seconds, id: item.id, area: item.area, item, answer, ...result, text: result.exact || text(item, result) }
}
/** [seconds, area, id] of every item, for --times. */
const times = []
const timed = async (area, id, f) => {
  const start = performance.now()
  await f()
  times.push([(performance.now() - start) / 1000, area, id])
  progress()
}
const one = async (item) => {
  await targetOf.get(item).pace.next()
  await timed(item.area, item.id, async () => {
    outcomes.push(await judge(item))
  })
}
const caughtUp = () => Promise.all(targets.map(({ pace }) => pace.end()))
const jobs = Number(opt.jobs)
await onEach(
  items.filter((i) => !i.alone && i.area !== 'kubectl'),
  jobs,
  one,
)
await caughtUp()
await onEach(
  items.filter((i) => !i.alone && i.area === 'kubectl'),
  Math.ceil(jobs / 2),
  one,
)
await onEach(mutations, Math.ceil(jobs / 2), (kind) =>
  timed('mutations', kind.name, async () => {
    for (const outcome of await runOf(kind)) outcomes.push({ ...outcome, kind })
  }),
)
await caughtUp()
await onEach(
  items.filter((i) => i.alone),
  1,
  one,
)
progress(true)

/** Answers that are not the recorded ones are asked for once more, and recorded where they come again. */
async function record() {
  const recorder = new Recorder()
  useSalt(opt.salt + '-again')
  const others = outcomes.filter(({ exact }) => !exact)
  const ofKinds = Map.groupBy(others, ({ kind }) => kind)
  const items = (ofKinds.get(undefined) ?? []).filter(({ answer }) => answer !== undefined)
  ofKinds.delete(undefined)
  const again = async ({ item, answer }) => {
    const second = await answerOf(item)
    recorder.take(item.file, item.id, [answer, second], item.isSame)
  }
  for (const alone of [false, true])
    await pool(
      items.filter(({ item }) => Boolean(item.alone) === alone),
      alone ? 1 : jobs,
      again,
    )
  await pool([...ofKinds], Math.ceil(jobs / 2), async ([kind, of]) => {
    const first = new Map(of.filter(({ have }) => !have.error).map(({ id, have }) => [id, have]))
    for (const { id, have } of await runOf(kind, new Set(first.keys())))
      recorder.take(kind.file, id, [first.get(id), have], same)
  })
  console.log(`${recorder.write()} answers recorded`)
  for (const id of recorder.unsteady) console.log(`another one each time, not recorded: ${id}`)
}
if (opt.record) await record()

// ---------------------------------------------------------------- the table and the baseline
const table = () => {
  const rows = {}
  for (const o of outcomes) {
    const row = (rows[o.area] ??= { exact: 0, lenient: 0, all: 0 })
    row.all++
    row.exact += o.exact ? 1 : 0
    row.lenient += o.lenient ? 1 : 0
  }
  return Object.fromEntries(Object.entries(rows).sort())
}
const readBaseline = () => {
  try {
    return JSON.parse(readFileSync(BASELINE, 'utf8'))
  } catch (e) {
    if (e.code === 'ENOENT') return {}
    throw e
  }
}
const whole = !opt.id && !opt.kind && !opt.order && !opt.record
const baseline = readBaseline()
if (baseline.mutations !== undefined) baseline.mutations -= sizeOf(kinds) - sizeOf(mutations)
const fallen = () => (whole ? fallenAreas(baseline, table(), wanted, new Set(skips.keys())) : [])

for (const area of fallen()) {
  const failed = outcomes.filter((o) => o.area === area && !o.exact)
  useSalt(opt.salt + '-again')
  const until = Date.now() + SECOND_CHANCE_MS
  const goesOn = () => Date.now() < until && fallen().includes(area)
  const ofKinds = Map.groupBy(
    failed.filter((o) => o.kind),
    (o) => o.kind,
  )
  await pool([...ofKinds], 4, async ([kind, of]) => {
    if (!goesOn()) return
    const ids = new Set(of.map((o) => o.id))
    for (const again of await runOf(kind, ids))
      Object.assign(
        of.find((o) => o.id === again.id),
        again,
      )
  })
  // What answers fast first: a slow one mostly waits for what never comes.
  const quickest = failed.filter((o) => o.item).sort((one, other) => one.seconds - other.seconds)
  for (const alone of [false, true])
    await pool(
      quickest.filter((o) => Boolean(o.item.alone) === alone),
      alone ? 1 : 4,
      async (o) => {
        if (goesOn()) Object.assign(o, await judge(o.item))
      },
    )
}

const rows = table()
const sum = Object.values(rows).reduce((a, b) => ({
  exact: a.exact + b.exact,
  lenient: a.lenient + b.lenient,
  all: a.all + b.all,
}))
console.log(`${'area'.padEnd(18)} ${'exact'.padStart(7)} ${'lenient'.padStart(8)} ${'all'.padStart(7)}`)
for (const [area, row] of [...Object.entries(rows), ['total', sum]]) {
  const percent = `${((100 * row.exact) / row.all).toFixed(1)} %`
  const was = baseline[area] === undefined ? '' : `   baseline ${baseline[area]}`
  console.log(
    `${area.padEnd(18)} ${String(row.exact).padStart(7)} ${String(row.lenient).padStart(8)} ${String(row.all).padStart(7)} ${percent.padStart(8)}${whole ? was : ''}`,
  )
}
if (opt.times) {
  for (const [area, of] of Object.entries(Object.groupBy(times, ([, area]) => area)))
    console.log(`${area.padEnd(18)} ${of.reduce((n, [s]) => n + s, 0).toFixed(1)} s of ${of.length}, one after another`)
  for (const [s, area, id] of times.sort((a, b) => b[0] - a[0]).slice(0, 60))
    console.log(`${s.toFixed(1).padStart(8)} s ${area} ${id}`)
}
if (opt.report) {
  const failed = outcomes.filter((o) => !o.exact).sort((a, b) => (a.area + a.id < b.area + b.id ? -1 : 1))
  writeFileSync(opt.report, failed.map((o) => o.text).join('\n\n') + '\n')
}
const below = fallen()
for (const area of below)
  console.log(
    rows[area] === undefined
      ? `${area} did not run; the baseline has ${baseline[area]}`
      : `${area}: ${rows[area].exact} exact are fewer than the ${baseline[area]} of the baseline`,
  )
for (const one of excerpts(outcomes.filter((o) => below.includes(o.area) && !o.exact).map((o) => o.text)))
  console.log(one)
/** The README with the table of this run; as it is where only some areas ran. */
function withTable(readme) {
  const [begin, end] = ['<!-- conformance table -->', '<!-- end of conformance table -->']
  const [from, to] = [readme.indexOf(begin), readme.indexOf(end)]
  if (from < 0 || to < 0 || areas) return readme
  const lines = [['area', 'exact', 'lenient', 'all', 'exact %']]
  for (const [area, row] of [...Object.entries(rows), ['**total**', sum]])
    lines.push([area, row.exact, row.lenient, row.all, ((100 * row.exact) / row.all).toFixed(1)])
  const width = (column) => Math.max(...lines.map((line) => String(line[column]).length))
  const format = (line) =>
    `| ${line.map((cell, i) => (i ? String(cell).padStart(width(i)) : cell.padEnd(width(i)))).join(' | ')} |`
  const rule = `| ${lines[0].map((_, i) => (i ? '-'.repeat(width(i) - 1) + ':' : '-'.repeat(width(i)))).join(' | ')} |`
  const [head, ...rest] = lines.map(format)
  return readme.slice(0, from + begin.length) + '\n\n' + [head, rule, ...rest].join('\n') + '\n\n' + readme.slice(to)
}
if (opt.raise && whole && opt.share === '1') {
  for (const [area, row] of Object.entries(rows)) baseline[area] = Math.max(baseline[area] ?? 0, row.exact)
  writeFileSync(BASELINE, JSON.stringify(Object.fromEntries(Object.entries(baseline).sort()), undefined, 2) + '\n')
  writeFileSync(README, withTable(readFileSync(README, 'utf8')))
}
// What counts is the comparison: one for each area.
const compared = whole ? new Set([...Object.keys(rows), ...below]).size : 0
console.log(lastLine(compared - below.length, below.length, skips))
for (const { client } of targets) {
  client.agent.destroy()
  client.anonymous?.destroy()
}
await Promise.all(servers.map((server) => server.stop()))
process.exit(below.length > 0 ? 1 : 0)
