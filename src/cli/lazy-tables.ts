/**
 * How the generated tables (`…-table.json`) lie in the Worker: as text, parsed when a member is first read. A table as
 * an object literal would be compiled and built at every start, whether it is needed or not.
 */
import { readFileSync } from 'node:fs'
import type { Plugin } from 'esbuild'

export const lazyTables: Plugin = {
  name: 'lazy-tables',
  setup(build) {
    build.onLoad({ filter: /-table\.json$/ }, ({ path }) => ({ contents: lazyTable(readFileSync(path, 'utf8')) }))
  },
}

/** Tables of more members are read as a whole. */
const MAX_GETTERS = 20

/**
 * A module with the same default export as the JSON has.
 * @param json of an object, whose members become getters; or anything else, which is parsed with the module
 */
export function lazyTable(json: string): string {
  const table: unknown = JSON.parse(json)
  const text = `JSON.parse(${JSON.stringify(JSON.stringify(table))})`
  const names = typeof table === 'object' && table !== null && !Array.isArray(table) ? Object.keys(table) : []
  if (names.length === 0 || names.length > MAX_GETTERS) return `export default ${text}`
  const members = names.map((name) => JSON.stringify(name)).map((name) => `get ${name}() { return table()[${name}] }`)
  return `let parsed\nconst table = () => (parsed ??= ${text})\nexport default { ${members.join(', ')} }`
}
