// `npm run bench:isolate` measures a thousand definitions in one isolate: the memory of the engine's process after a
// client has read everything, both in the process that created the definitions and in one that started with them.
// `-- --idle` also measures when the engine has had nothing to do for a while. `-- --heap 96` limits V8's heap to that
// many MB; it ends with an error if the heap and the buffers beside it exceed an isolate of Cloudflare.
//
// On Cloudflare a Worker and each Durable Object of its script run in isolates of 128 MB; several objects of a class
// may share one. Here all of them share one isolate and one heap, so what fits here fits there.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { startKedge } from '../cli/kedge-process.ts'
import { definition, DEFINITIONS, named } from './definition.ts'
import { HeapWatch } from './heap-watch.ts'
import { fill, open, pause, succeed } from './load.ts'
import type { Target } from './load.ts'
import { usageByCommand } from './process-usage.ts'
import { table } from './report.ts'
import { readKubeconfig } from './side.ts'

const { values: flags } = parseArgs({
  options: {
    count: { type: 'string', default: '1000' },
    heap: { type: 'string' },
    'v8-flags': { type: 'string', default: '' },
    inspector: { type: 'string', default: '127.0.0.1:21190' },
    port: { type: 'string', default: '0' },
    data: { type: 'string' },
    idle: { type: 'boolean', default: false },
  },
})
const count = Number(flags.count)
/** In MB. */
const ISOLATE = 128
/** Where the heap is limited, each of the three halves of V8's young generation has so many MB, as in the local engine. */
const HALF = 8
const CLIENTS = 8
/** Longer than controllers work after the last definition, and the front then waits until it collects. */
const IDLE_MS = 40_000
const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

const heap = flags.heap === undefined ? undefined : Number(flags.heap)
const env = {
  ...process.env,
  NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'engine-flags.mjs')).href}`,
  KEDGE_BENCH_V8_FLAGS: [
    flags['v8-flags'],
    heap === undefined ? '' : `--max-semi-space-size=${HALF} --max-old-space-size=${heap - 3 * HALF}`,
  ].join(' '),
  // the inspector makes the engine slower and larger
  ...(heap === undefined ? {} : { KEDGE_BENCH_INSPECTOR: flags.inspector }),
}
const directory = flags.data ?? mkdtempSync(join(tmpdir(), 'kedge-isolate-'))
const rows: string[][] = []

type Kedge = Awaited<ReturnType<typeof startKedge>>

const started = (): Promise<Kedge> => startKedge(['--data-dir', directory, '--port', flags.port], env)

function note(what: string, { process: { pid }, output }: Kedge): void {
  const usage = usageByCommand(pid!)
  const { residentBytes = 0, cpu = 0 } = usage.get('workerd') ?? {}
  rows.push([what, (residentBytes / 1e6).toFixed(0), cpu.toFixed(1)])
  process.stderr.write(`${rows.at(-1)!.join('  ')}\n`)
  // the front restarts an engine that ran out of memory, which would otherwise go unnoticed
  if (output().includes('ended unexpectedly')) throw new Error(`the engine ran out of memory:\n${output()}`)
}

async function textOf(target: Target, path: string, accept?: string): Promise<string> {
  const answer = await open(target, { method: 'GET', path, ...(accept === undefined ? {} : { accept }) })
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode}`)
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) text += chunk as string
  return text
}

async function create(target: Target): Promise<void> {
  await fill(target, CLIENTS, count, (n) => ({ method: 'POST', path: DEFINITIONS, body: definition(n) }))
  while ((await textOf(target, '/apis', DISCOVERY)).split('"resource":"things').length - 1 < count) await pause(200)
}

/** Reads the discovery and OpenAPI documents, which depend on all definitions. */
async function askDocuments(target: Target): Promise<void> {
  const get = (path: string, accept?: string) =>
    succeed(target, { method: 'GET', path, ...(accept === undefined ? {} : { accept }) })
  await get('/apis', DISCOVERY)
  await get('/apis')
  await get('/openapi/v2')
  await get('/openapi/v2')
  const { paths } = JSON.parse(await textOf(target, '/openapi/v3')) as { paths: Record<string, unknown> }
  for (const path of Object.keys(paths)) await get(`/openapi/v3/${path}`)
}

/** Reads the large document in its other form, all definitions, and a list of each kind. */
async function askMore(target: Target): Promise<void> {
  const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
  await succeed(target, { method: 'GET', path: '/openapi/v2', accept })
  await succeed(target, { method: 'GET', path: DEFINITIONS })
  await fill(target, CLIENTS, count, (n) => {
    const { group, plural } = named(n)
    return { method: 'GET', path: `/apis/${group}/v1/namespaces/default/${plural}` }
  })
}

/** Creates objects of a hundred kinds; each kind has a Durable Object of its own. */
async function createThings(target: Target): Promise<void> {
  const every = Math.ceil(count / 100)
  await fill(target, CLIENTS, Math.floor(count / every), (at) => {
    const { group, plural, kind } = named(at * every)
    const body = JSON.stringify({ apiVersion: `${group}/v1`, kind, metadata: { name: 'a' }, spec: {} })
    return { method: 'POST', path: `/apis/${group}/v1/namespaces/default/${plural}`, body }
  })
}

/** With `--idle`: the memory after the engine has collected its garbage. */
async function noteIdle(what: string, of: Kedge): Promise<void> {
  if (!flags.idle) return
  await pause(IDLE_MS)
  note(`${what}, and idle`, of)
}

let most = { used: 0, buffers: 0 }
async function watched(work: () => Promise<void>): Promise<void> {
  if (heap === undefined) return work()
  const watch = await HeapWatch.start(flags.inspector)
  await work()
  const { used, buffers } = await watch.stop()
  most = { used: Math.max(most.used, used), buffers: Math.max(most.buffers, buffers) }
}

let kedge = await started()
let target = readKubeconfig(kedge.kubeconfig)
note('an engine that began', kedge)
if (flags.data === undefined || (await textOf(target, DEFINITIONS)).length < 1_000_000)
  await watched(async () => {
    await create(target)
    note('created', kedge)
    await noteIdle('created', kedge)
    await askDocuments(target)
    note('created, and all documents', kedge)
    await noteIdle('created, and all documents', kedge)
    await askMore(target)
    note('the same, and all lists', kedge)
  })
await kedge.stop()

kedge = await started()
target = readKubeconfig(kedge.kubeconfig)
await watched(async () => {
  await succeed(target, { method: 'GET', path: '/readyz' })
  note('started with them', kedge)
  await askDocuments(target)
  note('started, and all documents', kedge)
  await noteIdle('started, and all documents', kedge)
  await askMore(target)
  note('the same, and all lists', kedge)
  await createThings(target)
  note('the same, with things of a hundred kinds', kedge)
})
await kedge.stop()
if (flags.data === undefined) rmSync(directory, { recursive: true, force: true })

console.log(table([`${count} definitions of 20 KB`, 'engine, MB', 'CPU, s'], rows))
if (heap !== undefined) {
  const { used, buffers } = most
  console.log(
    `\nthe limit of V8's heap ${heap} MB, seen at most ${used.toFixed(0)}; buffers at most ${buffers.toFixed(0)}`,
  )
  if (heap + buffers > ISOLATE) throw new Error(`more than an isolate of ${ISOLATE} MB has`)
}
process.exit(0)
