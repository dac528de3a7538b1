// `npm run bench:growth`: how the cost of each kind of request grows with the number of objects. Draws docs/growth.svg
// and prints the table behind it; values are relative to the smallest size, for single times mean little.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from '../e2e/api-client.ts'
import { send, targetOf } from './load.ts'
import type { Call, Target } from './load.ts'
import { usageOf } from './process-usage.ts'
import { readFileSync } from 'node:fs'

const { values: flags } = parseArgs({
  options: { sizes: { type: 'string', default: '1000,10000,100000' }, out: { type: 'string' } },
})
const sizes = flags.sizes.split(',').map(Number)
const COLLECTION = '/api/v1/namespaces/growth/configmaps'
const VALUE = 'x'.repeat(1_500)
const RUNS = 5

type Measures = Record<string, number>

/** Milliseconds, but for what says otherwise. */
async function measure(server: KedgeProcess, target: Target, client: ApiClient): Promise<Measures> {
  const at = (query: string): Call => ({ method: 'GET', path: COLLECTION + query })
  const now = (await client.send('GET', `${COLLECTION}?limit=1`)).body.metadata.resourceVersion
  await client.send('PUT', `${COLLECTION}/g0000000`, { metadata: { name: 'g0000000' }, data: { value: 'changed' } })
  return {
    get: await median(target, { method: 'GET', path: `${COLLECTION}/g0000500` }, 50),
    create: await perCreate(target),
    'page of 500': await median(target, at('?limit=500')),
    '1 % selector': await median(target, at('?labelSelector=one%3Dpercent')),
    'full list': await median(target, at('')),
    'list at an old revision': await median(target, at(`?resourceVersion=${now}&resourceVersionMatch=Exact`)),
    'resident MB': usageOf(server.process.pid!).residentBytes / 1e6,
  }
}

async function median(target: Target, call: Call, runs = RUNS): Promise<number> {
  await send(target, call)
  const times: number[] = []
  for (let run = 0; run < runs; run++) times.push((await send(target, call)).total)
  return times.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? 0
}

let made = 0

/** With sixteen at once. */
async function perCreate(target: Target): Promise<number> {
  const creates = 480
  const began = performance.now()
  let n = 0
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (n++ < creates)
        await send(target, { method: 'POST', path: COLLECTION, body: configMap(`z${made++}`, false) })
    }),
  )
  return (performance.now() - began) / creates
}

const configMap = (name: string, percent: boolean): string =>
  JSON.stringify({ metadata: { name, labels: { one: percent ? 'percent' : 'other' } }, data: { value: VALUE } })

async function fill(target: Target, from: number, to: number): Promise<void> {
  let n = from
  const writer = async (): Promise<void> => {
    for (let own = n++; own < to; own = n++) {
      const body = configMap(`g${String(own).padStart(7, '0')}`, own % 100 === 0)
      const { status } = await send(target, { method: 'POST', path: COLLECTION, body })
      if (status !== 201) throw new Error(`create answered ${status}`)
      if (own % 5_000 === 0) process.stderr.write(`\r${own} objects …`)
    }
  }
  await Promise.all(Array.from({ length: 64 }, writer))
  process.stderr.write('\r')
}

function targetIn(server: KedgeProcess): Target {
  const config = JSON.parse(readFileSync(server.kubeconfig, 'utf8')) as { users: [{ user: { token: string } }] }
  return targetOf(server.url, { token: config.users[0].user.token })
}

const dataDir = mkdtempSync(join(tmpdir(), 'kedge-growth-'))
let server = await startKedge(['--data-dir', dataDir, '--port', '0'])
const results: Measures[] = []
let filled = 0
for (const size of sizes) {
  const target = targetIn(server)
  const client = new ApiClient(server.kubeconfig)
  if (filled === 0) await client.send('POST', '/api/v1/namespaces', { metadata: { name: 'growth' } })
  await fill(target, filled, size)
  filled = size
  const measures = await measure(server, target, client)
  client.close()
  await server.stop()
  const began = performance.now()
  server = await startKedge(['--data-dir', dataDir, '--port', '0'])
  await send(targetIn(server), { method: 'GET', path: `${COLLECTION}/g0000500` })
  results.push({ ...measures, 'start to first get': performance.now() - began })
}
await server.stop()
rmSync(dataDir, { recursive: true, force: true })

const names = Object.keys(results[0] ?? {})
console.log(`| relative to ${sizes[0]} objects | ${sizes.join(' | ')} |\n|---|${sizes.map(() => '---|').join('')}`)
for (const name of names) console.log(`| ${name} | ${results.map((r) => relative(r, name).toFixed(2)).join(' | ')} |`)
writeFileSync(flags.out ?? join(import.meta.dirname, '../../docs/growth.svg'), drawing())
process.exit(0)

function relative(measures: Measures, name: string): number {
  return (measures[name] ?? 0) / (results[0]?.[name] ?? 1)
}

/** Both axes logarithmic: what grows with the number of objects is a diagonal, what does not a level line. */
function drawing(): string {
  const [width, height, left, top] = [720, 440, 60, 40]
  const colours = ['#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b', '#e377c2', '#7f7f7f']
  const largest = Math.max(10, ...results.flatMap((r) => names.map((name) => relative(r, name))))
  const smallest = Math.min(1, ...results.flatMap((r) => names.map((name) => relative(r, name))))
  const x = (size: number): number =>
    left +
    ((Math.log10(size) - Math.log10(sizes[0]!)) / (Math.log10(sizes.at(-1)!) - Math.log10(sizes[0]!) || 1)) *
      (width - left - 200)
  const y = (value: number): number =>
    height -
    50 -
    ((Math.log10(value) - Math.log10(smallest)) / (Math.log10(largest) - Math.log10(smallest))) * (height - top - 60)
  const lines = names.map((name, n) => {
    const points = results.map((r, i) => `${x(sizes[i]!).toFixed(1)},${y(relative(r, name)).toFixed(1)}`).join(' ')
    const key = `<text x="${width - 185}" y="${top + 14 + n * 20}" fill="${colours[n]}">${name}</text>`
    return `<polyline points="${points}" fill="none" stroke="${colours[n]}" stroke-width="2"/>${key}`
  })
  const ticks = sizes.map((size) => `<text x="${x(size)}" y="${height - 25}" text-anchor="middle">${size}</text>`)
  const levels = [1, 10, 100].filter((level) => level <= largest)
  const grid = levels.map(
    (level) =>
      `<line x1="${left}" x2="${width - 200}" y1="${y(level)}" y2="${y(level)}" stroke="#ddd"/><text x="${left - 8}" y="${y(level) + 4}" text-anchor="end">${level}×</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<rect width="${width}" height="${height}" fill="white"/>
<text x="${left}" y="22" font-size="14">Cost against number of objects of 2 KB, relative to ${sizes[0]}</text>
${[...grid, ...ticks, ...lines].join('\n')}
</svg>
`
}
