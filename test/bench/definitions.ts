// `npm run bench:definitions` measures the cost of CustomResourceDefinitions: the time until all are created and
// Established, the latency of other requests meanwhile, and the cost of discovery, OpenAPI, memory and a start with
// them. Draws docs/definitions.svg. `-- --beside --kubeconfig FILE [--pid N,…]` also measures and draws a running
// server (N: its processes), and deletes there what it created.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startKedge } from '../cli/kedge-process.ts'
import { definition, DEFINITIONS, named } from './definition.ts'
import { drawing } from './definitions-drawing.ts'
import { fill, open, part, pause, send, succeed } from './load.ts'
import type { Answer, Target } from './load.ts'
import { usageByCommand, usageOf } from './process-usage.ts'
import { table } from './report.ts'
import { configMap, readKubeconfig, timed } from './side.ts'

const { values: flags } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1,100,1000' },
    beside: { type: 'boolean', default: false },
    kubeconfig: { type: 'string' },
    pid: { type: 'string' },
    out: { type: 'string' },
  },
})
const sizes = flags.sizes.split(',').map(Number)
const CLIENTS = 8
/** Seconds after which the bench gives up definitions that are not Established. */
const PATIENCE = 1_200

/** Figures by the name of the measure. */
export type Figures = Record<string, number>

interface Server {
  readonly target: Target
  readonly pids: readonly number[]
}

const cpu = ({ pids }: Server): number => pids.reduce((sum, pid) => sum + usageOf(pid).cpu, 0)
const resident = ({ pids }: Server): number => pids.reduce((sum, pid) => sum + usageOf(pid).residentBytes / 1e6, 0)
const engine = ({ pids }: Server): number =>
  pids.reduce((sum, pid) => sum + (usageByCommand(pid).get('workerd')?.residentBytes ?? 0) / 1e6, 0)

/**
 * Creates the definitions and waits until all are Established. Another client sends a get every few milliseconds
 * meanwhile.
 */
async function create(server: Server, size: number): Promise<Figures> {
  const { target } = server
  const probe = await probing(target)
  const before = cpu(server)
  const began = performance.now()
  const seconds = (): number => (performance.now() - began) / 1000
  await fill(target, CLIENTS, size, (n) => ({ method: 'POST', path: DEFINITIONS, body: definition(n) }))
  const created = seconds()
  while ((await establishedCount(target)) < size && seconds() < PATIENCE) await pause(200)
  const established = seconds()
  const spent = cpu(server) - before
  const waits = await probe.stop()
  return {
    'created, s': created,
    'Established, s': established,
    'CPU until then, s': spent,
    'a get meanwhile, p99 ms': part(waits, 0.99),
    'the slowest get, ms': Math.max(...waits),
  }
}

/** Measures the time of a get, again and again. */
async function probing(target: Target): Promise<{ stop(): Promise<number[]> }> {
  const configMaps = '/api/v1/namespaces/default/configmaps'
  await send(target, { method: 'POST', path: configMaps, body: configMap('bench-definitions') }) // or exists
  const get = { method: 'GET', path: `${configMaps}/bench-definitions` }
  let isOver = false
  const times: number[] = []
  const running = (async () => {
    while (!isOver) {
      times.push((await succeed(target, get)).total)
      await pause(10)
    }
  })()
  return {
    async stop() {
      isOver = true
      await running
      return times
    },
  }
}

/** Counts by discovery, which is cheaper for both sides than a list of 20 MB. */
async function establishedCount(target: Target): Promise<number> {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  let text = ''
  for await (const chunk of (await open(target, { method: 'GET', path: '/apis', accept })).setEncoding('utf8'))
    text += chunk as string
  return text.split('"resource":"things').length - 1
}

const large = async (target: Target, path: string, accept?: string): Promise<Answer> =>
  succeed(target, { method: 'GET', path, ...(accept === undefined ? {} : { accept }) })

async function documents({ target }: Server, size: number): Promise<Figures> {
  const openapi = await large(target, '/openapi/v2')
  const index = await large(target, '/openapi/v3')
  const document = { method: 'GET', path: `/openapi/v3/apis/${named(size - 1).group}/v1` }
  // kube-apiserver serves the document a moment after the definition is Established
  while ((await send(target, document)).status === 404) await pause(100)
  const v3 = await succeed(target, document)
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const discovery = await large(target, '/apis', accept)
  return {
    'discovery, ms': await timed(target, { method: 'GET', path: '/apis', accept }),
    'discovery, KB': discovery.bytes / 1000,
    'OpenAPI v2 for the first time, ms': openapi.total,
    'OpenAPI v2, first byte, ms': openapi.firstByte,
    'OpenAPI v2 again, ms': (await large(target, '/openapi/v2')).total,
    'OpenAPI v2, MB': openapi.bytes / 1e6,
    'OpenAPI v3, index, ms': index.total,
    'OpenAPI v3, a group, ms': v3.total,
  }
}

async function kedge(size: number): Promise<Figures> {
  const dataDir = mkdtempSync(join(tmpdir(), 'kedge-definitions-'))
  let running = await startKedge(['--data-dir', dataDir, '--port', '0'])
  const serverOf = (): Server => ({ target: readKubeconfig(running.kubeconfig), pids: [running.process.pid!] })
  let server = serverOf()
  const created = await create(server, size)
  const createdMemory = resident(server)
  const told = await documents(server, size)
  const memory = resident(server)
  const engineMemory = engine(server)
  await running.stop()
  const began = performance.now()
  running = await startKedge(['--data-dir', dataDir, '--port', '0'])
  server = serverOf()
  await succeed(server.target, { method: 'GET', path: '/readyz' })
  const ready = performance.now() - began
  const { group, plural } = named(size - 1)
  await succeed(server.target, { method: 'GET', path: `/apis/${group}/v1/namespaces/default/${plural}` })
  const first = performance.now() - began
  const restarted = { 'resident when started, MB': resident(server), 'engine when started, MB': engine(server) }
  await running.stop()
  rmSync(dataDir, { recursive: true, force: true })
  return {
    ...created,
    'resident when created, MB': createdMemory,
    ...told,
    'resident after the documents, MB': memory,
    'engine after the documents, MB': engineMemory,
    'start to ready, ms': ready,
    'start to a list of the last, ms': first,
    ...restarted,
  }
}

async function other(server: Server, size: number): Promise<Figures> {
  const created = await create(server, size)
  const createdMemory = resident(server)
  const told = await documents(server, size)
  const memory = resident(server)
  await fill(server.target, CLIENTS, size, (n) => ({ method: 'DELETE', path: `${DEFINITIONS}/${named(n).name}` }))
  while ((await establishedCount(server.target)) > 0) await pause(500)
  return { ...created, 'resident when created, MB': createdMemory, ...told, 'resident after the documents, MB': memory }
}

const results = new Map<string, Figures[]>()
const sides: readonly (readonly [name: string, run: (size: number) => Promise<Figures>])[] = [
  ...(flags.beside && flags.kubeconfig !== undefined
    ? ([
        [
          'kube-apiserver',
          (size: number) =>
            other({ target: readKubeconfig(flags.kubeconfig!), pids: flags.pid?.split(',').map(Number) ?? [] }, size),
        ],
      ] as const)
    : []),
  ['kedge', kedge],
]
for (const size of sizes)
  for (const [name, run] of sides) {
    process.stderr.write(`${name}: ${size} definitions …\n`)
    const figures = await run(size)
    results.set(name, [...(results.get(name) ?? []), figures])
    for (const [what, value] of Object.entries(figures)) process.stderr.write(`  ${what}: ${value.toFixed(2)}\n`)
  }

const columns = [...results].flatMap(([name, all]) => all.map((figures, at) => ({ name, size: sizes[at]!, figures })))
const measures = [...new Set(columns.flatMap(({ figures }) => Object.keys(figures)))]
const cell = (value: number | undefined): string =>
  value === undefined ? '' : value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2)
console.log(
  table(
    ['definitions of 20 KB', ...columns.map(({ name, size }) => `${name}, ${size}`)],
    measures.map((what) => [what, ...columns.map(({ figures }) => cell(figures[what]))]),
  ),
)
writeFileSync(flags.out ?? join(import.meta.dirname, '../../docs/definitions.svg'), drawing(sizes, results))
process.exit(0)
