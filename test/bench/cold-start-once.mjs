// One cold start for cold-start.ts, in a separate process whose engine has compiled nothing yet. Prints milliseconds of
// CPU as JSON. It is JavaScript, so that the process loads no TypeScript compiler.
//
//   node --experimental-vm-modules cold-start-once.mjs MODULES POD
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SourceTextModule, SyntheticModule } from 'node:vm'

const [modules, podFile] = process.argv.slice(2)
const CALLS = 2000

/**
 * CPU time, because other processes share the machine. It is that of all threads, the only one that is exact between
 * two kernel ticks.
 */
const cpu = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function timed(work) {
  const began = cpu()
  await work()
  return cpu() - began
}

const sourceOf = (directory, name) => readFileSync(join(directory, name), 'utf8')

/** The modules that are always loaded: the entry's static imports, transitively. */
const platform = new SyntheticModule(['DurableObject'], function () {
  this.setExport('DurableObject', class {})
})
const loaded = new Map()
async function load(directory, name) {
  if (name.startsWith('cloudflare:')) return platform
  if (!loaded.has(name)) loaded.set(name, new SourceTextModule(sourceOf(directory, name), { identifier: name }))
  return loaded.get(name)
}

await timed(() => {})
let worker
const compile = await timed(async () => {
  worker = await load(modules, 'index.js')
  await worker.link((name) => load(modules, name.replace('./', '')))
})
const evaluate = await timed(() => worker.evaluate())

const text = readFileSync(podFile, 'utf8')
for (let call = 0; call < CALLS; call++) JSON.stringify(JSON.parse(text))
const json = await timed(() => {
  for (let call = 0; call < CALLS; call++) JSON.stringify(JSON.parse(text))
})
console.log(JSON.stringify({ compile, evaluate, json: json / CALLS }))
