/**
 * Encodes an object of a type as the JSON of Go's encoder: kind and apiVersion, then members in the order of the
 * struct, and maps with sorted names. It leaves out empty members where the type has omitempty, always writes structs
 * that are not pointers, and writes `null` for other absent lists, maps and pointers.
 */
import type { Json, JsonObject } from '../../api/object.ts'
import { isEmpty, setOwn } from '../../base/own.ts'
import { eachName, kept, mapNames, mapParts } from '../../base/parts.ts'
import type { Field, HeldAs, MapType, Structural, StructType } from '../../schema/structural.ts'
import { isEmptiedItself, tellEmptied, tellsEmptied } from '../../schema/emptied.ts'
import { emptyStruct } from '../../schema/zero-values.ts'
import { sortedKeys } from '../../base/name-order.ts'
import { escapeHtml, stringifySorted } from '../../json/write-json.ts'

export interface EncodeOptions {
  /**
   * Writes empty lists and maps as they are. By default they are null where they can't be left out: kube-apiserver
   * stores objects in protobuf, which has no difference between empty and absent ones. Kinds that are never stored keep
   * them, and so does storage of kinds that kube-apiserver stores in JSON.
   */
  readonly keepEmpty?: boolean
}

/**
 * The object with the members of its JSON, in order. Only the order of numeric names in maps may still differ. With
 * `keepEmpty` its values tell what they leave out (schema/emptied.ts).
 */
export function canonical(type: StructType, object: JsonObject, options: EncodeOptions = {}): JsonObject {
  return kept(object, () => new Encoder(options.keepEmpty ?? false)).struct(type, object)
}

class Encoder {
  /** Whether a map has integers as names, which JavaScript puts first. */
  hasNumericNames = false
  /** Whether the text would differ without `keepEmpty`. */
  hasKeptEmpty = false
  /** Whether a value leaves out what the client sent empty. */
  private leavesOutEmptied = false

  constructor(private readonly keepEmpty: boolean) {}

  struct(type: StructType, object: JsonObject): JsonObject {
    const out: JsonObject = {}
    if (type.typeMeta) {
      if (object.kind) out.kind = object.kind
      if (object.apiVersion) out.apiVersion = object.apiVersion
    }
    for (const field of writtenFields(type, object)) {
      // own key: a field of a built-in type
      const value = written(field, object[field.name], this.keepEmpty)
      if (this.keepEmpty && field.omit === 'never' && isEmptyOne(value)) this.hasKeptEmpty = true
      if (value !== undefined) out[field.name] = this.value(field.type, value) // own key: as above
    }
    if (this.keepEmpty && isEmptiedItself(object)) {
      this.leavesOutEmptied = true
      tellEmptied(out)
    }
    return this.telling(out)
  }

  private value(type: Structural, value: Json): Json {
    if (value === null) return null
    switch (type.shape) {
      case 'struct':
        return this.struct(type, value as JsonObject)
      case 'list': {
        const { element } = type
        return element.shape === 'leaf'
          ? (value as Json[]).slice()
          : this.telling(mapParts(value as Json[], (one) => this.value(element, one)))
      }
      case 'map':
        return this.map(type, value as JsonObject)
      case 'special':
        return type.special === 'json' ? this.untyped(value) : this.schema(type.of, value)
      default:
        return value
    }
  }

  /** Go reads such a value into maps, which it writes with sorted names. It keeps the text of a RawExtension. */
  private untyped(value: Json): Json {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return mapParts(value, (one) => this.untyped(one))
    const out = kept(value, (): JsonObject => ({}))
    eachName(value, sortedKeys, (name) => {
      if (isNumeric(name)) this.hasNumericNames = true
      setOwn(out, name, this.untyped(value[name] ?? null))
    })
    return out
  }

  private map(type: MapType, map: JsonObject): JsonObject {
    const out = kept(map, (): JsonObject => ({}))
    eachName(map, sortedKeys, (name) => {
      if (isNumeric(name)) this.hasNumericNames = true
      setOwn(out, name, this.value(type.value, map[name] ?? null))
    })
    return this.telling(out)
  }

  /** An outer value tells what one inside of it leaves out. */
  private telling<Value extends JsonObject | Json[]>(value: Value): Value {
    if (this.leavesOutEmptied && Object.values(value).some(tellsEmptied)) tellEmptied(value)
    return value
  }

  /** A JSONSchemaProps, a list of them, or something simple. */
  private schema(of: (() => StructType) | undefined, value: Json): Json {
    if (of === undefined || typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return this.telling(mapParts(value, (one) => this.schema(of, one)))
    return this.struct(of(), value)
  }
}

const isEmptyOne = (value: Json | undefined): boolean =>
  typeof value === 'object' && value !== null && (Array.isArray(value) ? value.length === 0 : isEmpty(value))

const isNumeric = (name: string) => {
  const first = name.charCodeAt(0)
  return first >= 0x30 && first <= 0x39 && /^\d+$/.test(name)
}

/** Compact JSON text, without a final newline. */
export const encodeJson = (type: StructType, object: JsonObject, options: EncodeOptions = {}): string =>
  writers[type.heldAs](type, object, options).text

/** The text with `keepEmpty`, and whether it differs from the text without. */
export const encodeKeepingEmpty = (type: StructType, object: JsonObject): Text =>
  writers[type.heldAs](type, object, { keepEmpty: true })

interface Text {
  readonly text: string
  readonly hasKeptEmpty: boolean
}

const writers = {
  typed: typedText,
  unstructured: (_type, object) => ({ text: stringifySorted(object), hasKeptEmpty: false }),
} satisfies Record<HeldAs, (type: StructType, object: JsonObject, options: EncodeOptions) => Text>

function typedText(type: StructType, object: JsonObject, options: EncodeOptions): Text {
  const encoder = kept(object, () => new Encoder(options.keepEmpty ?? false))
  const shaped = kept(object, () => encoder.struct(type, object))
  const { hasKeptEmpty, hasNumericNames } = encoder
  return { text: escapeHtml(hasNumericNames ? sortedMapsText(type, shaped) : JSON.stringify(shaped)), hasKeptEmpty }
}

/**
 * The text of a value in canonical form. JavaScript puts names that are integers first; this sorts them among the
 * others.
 */
function sortedMapsText(type: Structural, value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) {
    const element = type.shape === 'list' ? type.element : type
    return `[${mapParts(value, (one) => sortedMapsText(element, one)).join(',')}]`
  }
  switch (type.shape) {
    case 'struct':
      return `{${Object.keys(value)
        .map((name) => `"${name}":${sortedMapsText(type.field(name)?.type ?? type, value[name]!)}`)
        .join(',')}}`
    case 'map':
      return `{${mapNames(
        value,
        sortedKeys,
        (name) => `${JSON.stringify(name)}:${sortedMapsText(type.value, value[name]!)}`,
      ).join(',')}}`
    case 'special':
      if (type.special === 'json') return stringifySorted(value)
      return type.of === undefined ? JSON.stringify(value) : sortedMapsText(type.of(), value)
    default:
      return JSON.stringify(value)
  }
}

/**
 * If a type has more than this many fields for each member of an object, it is faster to look up the members' fields.
 */
const SPARSE = 3

/** Indexes of fields in a type. */
interface Places {
  /** Fields that the encoder writes even where they are absent. */
  readonly always: readonly number[]
  /** The other fields. */
  readonly byName: ReadonlyMap<string, number>
}

const placesOfTypes = new WeakMap<StructType, Places>()

function placesOf(type: StructType): Places {
  let places = placesOfTypes.get(type)
  if (places === undefined) {
    const all = type.fields.map((field, place) => ({ name: field.name, place, isLeftOut: absent(field) === undefined }))
    const always = all.filter(({ isLeftOut }) => !isLeftOut).map(({ place }) => place)
    const others = all.filter(({ isLeftOut }) => isLeftOut)
    places = { always, byName: new Map(others.map(({ name, place }) => [name, place])) }
    placesOfTypes.set(type, places)
  }
  return places
}

/** The fields that an object may write, in order. Most objects have few fields of their type (a JSON schema has 43). */
function writtenFields(type: StructType, object: JsonObject): readonly Field[] {
  const { fields } = type
  const names = Object.keys(object)
  if (names.length * SPARSE >= fields.length) return fields
  const { byName, always } = placesOf(type)
  if (always.length * SPARSE >= fields.length) return fields
  const places = always.slice()
  for (const name of names) {
    const place = byName.get(name)
    if (place === undefined) continue
    let at = places.length
    while (at > 0 && places[at - 1]! > place) at--
    places.splice(at, 0, place)
  }
  return places.map((place) => fields[place]!)
}

/** The value that the encoder writes for a field; undefined where it leaves the field out. */
export function written(field: Field, value: Json | undefined, keepEmpty: boolean): Json | undefined {
  if (value === undefined || value === null) return absent(field)
  if (field.pointer) return value
  const { type } = field
  switch (type.shape) {
    case 'leaf':
      return field.omit !== 'never' && (value === '' || value === 0 || value === false) ? undefined : value
    case 'list':
      if ((value as Json[]).length > 0) return value
      return field.omit !== 'never' ? undefined : keepEmpty || type.wrapper !== undefined ? value : null
    case 'map':
      if (!isEmpty(value as JsonObject)) return value
      return field.omit !== 'never' ? undefined : keepEmpty ? value : null
    default:
      return value
  }
}

/** The value that the encoder writes for an absent field; undefined where it leaves the field out. */
function absent({ type, omit, pointer }: Field): Json | undefined {
  if (!pointer && type.shape === 'struct') return omit === 'zero' ? undefined : emptyStruct(type)
  if (!pointer && type.shape === 'special') {
    if (omit === 'zero') return undefined
    switch (type.special) {
      case 'quantity':
        return '0'
      case 'intOrString':
        return 0
      case 'duration':
        return '0s'
      default:
        return null
    }
  }
  if (omit !== 'never') return undefined
  if (pointer || type.shape !== 'leaf') return null
  switch (type.scalar) {
    case 'string':
      return ''
    case 'bool':
      return false
    case 'bytes':
      return null
    default:
      return 0
  }
}
