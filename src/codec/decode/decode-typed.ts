/**
 * Decodes parsed JSON into an object of a built-in type, like Go into its structs. It removes and reports unknown
 * fields, treats null as absent, and gives values their canonical form. A value that does not fit is an error with Go's
 * text.
 *
 * The object is in its normal form: it always has the fields whose Go type is a struct and not a pointer (`{}`), and
 * lacks empty fields that Go leaves out. encode.ts adds the other fields that Go writes.
 */
import { append } from '../../base/append.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import { ownValue, setOwn } from '../../base/own.ts'
import { eachName, eachPart, kept, mapParts } from '../../base/parts.ts'
import { Quantity, QuantityError } from '../../schema/quantity.ts'
import type { Field, Leaf, ListType, MapType, Special, Structural, StructType } from '../../schema/structural.ts'
import {
  formatDuration,
  formatMicroTime,
  formatTime,
  isZeroTime,
  parseDuration,
  parseMicroTime,
  parseTime,
  TimeError,
} from '../../schema/time.ts'
import { bytesToBase64, canonicalBase64, corruptAt } from '../../base/base64.ts'
import { noteEmptied } from '../../schema/emptied.ts'
import { goQuote } from '../../go/quote.ts'
import type { JsonTree } from '../../json/json.ts'
import { MAX_NESTING, RepeatedMembers } from '../../json/json.ts'
import { compareNames, sortedKeys } from '../../base/name-order.ts'
import { NumberLiteral } from '../../json/numbers.ts'
import type { Decoded } from './decoded.ts'
import { DecodeError, MANY_NAMES, MAX_STRICT_ERRORS, TypeMismatch, saveStrict } from './decode-problems.ts'
import { untyped } from './decode-untyped.ts'
import { isNumber, kindOf, numberText } from '../protobuf/json-kinds.ts'
import { emptyStruct, fillStruct, isLeftOut, tellsEmptyFromNone, zeroOf } from '../../schema/zero-values.ts'
import { goTypeOf } from '../../schema/go-type.ts'

/**
 * @param tree a parsed body, or any JSON value; parts of it may become parts of the object
 * @throws {DecodeError}
 */
export function decodeTyped(type: StructType, tree: JsonTree): Decoded {
  const decoder = kept(tree, () => new Decoder(true))
  const object = decoder.decode(type, tree) as JsonObject | undefined // a struct is an object
  return { object: object ?? emptyStruct(type), strict: decoder.strict }
}

/**
 * Decodes a value of any type. It returns undefined for null and the zero value.
 * @throws {DecodeError}
 */
export const decodeValue = (type: Structural, tree: JsonTree): Json | undefined => new Decoder(false).decode(type, tree)

/** Sorts the names of a map, because Go's maps have no order and error texts list sorted names. */
function sortedMap(map: JsonObject): JsonObject {
  const sorted = kept(map, (): JsonObject => ({}))
  eachName(map, sortedKeys, (name) => setOwn(sorted, name, ownValue(map, name)))
  return sorted
}

class Decoder {
  readonly strict: string[] = []
  private mismatch: DecodeError | undefined
  /** The path of the current value for strict errors: names and indices. */
  private readonly path: (string | number)[] = []
  /** The names of the fields around the current value, and Go's name of the innermost struct, for Go's type errors. */
  private readonly fields: string[] = []
  private structName = ''

  /** @param above the number of levels around the value */
  constructor(
    private readonly isStrict: boolean,
    private readonly above = 0,
  ) {}

  /** A later run of a walk (base/parts.ts) may call it again with the same tree. */
  decode(type: Structural, tree: JsonTree): Json | undefined {
    this.path.length = 0
    this.fields.length = 0
    this.structName = ''
    const value = this.value(type, tree, undefined, false)
    if (this.mismatch !== undefined) throw this.mismatch
    return value
  }

  /**
   * @param before the value of an earlier member with the same name
   * @returns undefined where the value is absent or does not fit
   */
  private value(type: Structural, tree: JsonTree, before: Json | undefined, pointer: boolean): Json | undefined {
    switch (type.shape) {
      case 'leaf':
        return this.leaf(type, tree, before, pointer)
      case 'struct':
        return this.struct(type, tree, before, pointer)
      case 'list':
        return this.list(type, tree, before)
      case 'map':
        return this.map(type, tree, before)
      case 'special':
        return this.special(type, tree, pointer)
      case 'untyped':
        return untyped(tree)
    }
  }

  private struct(type: StructType, tree: JsonTree, before: Json | undefined, pointer: boolean): Json | undefined {
    if (tree === null) return pointer ? undefined : (before ?? emptyStruct(type))
    if (typeof tree !== 'object' || Array.isArray(tree) || tree instanceof NumberLiteral)
      return this.mismatched(kindOf(tree), type)
    // only schemas of custom resources nest without end
    if (this.above + this.path.length > MAX_NESTING) throw new DecodeError('exceeded max depth')
    const outer = this.structName
    const depth = this.fields.length
    let object: JsonObject
    if (tree instanceof RepeatedMembers) {
      const into = kept(tree, () => ({ object: (before ?? {}) as JsonObject, seen: new Set<string>() }))
      object = into.object
      eachPart(tree.entries, ([name, value]) => {
        const field = type.field(name) ?? typeMetaField(type, name)
        if (field !== undefined && into.seen.has(name)) this.saveStrict('duplicate field', name)
        this.member(type, field, object, name, value, depth)
        into.seen.add(name) // when it is read: a member may be read in parts
      })
    } else {
      const names = Object.keys(tree)
      const read = (name: string): void => {
        const value = ownValue(tree, name)
        if (value !== undefined)
          this.member(type, type.field(name) ?? typeMetaField(type, name), object, name, value, depth)
      }
      // a struct has few fields, but a body may have any number of unknown ones
      object = (before ?? {}) as JsonObject // what this very function returned
      if (names.length <= MANY_NAMES) for (const name of names) read(name)
      else {
        object = kept(tree, () => object)
        eachName(tree, () => names, read)
      }
    }
    this.structName = outer
    fillStruct(type, object)
    return object
  }

  private member(
    type: StructType,
    field: Field | undefined,
    object: JsonObject,
    name: string,
    value: JsonTree,
    depth: number,
  ): void {
    if (field === undefined) return this.saveStrict('unknown field', name)
    this.structName = structName(type)
    if (field.embeddedIn.length > 0) append(this.fields, field.embeddedIn)
    this.fields.push(name)
    this.path.push(name)
    // own key: a field of a built-in type, here and below
    const decoded = this.value(field.type, value, object[name], field.pointer)
    this.path.pop()
    this.fields.length = depth
    const isKept = !isNoSchema(field.type, decoded)
    if (decoded !== undefined && isKept && (!isLeftOut(field, decoded) || tellsEmptyFromNone(type, name, decoded)))
      object[name] = decoded // own key: a field
    else {
      // own key: a field
      if (object[name] !== undefined) delete object[name]
      if (decoded !== undefined && (!isKept || field.type.shape === 'list' || field.type.shape === 'map'))
        noteEmptied(object, name, decoded)
    }
  }

  private list(type: ListType, tree: JsonTree, before: Json | undefined): Json | undefined {
    if (tree === null) return undefined
    if (!Array.isArray(tree)) return this.mismatched(kindOf(tree), type)
    const old = (before ?? []) as Json[] // what this very function returned
    return mapParts(tree, (value, i) => {
      this.path.push(i)
      const element = this.value(type.element, value, old[i], false) ?? zeroOf(type.element)
      this.path.pop()
      return element
    })
  }

  private map(type: MapType, tree: JsonTree, before: Json | undefined): Json | undefined {
    if (tree === null) return undefined
    if (typeof tree !== 'object' || Array.isArray(tree) || tree instanceof NumberLiteral)
      return this.mismatched(kindOf(tree), type)
    const so = kept(tree, () => ({
      object: (before ?? {}) as JsonObject, // what this very function returned
      isSorted: before === undefined,
      last: undefined as string | undefined,
      seen: tree instanceof RepeatedMembers ? new Set<string>() : undefined,
    }))
    const { object, seen } = so
    const read = (name: string, value: JsonTree | undefined): void => {
      if (value === undefined) return
      if (seen?.has(name)) this.saveStrict('duplicate field', name)
      this.path.push(name)
      setOwn(object, name, this.value(type.value, value, undefined, false) ?? zeroOf(type.value))
      this.path.pop()
      so.isSorted &&= so.last === undefined || compareNames(so.last, name) < 0
      so.last = name
      seen?.add(name)
    }
    if (tree instanceof RepeatedMembers) eachPart(tree.entries, ([name, value]) => read(name, value))
    else eachName(tree, Object.keys, (name) => read(name, tree[name]))
    return so.isSorted ? object : sortedMap(object)
  }

  private leaf(type: Leaf, tree: JsonTree, before: Json | undefined, pointer: boolean): Json | undefined {
    if (tree === null) return pointer || type.scalar === 'bytes' ? undefined : before
    switch (type.scalar) {
      case 'string':
        return typeof tree === 'string' ? tree : this.mismatched(kindOf(tree), type)
      case 'bool':
        return typeof tree === 'boolean' ? tree : this.mismatched(kindOf(tree), type)
      case 'int32':
      case 'int64':
        return this.whole(type, tree)
      case 'double':
      case 'number':
      case 'integer':
        return this.floating(type, tree)
      case 'bytes':
        return this.bytes(type, tree)
    }
  }

  private whole(type: Leaf, tree: JsonTree): Json | undefined {
    if (!isNumber(tree)) return this.mismatched(kindOf(tree), type)
    const fits =
      typeof tree === 'bigint'
        ? type.scalar === 'int64'
        : Number.isSafeInteger(tree) && (type.scalar === 'int64' || tree === ((tree as number) | 0))
    return fits ? (tree as number | bigint) : this.mismatched(`number ${numberText(tree)}`, type)
  }

  private floating(type: Leaf, tree: JsonTree): Json | undefined {
    if (!isNumber(tree)) return this.mismatched(kindOf(tree), type)
    const value = Number(numberText(tree))
    return Number.isFinite(value) ? value : this.mismatched(`number ${numberText(tree)}`, type)
  }

  private bytes(type: Leaf, tree: JsonTree): Json | undefined {
    if (typeof tree === 'string') {
      const corrupt = corruptAt(tree)
      if (corrupt === undefined) return canonicalBase64(tree)
      this.mismatch ??= new DecodeError(`illegal base64 data at input byte ${corrupt}`)
      return undefined
    }
    if (!Array.isArray(tree)) return this.mismatched(kindOf(tree), type)
    const wrong = tree.find((byte) => byte !== null && !isByte(byte))
    // just checked; Go leaves a byte that is null as it is: 0
    if (wrong === undefined) return bytesToBase64(Uint8Array.from(tree as (number | null)[], (byte) => byte ?? 0))
    return this.mismatchedAs(isNumber(wrong) ? `number ${numberText(wrong)}` : kindOf(wrong), 'uint8')
  }

  /** These Go types have their own UnmarshalJSON. Its errors end all decoding. */
  private special(type: Special, tree: JsonTree, pointer: boolean): Json | undefined {
    if (tree === null) return pointer || type.special !== 'quantity' ? undefined : '0'
    switch (type.special) {
      case 'time':
      case 'microTime':
        return this.time(type.special, tree)
      case 'duration':
        return formatDuration(reading(() => parseDuration(this.text(tree))))
      case 'quantity':
        return reading(() => Quantity.parse(quantityText(tree)).toString())
      case 'intOrString':
        if (typeof tree === 'string') return tree
        if (typeof tree === 'number' && tree === (tree | 0)) return tree
        throw this.complete(new TypeMismatch(isNumber(tree) ? `number ${numberText(tree)}` : kindOf(tree), 'int32'))
      case 'schemaOrArray':
      case 'schemaOrBool':
      case 'schemaOrStringArray':
        return this.schema(type, tree)
      case 'rawExtension':
      case 'fieldsV1':
      case 'json':
      case 'unknown':
        return untyped(tree)
    }
  }

  private time(special: 'time' | 'microTime', tree: JsonTree): Json | undefined {
    const text = this.text(tree)
    const instant = reading(() => (special === 'time' ? parseTime(text) : parseMicroTime(text)))
    if (isZeroTime(instant)) return undefined
    return special === 'time' ? formatTime(instant) : formatMicroTime(instant)
  }

  private text(tree: JsonTree): string {
    if (typeof tree === 'string') return tree
    throw this.complete(new TypeMismatch(kindOf(tree), 'string'))
  }

  /** JSONSchemaProps, or a simpler value. Its separate decoder does not report unknown fields. */
  private schema(type: Special, tree: JsonTree): Json | undefined {
    const inner = new Decoder(false, this.above + this.path.length)
    try {
      if (Array.isArray(tree)) {
        if (type.special === 'schemaOrBool') throw new DecodeError('boolean or JSON schema expected')
        return inner.decode(type.special === 'schemaOrArray' ? schemaList(type) : stringList, tree)
      }
      if (typeof tree === 'object' && !(tree instanceof NumberLiteral)) return inner.decode(type.of!(), tree)
      if (type.special !== 'schemaOrBool') return null
      if (typeof tree === 'boolean') return tree
    } catch (error) {
      throw error instanceof TypeMismatch ? this.complete(error) : error
    }
    throw new DecodeError('boolean or JSON schema expected')
  }

  private mismatched(value: string, type: Structural): undefined {
    return this.mismatchedAs(value, goTypeOf(type))
  }

  /** Notes a type error. Decoding continues, and reports the first one at the end. */
  private mismatchedAs(value: string, goType: string): undefined {
    this.mismatch ??= this.complete(new TypeMismatch(value, goType))
    return undefined
  }

  private complete({ value, goType, struct, field }: TypeMismatch): TypeMismatch {
    if (this.fields.length === 0 && this.structName === '') return new TypeMismatch(value, goType, struct, field)
    const path = field === '' ? this.fields : [...this.fields, field]
    return new TypeMismatch(value, goType, this.structName, path.join('.'))
  }

  private saveStrict(what: 'unknown field' | 'duplicate field', name: string): void {
    if (!this.isStrict || this.strict.length >= MAX_STRICT_ERRORS) return
    let path = ''
    for (const part of [...this.path, name])
      path += typeof part === 'number' ? `[${part}]` : path === '' ? part : `.${part}`
    saveStrict(this.strict, `${what} ${goQuote(path)}`)
  }
}

function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof QuantityError || error instanceof TimeError) throw new DecodeError(error.message)
    throw error
  }
}

/**
 * The text that kube-apiserver parses as a quantity: the JSON of a value without quotes. Objects and lists are no
 * quantities.
 */
const quantityText = (tree: JsonTree): string =>
  typeof tree === 'string'
    ? unescaped(tree)
    : isNumber(tree)
      ? numberText(tree)
      : typeof tree === 'boolean'
        ? `${tree}`
        : '{'

/**
 * Without the blanks around it. kube-apiserver reads the JSON as it was sent: a character that JSON escapes is one of
 * the text, and no part of a quantity.
 */
const unescaped = (text: string): string => (hasEscaped.test(text) ? text : text.trim())
// eslint-disable-next-line no-control-regex -- these are the characters that JSON must escape
const hasEscaped = /["\\\0-\x1f]/

const stringList: ListType = {
  shape: 'list',
  element: { shape: 'leaf', scalar: 'string' },
  listType: 'atomic',
  keys: [],
  patchStrategy: { merge: false, replace: false, retainKeys: false },
}
const schemaList = (type: Special): ListType => ({ ...stringList, element: type.of!() })

const typeMeta = new Map(
  ['kind', 'apiVersion'].map((name): [string, Field] => [
    name,
    {
      name,
      type: { shape: 'leaf', scalar: 'string' },
      omit: 'empty',
      pointer: false,
      required: false,
      patchStrategy: stringList.patchStrategy,
      number: 0,
      within: [],
      embeddedIn: ['TypeMeta'],
    },
  ]),
)

const isByte = (tree: JsonTree): boolean =>
  typeof tree === 'number' && tree >= 0 && tree <= 255 && Number.isInteger(tree)

const typeMetaField = (type: StructType, name: string) => (type.typeMeta ? typeMeta.get(name) : undefined)

const structName = (type: StructType) => type.name.slice(type.name.lastIndexOf('.') + 1)

/** What is no schema leaves JSONSchemaPropsOrArray empty. */
const isNoSchema = (type: Structural, decoded: Json | undefined): boolean =>
  type.shape === 'special' &&
  type.special === 'schemaOrArray' &&
  (decoded === null || (Array.isArray(decoded) && decoded.length === 0))
