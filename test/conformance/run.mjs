// `npm run conformance`: all recordings against a fresh server, a table area by area, and the comparison with the baseline.
//   --area a,b        only these areas (also: mutations, kubectl)     --kind REGEX   only these files of mutations
//   --id REGEX        only these scenarios and cases                  --jobs N       scenarios at once (default 16)
//   --report FILE     every difference: pointer, wanted, got          --order        keys must come in the recorded order too
//   --kubeconfig FILE a server that runs already                      --kubectl PATH --keep (leave objects)  --salt TEXT
//   --times           what took longest, and each area's sum
//   --raise           write what was reached to baseline.json where it is more, and the table into the README
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startKedge } from '../cli/kedge-process.ts'
import { findKubectlOrNot } from '../clients/kubectl/kubectl.ts'
import { Client, pool, readRecording } from './client.mjs'
import { diff, lenient, open } from './compare.mjs'
import { fallenAreas, lastLine } from './fallen.ts'
import { runSession } from './kubectl-session.mjs'
import { delta, lenient as lenientCase, runKind, same } from './mutations.mjs'
import { runScenario, useSalt } from './scenario.mjs'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const RECORDINGS = join(HERE, 'recordings')
const BASELINE = join(HERE, 'baseline.json')
/** The kubectl whose texts were recorded. */
const RECORDED_KUBECTL = '1.36'
/** So long at most the failures of an area that fell below its baseline are tried once more: a busy machine must not fail a change. */
const SECOND_CHANCE_MS = 120_000
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
    times: { type: 'boolean', default: false },
  },
})
const areas = opt.area?.split(',')
const wanted = (area) => !areas || areas.includes(area)
const matches = (id) => !opt.id || new RegExp(opt.id).test(id)
if (opt.kubectl) process.env.KUBECTL = opt.kubectl

// ---------------------------------------------------------------- what is run
/** A thing with an outcome: {id, area, run(client) → {exact, lenient, differences: text}}. Those of `alone` run one after the other, at the end. */
const recordings = (directory) => readdirSync(directory).filter((f) => f.endsWith('.jsonl.gz'))

/** Areas that this machine cannot run, and why: the last line says them. */
const skips = new Map()

function scenarios() {
  const all = recordings(RECORDINGS)
    .filter((f) => f !== 'kubectl.jsonl.gz')
    .flatMap((f) => readRecording(join(RECORDINGS, f)))
  return all
    .filter((s) => wanted(s.area) && matches(s.id))
    .map((s) => ({
      id: s.id,
      area: s.area,
      alone: s.alone,
      async run(client) {
        let got
        try {
          got = open(await runScenario(client, s, { keep: opt.keep }), s)
        } catch (e) {
          return { exact: false, lenient: false, differences: [['', 'an answer', String(e)]] }
        }
        const want = open(s.expect, s)
        const differences = diff(want, got, '', [], opt.order)
        return {
          exact: differences.length === 0,
          lenient: differences.length === 0 || diff(lenient(want), lenient(got)).length === 0,
          differences,
        }
      },
    }))
}

function sessions() {
  const all = readRecording(join(RECORDINGS, 'kubectl.jsonl.gz')).filter((s) => wanted('kubectl') && matches(s.id))
  if (all.length === 0) return []
  const { kubectl, missing } = findKubectlOrNot()
  if (kubectl === undefined) return skipSessions(missing)
  if (!kubectl.version.startsWith(RECORDED_KUBECTL + '.'))
    return skipSessions(`they need kubectl ${RECORDED_KUBECTL}, not ${kubectl.version}`)
  let config
  return all.map((s) => ({
    id: s.id,
    area: 'kubectl',
    alone: s.alone,
    weight: 2,
    async run(client, kubeconfig) {
      config ??= JSON.parse(
        execFileSync(kubectl.path, ['config', 'view', '--raw', '--flatten', '-o', 'json', '--kubeconfig', kubeconfig], {
          encoding: 'utf8',
        }),
      )
      let got
      try {
        got = await runSession(client, kubectl.path, config, s)
      } catch (e) {
        got = [{ error: String(e) }]
      }
      const differences = diff(s.expect, got)
      return {
        exact: differences.length === 0,
        lenient: !diff(codes(s.expect), codes(got)).length,
        differences,
        about: s.steps.map((x, i) => (x.run ? `${i}: kubectl ${x.run.join(' ')}\n` : '')).join(''),
      }
    },
  }))
}
function skipSessions(why) {
  skips.set('kubectl', why)
  console.log(`kubectl sessions are skipped: ${why}`)
  return []
}
/** Of a session the exit codes alone. */
const codes = (results) => results.map((r) => r.code ?? (r.error ? 'error' : null))

/** One item a kind; its outcome is a list. */
function kinds() {
  const directory = join(RECORDINGS, 'mutations')
  if (!wanted('mutations')) return []
  return recordings(directory)
    .filter((f) => !opt.kind || new RegExp(opt.kind).test(basename(f, '.jsonl.gz')))
    .map((f) => ({
      name: basename(f, '.jsonl.gz'),
      async run(client, id) {
        const [head, ...all] = readRecording(join(directory, f))
        const cases = all.filter((c) => matches(c.id) && (!id || id.has(c.id)))
        const got = new Map()
        let error
        try {
          await runKind(client, head, cases, { jobs: 4, done: (caseId, answer) => got.set(caseId, answer) })
        } catch (e) {
          error = String(e)
        }
        const judge = (caseId, want, c) => {
          const have = got.get(caseId) ?? { error: error ?? 'no answer' }
          const exact = same(want, have)
          const plain = (v) => JSON.parse(JSON.stringify(lenientCase(v)))
          const text =
            exact ||
            `## ${this.name} ${caseId}${c ? `\n   ${c.verb} ${c.base} ${JSON.stringify(c.patch)}` : ''}\n` +
              `  want ${JSON.stringify(want)}\n  got  ${JSON.stringify(have)}` +
              (c
                ? ''
                : '\n  ' +
                  delta(want.body, have.body ?? {})
                    .map((d) => JSON.stringify(d))
                    .join('\n  '))
          return { id: caseId, area: 'mutations', exact, lenient: exact || same(plain(want), plain(have)), text }
        }
        return [
          ...Object.entries(head.expect)
            .filter(([b]) => matches('base/' + b) && (!id || id.has('base/' + b)))
            .map(([b, want]) => judge('base/' + b, want)),
          ...cases.map((c) => judge(c.id, c.expect, c)),
        ]
      },
    }))
}

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
const items = [...scenarios(), ...sessions()]
const mutations = kinds()
planned =
  items.length +
  mutations.reduce((n, k) => {
    const [head, ...all] = readRecording(join(RECORDINGS, 'mutations', k.name + '.jsonl.gz'))
    return (
      n + Object.keys(head.expect).filter((b) => matches('base/' + b)).length + all.filter((c) => matches(c.id)).length
    )
  }, 0)
if (planned === 0) {
  console.error('nothing is selected')
  process.exit(2)
}
const server = opt.kubeconfig ? undefined : await startKedge()
const kubeconfig = opt.kubeconfig ?? server.kubeconfig
const client = new Client(kubeconfig)
useSalt(opt.salt)

const judge = async (item) => {
  const start = performance.now()
  const result = await item.run(client, kubeconfig)
  const seconds = (performance.now() - start) / 1000
  return { seconds, id: item.id, area: item.area, item, ...result, text: result.exact || text(item, result) }
}
/** [seconds, area, id] of every item, for --times. */
const times = []
const timed = async (area, id, f) => {
  const start = performance.now()
  await f()
  times.push([(performance.now() - start) / 1000, area, id])
  progress()
}
const one = (item) =>
  timed(item.area, item.id, async () => {
    outcomes.push(await judge(item))
  })
const jobs = Number(opt.jobs)
await pool(
  items.filter((i) => !i.alone && i.area !== 'kubectl'),
  jobs,
  one,
)
await pool(
  items.filter((i) => !i.alone && i.area === 'kubectl'),
  Math.ceil(jobs / 2),
  one,
)
await pool(mutations, Math.ceil(jobs / 2), (kind) =>
  timed('mutations', kind.name, async () => {
    for (const outcome of await kind.run(client)) outcomes.push({ ...outcome, kind })
  }),
)
await pool(
  items.filter((i) => i.alone),
  1,
  one,
)
progress(true)

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
const whole = !opt.id && !opt.kind && !opt.order
const baseline = readBaseline()
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
    for (const again of await kind.run(client, ids))
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
if (opt.raise && whole) {
  for (const [area, row] of Object.entries(rows)) baseline[area] = Math.max(baseline[area] ?? 0, row.exact)
  writeFileSync(BASELINE, JSON.stringify(Object.fromEntries(Object.entries(baseline).sort()), undefined, 2) + '\n')
  writeFileSync(README, withTable(readFileSync(README, 'utf8')))
}
// What counts is the comparison: one for each area.
const compared = whole ? new Set([...Object.keys(rows), ...below]).size : 0
console.log(lastLine(compared - below.length, below.length, skips))
client.agent.destroy()
client.anonymous?.destroy()
await server?.stop()
process.exit(below.length > 0 ? 1 : 0)
