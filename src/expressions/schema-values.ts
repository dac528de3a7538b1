/**
 * CEL values of JSON that has a schema. Numbers become ints or doubles, strings with a format become timestamps,
 * durations and bytes. Lists with listType `set` or `map` are equal in any order. A value is converted when an
 * expression uses it.
 */
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { equal, itemsOf, mapKey } from '../cel/values/collections.ts'
import { FEW, jsonOf, OF_NAME, valueOfJson } from '../cel/values/json-value.ts'
import { parseDuration, parseTimestamp } from '../cel/values/times.ts'
import { work } from '../cel/evaluation/work.ts'
import type { Type } from '../cel/checker/type.ts'
import { opaque } from '../cel/checker/type.ts'
import type { Value } from '../cel/values/value.ts'
import { CelError, Duration, ListValue, MapValue, OpaqueValue } from '../cel/values/value.ts'
import { goType } from '../go/value.ts'
import { valuesEqual } from '../json/value-order.ts'
import { escapeField, unescapeField } from './field-names.ts'
import type { SchemaNode } from './schema-types.ts'

/** @returns an error if the JSON does not have the type of the schema */
export function valueOf(json: Json, node: SchemaNode): Value {
  if (json === null) return node.nullable ? null : new CelError('invalid data, got null for schema with nullable=false')
  switch (node.is) {
    case 'bool':
      return typeof json === 'boolean' ? json : invalid(json, 'bool')
    case 'int':
      return isWhole(json) ? BigInt(json) : invalid(json, 'int')
    case 'double':
      return typeof json === 'number' || typeof json === 'bigint' ? Number(json) : invalid(json, 'float')
    case 'string':
      return typeof json === 'string' ? textValue(json, node.textFormat) : invalid(json, 'string')
    case 'int-or-string':
      if (typeof json === 'string') return json
      if (isWhole(json)) return BigInt(json)
      return new CelError('invalid data, expected XIntOrString value to be either a string or integer')
    case 'list':
      if (Array.isArray(json)) return listOf(json, node)
      return new CelError('invalid data, expected an array for the provided schema with type=array')
    case 'map':
    case 'object':
      if (isJsonObject(json)) return node.is === 'map' ? new TypedMap(json, node) : new TypedObject(json, node)
      return new CelError('invalid data, expected a map for the provided schema with type=object')
    case 'quantity':
    case 'hidden':
      return new Preserved(json)
  }
}

/**
 * The value of a variable whose type is optional. cel-go unwraps the value of such a variable and forgets the schema of
 * what is inside: texts with a format stay texts, lists keep their order, and names are not escaped.
 */
export function valueInOptional(json: Json, node: SchemaNode): Value {
  const value = valueOf(json, node)
  return value instanceof TypedList || value instanceof TypedEntries || value instanceof Preserved
    ? valueOfJson(json)
    : value
}

const isWhole = (json: Json): json is number | bigint => typeof json === 'bigint' || Number.isInteger(json)

const invalid = (json: Json, expected: string): CelError =>
  new CelError(`invalid data, expected ${expected}, got ${goType(json)}`)

function textValue(text: string, format: string | undefined): Value {
  // the string is parsed again each time that an expression uses it
  if (format !== undefined && text.length > FEW) work(text.length)
  switch (format) {
    case 'duration':
      return spelledDuration(text) ?? new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`)
    case 'date':
      return (
        (/^\d{4}-\d\d-\d\d$/.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined) ??
        new CelError(`Invalid date formatted string ${text}: parsing time ${JSON.stringify(text)}`)
      )
    case 'date-time':
      return (
        parseTimestamp(dateTime(text)) ??
        new CelError(`Invalid date-time formatted string ${text}: parsing time ${JSON.stringify(text)}`)
      )
    case 'byte':
      return bytesOf(text) ?? new CelError(`Invalid byte formatted string ${text}: illegal base64 data`)
    default:
      return text
  }
}

/**
 * Rewrites two forms to RFC 3339 that kube-apiserver also accepts: a zone without a colon, and no zone, which means
 * UTC.
 */
const dateTime = (text: string): string =>
  text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2').replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)$/, '$1Z')

const unitNanos: readonly (readonly [names: readonly string[], nanos: bigint])[] = [
  [['ns', 'nano'], 1n],
  [['us', 'µs', 'micro'], 1_000n],
  [['ms', 'milli'], 1_000_000n],
  [['s', 'sec'], 1_000_000_000n],
  [['m', 'min'], 60_000_000_000n],
  [['h', 'hr', 'hour'], 3_600_000_000_000n],
  [['d', 'day'], 86_400_000_000_000n],
  [['w', 'wk', 'week'], 604_800_000_000_000n],
]

/** Parses a duration in Go's form or in words, such as `3 days`. */
function spelledDuration(text: string): Duration | undefined {
  const plain = parseDuration(text)
  if (plain !== undefined) return plain
  let nanos: bigint | undefined
  for (const [, count, unit] of text.matchAll(/(\d+)(?:\s*([A-Za-zµ]+))?/g)) {
    if (unit === undefined) continue
    const name = unit.toLowerCase()
    for (const [names, factor] of unitNanos)
      // only the last name of a unit also matches as a prefix (`days`)
      if (names.includes(name) || name.startsWith(names.at(-1)!)) nanos = (nanos ?? 0n) + BigInt(count!) * factor
  }
  return nanos === undefined ? undefined : new Duration(BigInt.asIntN(64, nanos))
}

function bytesOf(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined
  return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (character) => character.charCodeAt(0))
}

const PRESERVED = opaque('unknown')

/** A value that no schema describes. Expressions can only compare it. */
class Preserved extends OpaqueValue {
  readonly type: Type = PRESERVED
  private characters: number | undefined
  constructor(private readonly json: Json) {
    super()
  }

  override get length(): number {
    return (this.characters ??= JSON.stringify(this.json).length)
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Preserved && valuesEqual(this.json, other.json)
  }

  override equalsPlain(other: Value): boolean {
    const json = jsonOf(other)
    return json !== undefined && valuesEqual(this.json, json as Json)
  }
}

function listOf(items: readonly Json[], node: SchemaNode): ListValue {
  const { schema } = node
  if (schema.shape === 'list' && schema.listType === 'set') return new TypedSet(items, node)
  if (schema.shape === 'list' && schema.listType === 'map') return new TypedMapList(items, node, schema.keys)
  return new TypedList(items, node)
}

class TypedList extends ListValue {
  constructor(
    readonly items: readonly Json[],
    protected readonly node: SchemaNode,
  ) {
    super()
  }

  override get comparesWithListsOnly(): boolean {
    return true
  }

  get size(): number {
    return this.items.length
  }

  at(index: number): Value {
    return valueOf(this.items[index]!, this.node.element!)
  }
}

const elementKey = (value: Value): unknown => mapKey(value) ?? value

/** A list with listType `set`. It is equal in any order, and `a + b` is the union. */
class TypedSet extends TypedList {
  override equalTo(other: ListValue): boolean {
    if (other.size !== this.size) return false
    const keys = new Set(itemsOf(this).map(elementKey))
    return itemsOf(other).every((value) => keys.has(elementKey(value)))
  }

  override plus(other: ListValue): ListValue {
    const values = new Map(itemsOf(this).map((value) => [elementKey(value), value]))
    for (const value of itemsOf(other)) if (!values.has(elementKey(value))) values.set(elementKey(value), value)
    return new MadeSet([...values.values()])
  }
}

/** The union of sets. */
class MadeSet extends ListValue {
  constructor(private readonly values: readonly Value[]) {
    super()
  }

  get size(): number {
    return this.values.length
  }

  at(index: number): Value {
    return this.values[index]!
  }

  override equalTo = TypedSet.prototype.equalTo
  override plus = TypedSet.prototype.plus
}

/**
 * A list with listType `map`. It is equal in any order. In `a + b` elements of `b` replace those of `a` with the same
 * key.
 */
class TypedMapList extends TypedList {
  private byKey: ReadonlyMap<string, Json> | undefined

  constructor(
    items: readonly Json[],
    node: SchemaNode,
    private readonly keys: readonly string[],
  ) {
    super(items, node)
  }

  override equalTo(other: ListValue): boolean {
    if (other.size !== this.size) return false
    this.byKey ??= new Map(this.items.map((item) => [this.keyOf(item), item]))
    for (let i = 0; i < other.size; i++) {
      const value = other.at(i)
      const json = value instanceof TypedObject ? value.object : jsonOf(value)
      const own = json === undefined ? undefined : this.byKey.get(this.keyOf(json as Json))
      if (own === undefined || !equal(valueOf(own, this.node.element!), value)) return false
    }
    return true
  }

  override plus(other: ListValue): ListValue {
    const merged = new Map(this.items.map((item) => [this.keyOf(item), item]))
    const others = itemsOf(other)
    const objects = others.filter((value) => value instanceof TypedObject)
    for (const { object } of objects) merged.set(this.keyOf(object), object)
    return objects.length === others.length ? new TypedMapList([...merged.values()], this.node, this.keys) : this
  }

  private keyOf(item: Json): string {
    return JSON.stringify(
      this.keys.map((key) => {
        const value = isJsonObject(item) ? ownValue(item, escapeField(key) ?? key) : undefined
        return typeof value === 'bigint' ? Number(value) : (value ?? null)
      }),
    )
  }
}

/** A JSON object that has a schema. */
abstract class TypedEntries extends MapValue {
  private listed: readonly string[] | undefined

  constructor(
    readonly object: JsonObject,
    protected readonly node: SchemaNode,
  ) {
    super()
  }

  override get comparesWithMapsOnly(): boolean {
    return true
  }

  get size(): number {
    const { length } = this.names
    if (length > FEW) work(length * OF_NAME)
    return length
  }

  protected get names(): readonly string[] {
    return (this.listed ??= Object.keys(this.object))
  }
}

/** An object with additionalProperties: clients choose the keys. */
class TypedMap extends TypedEntries {
  get(key: Value): Value | undefined {
    const json = typeof key === 'string' ? ownValue(this.object, key) : undefined
    return json === undefined ? undefined : valueOf(json, this.node.element!)
  }

  keys(): Iterable<Value> {
    return this.names
  }
}

/** An object with declared fields. A field that is null counts as absent. */
export class TypedObject extends TypedEntries {
  get(key: Value): Value | undefined {
    const name = typeof key === 'string' ? unescapeField(key) : undefined
    return name === undefined ? undefined : this.member(name)
  }

  *keys(): Iterable<Value> {
    for (const name of this.names) if (this.node.members.has(name)) yield escapeField(name) ?? name
  }

  override equalTo(other: MapValue): boolean {
    if (this.size !== other.size) return false
    return this.names.every((name) => {
      if (!this.node.members.has(name)) {
        // kube-apiserver fails here if the other map has no schema
        if (!(other instanceof TypedObject)) return false
        const [one, another] = [ownValue(this.object, name), ownValue(other.object, name)]
        return one === undefined || another === undefined || valuesEqual(one, another)
      }
      const [one, another] = [this.member(name), other instanceof TypedObject ? other.member(name) : other.get(name)]
      return one === undefined || another === undefined ? one === another : equal(one, another)
    })
  }

  private member(name: string): Value | undefined {
    const json = ownValue(this.object, name)
    if (json === undefined || json === null) return undefined
    const node = this.node.members.get(name)
    return node && valueOf(json, node)
  }
}
