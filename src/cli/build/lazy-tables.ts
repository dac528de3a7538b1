/**
 * The form of the generated tables (`…-table.json`) in the Worker. As object literals they would be compiled and
 * built at every start, needed or not. Tables that are imported statically are text, parsed when a member is first
 * read. Those that are imported dynamically are modules of compressed data, which the engine does not read before
 * (src/base/unpacked-table.ts reads them).
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Plugin } from 'esbuild'

export const lazyTables: Plugin = {
  name: 'lazy-tables',
  setup(build) {
    build.onResolve({ filter: /-table\.json$/ }, ({ path, resolveDir, kind }) =>
      kind === 'dynamic-import' ? { path: `${resolve(resolveDir, path)}.gz`, namespace: PACKED } : undefined,
    )
    build.onLoad({ filter: /-table\.json\.gz$/, namespace: PACKED }, ({ path }) => ({
      contents: packedTable(readFileSync(path.slice(0, -'.gz'.length), 'utf8')),
      loader: 'copy',
    }))
    build.onLoad({ filter: /-table\.json$/ }, ({ path }) => ({ contents: lazyTable(readFileSync(path, 'utf8')) }))
  },
}

const PACKED = 'packed-table'

/** The file of a name in esbuild's list of inputs. */
export const fileOfInput = (input: string): string =>
  input.startsWith(`${PACKED}:`) ? input.slice(PACKED.length + 1, -'.gz'.length) : input

/** gzip of the JSON, as short as it can be. */
const packedTable = (json: string): Uint8Array => gzipSync(JSON.stringify(JSON.parse(json)), { level: 9 })

/** Larger tables are parsed as a whole. */
const MAX_GETTERS = 20
/** Average characters of JSON for a value, above which a table is only a few long texts. */
const LONG_TEXTS = 200

/**
 * A module with the same default export as the JSON. A table of a few long texts stays a literal, because parsing
 * would only copy it.
 * @param json of an object, whose members become getters; or of another value, which is parsed with the module
 */
export function lazyTable(json: string): string {
  const table: unknown = JSON.parse(json)
  const compact = JSON.stringify(table)
  if (compact.length / countValues(table) > LONG_TEXTS) return `export default ${compact}`
  const text = `JSON.parse(${JSON.stringify(compact)})`
  const names = typeof table === 'object' && table !== null && !Array.isArray(table) ? Object.keys(table) : []
  if (names.length === 0 || names.length > MAX_GETTERS) return `export default ${text}`
  const members = names.map((name) => JSON.stringify(name)).map((name) => `get ${name}() { return table()[${name}] }`)
  return `let parsed\nconst table = () => (parsed ??= ${text})\nexport default { ${members.join(', ')} }`
}

const countValues = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, member: unknown) => sum + countValues(member), 1)
    : 1
