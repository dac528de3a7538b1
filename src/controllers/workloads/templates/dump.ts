/**
 * Dumps a pod template like Go's spew: kube-controller-manager hashes that text. The dump names every field of every
 * type, set or not, so each release has other hashes. Go dumps quantities of more than 18 digits in another way, so
 * their hashes differ from these. That does no harm, because a controller that takes over compares templates.
 */
import type { PodTemplateSpec } from '../../../api/core/v1.ts'
import { unpackedTable } from '../../../base/unpacked-table.ts'
import { ownValue } from '../../../base/own.ts'
import { Quantity } from '../../../schema/quantity.ts'
import { SharedValue } from '../../../tenancy/shared-value.ts'

interface Field {
  readonly name: string
  /** The JSON name; undefined for an embedded struct, whose members are inline. */
  readonly json: string | undefined
  readonly type: string
}

/** A struct's fields, or the underlying type of a named type. */
type Types = ReadonlyMap<string, readonly Field[] | string>

const loaded = new SharedValue<Types>()

async function load(): Promise<Types> {
  const table = await unpackedTable((await import('./types-table.json')).default)
  const entries = Object.entries(table).filter(([name]) => name !== '//')
  return new Map(
    entries.map(([name, text]): [string, readonly Field[] | string] => {
      if (text.startsWith('=')) return [name, text.slice(1)]
      return [name, text === '' ? [] : text.split(';').map(fieldOf)]
    }),
  )
}

function fieldOf(text: string): Field {
  const [left = '', type = ''] = text.split(/ (.*)/s)
  const [name = '', json] = left.split(':')
  if (json === '-') return { name, json: undefined, type }
  return { name, json: json ?? name[0]?.toLowerCase() + name.slice(1), type }
}

export async function goDump(template: PodTemplateSpec): Promise<string> {
  return new Dump(await loaded.get(load)).typed('v1.PodTemplateSpec', template)
}

const NO_TIME = '{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}'

class Dump {
  constructor(private readonly types: Types) {}

  typed(type: string, value: unknown): string {
    return `(${type})${this.dump(type, value)}`
  }

  /** Dumps a value after the name of its type. Elements of lists and maps have no type name. */
  private dump(type: string, value: unknown): string {
    if (type.startsWith('*')) return value === undefined ? '<nil>' : this.dump(type.slice(1), value)
    if (type.startsWith('[]')) return this.list(type.slice(2), value)
    if (type.startsWith('map[')) return this.map(type.slice(type.indexOf(']') + 1), value)
    if (type === 'v1.Time') return NO_TIME // templates have no times
    if (type === 'resource.Quantity') return quantity(value)
    if (type === 'intstr.IntOrString') return intOrString(value)
    const known = this.types.get(type)
    if (typeof known === 'string') return this.dump(known, value)
    if (known !== undefined) return this.struct(known, value)
    if (type === 'string') return String(value ?? '')
    return String(value ?? (type === 'bool' ? false : 0))
  }

  private struct(fields: readonly Field[], value: unknown): string {
    const members = fields.map(
      ({ name, json, type }) => `${name}:${this.typed(type, json === undefined ? value : member(value, json))}`,
    )
    return `{${members.join(' ')}}`
  }

  /** Dumps a list. An empty list is not in the JSON, so it is nil in Go. */
  private list(type: string, value: unknown): string {
    if (!Array.isArray(value) || value.length === 0) return '<nil>'
    return `[${value.map((item: unknown) => this.dump(type, item)).join(' ')}]`
  }

  private map(type: string, value: unknown): string {
    const entries = Object.entries(value ?? {})
    if (entries.length === 0) return '<nil>'
    entries.sort(([a], [b]) => (a < b ? -1 : 1))
    return `map[${entries.map(([key, item]) => `${key}:${this.dump(type, item)}`).join(' ')}]`
  }
}

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? ownValue(value as Readonly<Record<string, unknown>>, name) : undefined

function quantity(value: unknown): string {
  const amount = Quantity.tryParse(String(value ?? '0')) ?? Quantity.zero
  const { unscaled, scale, text } = amount.parts
  const format = value === undefined ? '' : amount.format
  return (
    `{i:(resource.int64Amount){value:(int64)${unscaled} scale:(resource.Scale)${scale}}` +
    ` d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)${text || (value === '0' ? value : '')} Format:(resource.Format)${format}}`
  )
}

function intOrString(value: unknown): string {
  const [kind, number, text] = typeof value === 'string' ? [1, 0, value] : [0, Number(value ?? 0), '']
  return `{Type:(intstr.Type)${kind} IntVal:(int32)${number} StrVal:(string)${text}}`
}
