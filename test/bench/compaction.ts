// `npm run bench:compaction` compares creates in a shard while it drops 100,000 old states with creates in the same
// shard before. The two run in turn, in a new shard each time. It reports ratios, because single times mean little.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import type { Engine } from '../../src/cli/engine/engine.ts'
import { startEngine } from '../../src/cli/engine/engine.ts'
import { engineConfig } from '../../src/cli/engine/config.ts'
import { readWranglerConfig } from '../../src/cli/engine/wrangler-config.ts'
import { part } from './load.ts'

const { values: flags } = parseArgs({
  options: {
    states: { type: 'string', default: '100000' },
    bytes: { type: 'string', default: '1500' },
    clients: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
  },
})
const TIMES = 10
const objects = Number(flags.states) / TIMES
const value = 'x'.repeat(Number(flags.bytes))

const directory = mkdtempSync(join(tmpdir(), 'kedge-compaction-'))
const socketPath = join(directory, 'engine.sock')
const engine = await start()
const agent = new Agent({ keepAlive: true })
const quiet: number[][] = []
const busy: number[][] = []
for (let round = 0; round < Number(flags.rounds); round++) {
  const shard = `shard-${round}`
  await send(`/fill/${shard}?objects=${objects}&times=${TIMES}&bytes=${flags.bytes}`)
  await createUntil(shard, 'warm', after(1_000))
  const seconds = await compacting(shard, round)
  quiet.push(await createUntil(shard, 'quiet', after(Math.max(4, seconds) * 1000)))
}
print()
await engine.stop(300)
rmSync(directory, { recursive: true, force: true })
process.exit(0)

/** @returns the seconds that compaction took */
async function compacting(shard: string, round: number): Promise<number> {
  let isDone = false
  const began = performance.now()
  const compaction = send(`/compact/${shard}`).finally(() => (isDone = true))
  busy.push(await createUntil(shard, 'busy', () => isDone))
  const { dropped } = JSON.parse(await compaction) as { dropped: number }
  const seconds = (performance.now() - began) / 1000
  process.stderr.write(`round ${round}: ${dropped} states dropped in ${seconds.toFixed(1)} s\n`)
  return seconds
}

function after(milliseconds: number): () => boolean {
  const end = performance.now() + milliseconds
  return () => performance.now() >= end
}

/** @returns the milliseconds of each create */
async function createUntil(shard: string, prefix: string, isOver: () => boolean): Promise<number[]> {
  const times: number[] = []
  let n = 0
  const client = async (): Promise<void> => {
    while (!isOver()) {
      const began = performance.now()
      await send(`/create/${shard}/${prefix}-${n++}`, value)
      times.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: Number(flags.clients) }, client))
  return times
}

function send(path: string, body = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, path, method: 'POST', agent }, async (response) => {
      let text = ''
      for await (const part of response.setEncoding('utf8')) text += part as string
      if (response.statusCode === 200) resolve(text)
      else reject(new Error(`${path}: ${response.statusCode} ${text}`))
    })
    outgoing.on('error', reject).end(body)
  })
}

function print(): void {
  const rows = [
    ['', 'quiet', 'compacting', 'ratio'],
    ...[0.5, 0.9, 0.99, 0.999].map((share) => {
      const [without, during] = [quiet, busy].map((runs) => part(runs.flat(), share)) as [number, number]
      return [`p${share * 100} ms`, without.toFixed(2), during.toFixed(2), (during / without).toFixed(2)]
    }),
    ['creates', String(quiet.flat().length), String(busy.flat().length), ''],
  ]
  console.log(`\n${flags.states} states of ${flags.bytes} bytes, ${flags.clients} clients, ${flags.rounds} rounds\n`)
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
}

async function start(): Promise<Engine> {
  const objectsPath = join(directory, 'objects')
  mkdirSync(objectsPath)
  await build({
    entryPoints: [join(import.meta.dirname, 'compaction-worker.ts')],
    outfile: join(directory, 'worker', 'index.js'),
    bundle: true,
    format: 'esm',
    target: 'es2024',
    external: ['cloudflare:workers'],
  })
  const { compatibilityDate, compatibilityFlags } = readWranglerConfig(join(import.meta.dirname, '../../wrangler.toml'))
  const worker = {
    compatibilityDate,
    compatibilityFlags,
    vars: {},
    durableObjects: [{ name: 'SHARDS', className: 'BenchShard' }],
  }
  const configFile = join(directory, 'engine.capnp')
  writeFileSync(
    configFile,
    engineConfig({
      worker,
      modules: ['index.js'],
      settings: {},
      objects: objectsPath,
      socket: socketPath,
    }),
  )
  const started = startEngine(configFile, () => {})
  await started.listening
  return started
}
