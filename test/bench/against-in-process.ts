// `npm run bench -- --against DIR --in-process` compares the steps of a request in this tree with those of another
// checkout. It bundles both into this process with a storage in memory. Without the cost and noise of the front, the
// engine's network and its disk, a change of the code's own cost is visible in seconds.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { build } from 'esbuild'
import type { answer } from '../../src/server.ts'
import type { memoryServer } from '../request-in-memory.ts'
import { cpu, median } from './in-process.ts'
import { TABLE } from './lists.ts'
import type { Call } from './load.ts'
import { medianInterval } from './median-interval.ts'
import { matchingPolicies } from './policies.ts'
import { table } from './report.ts'
import { configMap } from './side.ts'

interface Tree {
  readonly answer: typeof answer
  readonly memoryServer: typeof memoryServer
}

/** Exports that both trees have. */
const ENTRY = `export { answer } from './src/server.ts'
export { memoryServer } from './test/request-in-memory.ts'`

async function treeIn(directory: string): Promise<Tree> {
  const made = mkdtempSync(join(import.meta.dirname, '../../node_modules/.kedge-bench-'))
  try {
    const outfile = join(made, 'tree.mjs')
    await build({
      stdin: { contents: ENTRY, resolveDir: directory, loader: 'ts' },
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'es2024',
      logLevel: 'warning',
    })
    return (await import(pathToFileURL(outfile).href)) as Tree
  } finally {
    rmSync(made, { recursive: true })
  }
}

setFlagsFromString('--expose-gc')
// the flag adds `gc` to new contexts only
const collectGarbage = runInNewContext('gc') as () => void

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const PATH = '/api/v1/namespaces/default/configmaps'
const OBJECTS = 300

type Turn = () => Promise<void>

interface Measure {
  readonly what: string
  readonly requests: number
  readonly request: (n: number) => Pick<Call, 'method' | 'path' | 'accept' | 'contentType'> & { readonly body?: string }
  /** Objects that the case creates are dropped with its server. */
  readonly isFresh?: true
  /** Objects that are created before. */
  readonly before?: readonly { readonly path: string; readonly body: object }[]
}

const POLICIES = 100

/** Makes each write a change. */
let count = 0

const measures: readonly Measure[] = [
  { what: 'get', requests: 300, request: () => ({ method: 'GET', path: `${PATH}/listed-7` }) },
  { what: `list of ${OBJECTS}`, requests: 4, request: () => ({ method: 'GET', path: PATH }) },
  {
    what: 'create 2 KB',
    requests: 50,
    request: (n) => ({ method: 'POST', path: PATH, body: configMap(`made-${n}`) }),
    isFresh: true,
  },
  {
    what: `Table of ${OBJECTS}`,
    requests: 4,
    request: () => ({ method: 'GET', path: PATH, accept: TABLE }),
  },
  {
    what: '1 % by label',
    requests: 20,
    request: () => ({ method: 'GET', path: `${PATH}?labelSelector=one%3Dpercent` }),
  },
  {
    what: `create with ${POLICIES} policies`,
    requests: 50,
    request: () => ({ method: 'POST', path: PATH, body: configMap(`policed-${count++}`) }),
    before: matchingPolicies(POLICIES),
  },
  {
    what: 'update by merge patch',
    requests: 50,
    request: (n) => ({
      method: 'PATCH',
      path: `${PATH}/listed-${n}`,
      body: `{"data":{"number":"${count++}"}}`,
      contentType: 'application/merge-patch+json',
    }),
  },
  {
    what: 'server-side apply',
    requests: 50,
    request: (n) => ({
      method: 'PATCH',
      path: `${PATH}/listed-${n}?fieldManager=bench&force=true`,
      body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"listed-${n}"},"data":{"applied":"${count++}"}}`,
      contentType: 'application/apply-patch+yaml',
    }),
  },
]

async function turnOf({ answer, memoryServer }: Tree, measure: Measure): Promise<() => Promise<Turn>> {
  const serve = async (): Promise<Turn> => {
    const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
    const ask = async (call: ReturnType<Measure['request']>): Promise<void> => {
      const { method, path, body, accept, contentType = 'application/json' } = call
      const headers = {
        Authorization: `Bearer ${TOKEN}`,
        ...(accept && { Accept: accept }),
        ...(body && { 'Content-Type': contentType }),
      }
      const response = await answer(server.request(path, { method, headers, ...(body && { body }) }))
      await response.text()
      if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status}`)
    }
    const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'default' } }
    await server.put('', 'namespaces', { ...namespace, status: { phase: 'Active' } })
    for (const { path, body } of measure.before ?? []) await ask({ method: 'POST', path, body: JSON.stringify(body) })
    const listed = measure.isFresh ? 1 : OBJECTS
    for (let n = 0; n < listed; n++) await ask({ method: 'POST', path: PATH, body: configMap(`listed-${n}`) })
    return async () => {
      for (let n = 0; n < measure.requests; n++) await ask(measure.request(n))
    }
  }
  if (measure.isFresh) return serve
  const kept = await serve()
  return () => Promise.resolve(kept)
}

const WARM_UP = 40

/**
 * @param pairs the number of pairs of turns
 * @param only runs cases whose name begins with this
 */
export async function besideCheckoutInProcess(directory: string, pairs: number, only: string): Promise<void> {
  // workerd has this class
  Object.assign(globalThis, { IdentityTransformStream: TransformStream })
  const [other, own] = [await treeIn(directory), await treeIn(join(import.meta.dirname, '../..'))]
  const rows: string[][] = []
  for (const measure of measures.filter(({ what }) => what.startsWith(only))) {
    const prepared = { other: await turnOf(other, measure), own: await turnOf(own, measure) }
    const cost = async (side: 'other' | 'own'): Promise<number> => {
      const turn = await prepared[side]()
      // so that neither side pays for the other's garbage
      collectGarbage()
      const before = cpu()
      await turn()
      return (cpu() - before) / measure.requests
    }
    const found: { readonly other: number; readonly own: number }[] = []
    for (let round = -WARM_UP; round < pairs; round++) {
      const isFirst = round % 2 === 0
      const early = await cost(isFirst ? 'other' : 'own')
      const late = await cost(isFirst ? 'own' : 'other')
      if (round >= 0) found.push(isFirst ? { other: early, own: late } : { other: late, own: early })
    }
    const ratios = found.map(({ other, own }) => own / other)
    rows.push([
      measure.what,
      median(found.map(({ other }) => other)).toFixed(1),
      median(found.map(({ own }) => own)).toFixed(1),
      median(ratios).toFixed(3),
      medianInterval(ratios)
        .map((end) => end.toFixed(3))
        .join('–'),
      String(pairs),
    ])
    process.stderr.write(`  ${rows.at(-1)!.join(' | ')}\n`)
  }
  console.log(table(['CPU, µs each', 'other', 'this', 'ratio', '95 % interval', 'pairs'], rows))
}
