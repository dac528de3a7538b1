// `npm run size`: the gzipped size of the Worker, as Cloudflare counts it. The entry and its static imports must stay
// below the limit. Lazily loaded chunks are listed too.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { WORKER } from '../fresh-build.mjs'
import { build } from './build.ts'

const LIMIT = 1_000_000

const { modules } = await build()
const sources = new Map(modules.map((name) => [name, readFileSync(join(WORKER, name))]))
const loaded = alwaysLoaded(modules[0] ?? '')
let total = 0
for (const [name, source] of sources) {
  const size = gzipSync(source, { level: 9 }).length
  if (loaded.has(name)) total += size
  console.log(`${size.toString().padStart(9)} ${loaded.has(name) ? 'always   ' : 'on demand'} ${name}`)
}
console.log(`${total.toString().padStart(9)} bytes gzipped are always loaded; the limit is ${LIMIT}`)
if (total > LIMIT) process.exitCode = 1

/** The entry and all its static imports. */
function alwaysLoaded(entry: string, found = new Set<string>()): Set<string> {
  if (found.has(entry)) return found
  found.add(entry)
  const imports =
    sources
      .get(entry)
      ?.toString()
      .matchAll(/\b(?:from|import)\s*"\.\/([^"]+)"/g) ?? []
  for (const [, name = ''] of imports) alwaysLoaded(name, found)
  return found
}
