// Writes src/api/GROUP/VERSION.ts: TypeScript interfaces of the built-in types, from the facts (types.json).
// Interfaces add nothing to the bundle. Every field is optional, because Go's encoder leaves out zero values.
import { mkdirSync, readFileSync, writeFileSync, existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const specials = {
  time: 'string',
  microTime: 'string',
  duration: 'string',
  quantity: 'string',
  intOrString: 'number | string',
  rawExtension: 'Json',
  fieldsV1: 'JsonObject',
  json: 'Json',
  unknown: 'Json',
}
const scalars = {
  string: 'string',
  int32: 'number',
  int64: 'number | bigint',
  bool: 'boolean',
  bytes: 'string',
  double: 'number',
}

/** `io.k8s.api.core.v1.Pod` → { file: 'core/v1', kind: 'Pod' } */
export function placeOf(name) {
  const parts = name.split('.')
  const kind = parts.pop()
  const version = parts.pop()
  const group = parts.pop()
  return { file: `${group}/${version}`, kind }
}

export function typeFiles(facts) {
  const { types } = JSON.parse(readFileSync(join(facts, 'types.json'), 'utf8'))
  const byName = new Map(types.map((type) => [type.name, type]))
  const files = new Map()
  for (const type of types) {
    const { file, kind } = placeOf(type.name)
    const entry = files.get(file) ?? { imports: new Map(), text: [] }
    files.set(file, entry)
    const reference = (name) => {
      if (name in scalars) return scalars[name]
      const target = byName.get(name)
      if (target === undefined) return 'Json'
      const place = placeOf(name)
      if (place.file === file) return place.kind
      const alias = `${place.file.replace(/(^|[/_-])(\w)/g, (_, __, c) => c.toUpperCase())}`
      entry.imports.set(place.file, alias)
      return `${alias}.${place.kind}`
    }
    const valueType = (field) => {
      const base =
        field.type === 'map' ? `Record<string, ${reference(field.value?.type ?? field.value)}>` : reference(field.type)
      return field.repeated ? (/[ |]/.test(base) && !base.startsWith('Record') ? `(${base})[]` : `${base}[]`) : base
    }
    if (type.special) {
      entry.text.push(`export type ${kind} = ${specials[type.special] ?? 'Json'}`)
      continue
    }
    if (type.wrapper === 'list') {
      entry.text.push(`export type ${kind} = ${reference(type.fields[0].type)}[]`)
      continue
    }
    const lines = []
    const members = (fields) => {
      for (const field of fields ?? []) {
        if (field.inline || field.json === null || field.json === undefined) members(byName.get(field.type)?.fields)
        else {
          // a decoded API object always has metadata
          const always = type.typeMeta && field.type.endsWith('.meta.v1.ObjectMeta')
          const name = /^[\w$]+$/.test(field.json) ? field.json : `'${field.json}'`
          lines.push(`  ${name}${always ? '' : '?'}: ${valueType(field)}`)
        }
      }
    }
    members(type.fields)
    if (type.typeMeta) lines.unshift('  kind?: string', '  apiVersion?: string')
    entry.text.push(
      lines.length === 0
        ? `export type ${kind} = Record<string, never>`
        : `export interface ${kind} {\n${lines.join('\n')}\n}`,
    )
  }
  return new Map(
    [...files].map(([file, { imports, text }]) => {
      const body = text.join('\n')
      const names = ['Json', 'JsonObject'].filter((name) => new RegExp(`\\b${name}\\b`).test(body))
      const head = ['// Generated from the facts by `npm run generate`. Do not edit.']
      const here = dirname(file)
      if (names.length > 0) head.push(`import type { ${names.join(', ')} } from '../object.ts'`)
      for (const [target, alias] of [...imports].sort())
        head.push(`import type * as ${alias} from '${relative(here, target).replace(/^(?!\.)/, './')}.ts'`)
      return [`${file}.ts`, `${head.join('\n')}\n\n${body}\n`]
    }),
  )
}

/** Writes the files in `out`, or with `check` only compares them. @returns the paths that differ */
export function generateTypes(facts, out, { check = false } = {}) {
  const different = []
  for (const [file, text] of typeFiles(facts)) {
    const path = join(out, file)
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
    different.push(path)
    if (check) continue
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return different
}
