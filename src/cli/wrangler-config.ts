// wrangler.toml is the one place that says which bindings, compatibility date and flags the Worker runs with.
// This reads the few forms of TOML that it uses, so that starting needs no TOML library.
import { setOwn } from '../api/own.ts'
import { readFileSync } from 'node:fs'

export interface WranglerConfig {
  readonly compatibilityDate: string
  readonly compatibilityFlags: readonly string[]
  /** Variables with their default values, by name. */
  readonly vars: Readonly<Record<string, string>>
  readonly durableObjects: readonly DurableObjectBinding[]
}

export interface DurableObjectBinding {
  readonly name: string
  readonly className: string
}

type Value = string | boolean | number | Value[]
type Table = Record<string, Value>

export function readWranglerConfig(file: string): WranglerConfig {
  return parseWranglerConfig(readFileSync(file, 'utf8'))
}

/** Throws an Error that names the line it does not understand. */
export function parseWranglerConfig(text: string): WranglerConfig {
  const tables = readTables(text)
  const top = tables.find((table) => table.name === '')?.values ?? {}
  return {
    compatibilityDate: stringOf(top['compatibility_date'], 'compatibility_date'),
    compatibilityFlags: listOf(top['compatibility_flags'] ?? [], 'compatibility_flags'),
    vars: Object.fromEntries(
      Object.entries(tables.find((table) => table.name === 'vars')?.values ?? {}).map(([name, value]) => [
        name,
        stringOf(value, name),
      ]),
    ),
    durableObjects: tables
      .filter((table) => table.name === 'durable_objects.bindings')
      .map(({ values }) => ({
        name: stringOf(values['name'], 'name'),
        className: stringOf(values['class_name'], 'class_name'),
      })),
  }
}

function readTables(text: string): { name: string; values: Table }[] {
  const tables: { name: string; values: Table }[] = [{ name: '', values: {} }]
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const header = /^\[\[?([\w.]+)\]\]?$/.exec(line)
    if (header) {
      tables.push({ name: header[1] ?? '', values: {} })
      continue
    }
    // pattern: the project's own file
    const entry = /^(\w+)\s*=\s*(.+)$/.exec(line)
    const key = entry?.[1]
    const value = entry?.[2] === undefined ? undefined : readValue(entry[2])
    if (key === undefined || value === undefined) throw new Error(`wrangler.toml:${index + 1}: not understood: ${line}`)
    setOwn(tables.at(-1)!.values, key, value)
  }
  return tables
}

/** Strings, numbers, booleans and lists of them are written in TOML as in JSON; inline tables are nobody's business here. */
function readValue(text: string): Value | undefined {
  if (/^\[\s*\{/.test(text)) return []
  try {
    // JSON.parse gives no more than these for a text without braces.
    return JSON.parse(text) as Value
  } catch {
    return undefined
  }
}

function stringOf(value: Value | undefined, name: string): string {
  if (typeof value !== 'string') throw new Error(`wrangler.toml: ${name} is not a string`)
  return value
}

function listOf(value: Value, name: string): string[] {
  if (!Array.isArray(value)) throw new Error(`wrangler.toml: ${name} is not a list`)
  return value.map((item) => stringOf(item, name))
}
