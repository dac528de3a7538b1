// Measures the cost of a Pod's types for the isolate that uses them first. workerd runs the schema in fresh isolates
// and asks each once. The figure is the CPU time of the engine's main thread, less that of a request that needs no
// type.
import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { build } from 'esbuild'
import { startEngine } from '../../src/cli/engine/engine.ts'
import { lazyTables } from '../../src/cli/build/lazy-tables.ts'
import { millisecondsOfMain } from './process-usage.ts'

const ISOLATES = 24

type Asked = 'all' | 'touched'

export interface FirstUse {
  readonly types: Readonly<Record<Asked, number>>
  /** Milliseconds of CPU. */
  readonly milliseconds: Readonly<Record<Asked, number>>
}

/** @param directory a path that does not exist yet */
export async function firstUses(directory: string): Promise<FirstUse[]> {
  mkdirSync(directory)
  await build({
    entryPoints: [join(import.meta.dirname, 'first-use-worker.ts')],
    outfile: join(directory, 'worker.js'),
    bundle: true,
    format: 'esm',
    target: 'es2024',
    minify: true,
    logLevel: 'warning',
    plugins: [lazyTables],
  })
  const config = join(directory, 'engine.capnp')
  writeFileSync(config, configOf(directory))
  const engine = startEngine(config, () => {})
  const agent = new Agent({ keepAlive: true })
  const ask = async (isolate: string, path: string): Promise<number> =>
    Number(await get(agent, directory, isolate, path))
  const cpuOf = async (isolate: string, path: string): Promise<number> => {
    const before = millisecondsOfMain(engine.pid)
    await ask(isolate, path)
    return millisecondsOfMain(engine.pid) - before
  }
  const uses: FirstUse[] = []
  try {
    await engine.listening
    for (let turn = 0; turn < ISOLATES; turn++) {
      const milliseconds = { all: 0, touched: 0 }
      const types = { all: 0, touched: 0 }
      for (const asked of ['all', 'touched'] as const) {
        const isolate = `${asked}-${turn}`
        for (let request = 0; request < 3; request++) await ask(isolate, 'nothing')
        const nothing = await cpuOf(isolate, 'nothing')
        milliseconds[asked] = (await cpuOf(isolate, asked)) - nothing
        types[asked] = await ask(isolate, asked)
      }
      uses.push({ types, milliseconds })
    }
    return uses
  } finally {
    agent.destroy()
    await engine.stop(0)
  }
}

function configOf(directory: string): string {
  const isolates = Array.from({ length: ISOLATES }, (_, turn) => [`all-${turn}`, `touched-${turn}`]).flat()
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [${isolates.map((name) => `(name = "${name}", worker = .schema)`).join(', ')}],
  sockets = [${isolates.map((name) => `(name = "${name}", address = "unix:${join(directory, name)}", service = "${name}", http = ())`).join(', ')}]
);
const schema :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-01-01"
);
`
}

function get(agent: Agent, directory: string, isolate: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, socketPath: join(directory, isolate), path: `/${path}` }, (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (text: string) => (body += text))
      answer.on('end', () => resolve(body))
    })
    sent.on('error', reject).end()
  })
}
