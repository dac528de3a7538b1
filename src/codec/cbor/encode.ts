/** Encodes JSON as CBOR (RFC 8949) like kube-apiserver. */
import type { Json, JsonObject } from '../../api/object.ts'
import { eachPart, forAsLong, goesInParts, kept } from '../../base/parts.ts'
import type { Structural, StructType } from '../../schema/structural.ts'
import { base64ToBytes } from '../../base/base64.ts'
import type { EncodeOptions } from '../encode/encode.ts'
import { canonical } from '../encode/encode.ts'
import { compareNames, sortNames } from '../../base/name-order.ts'
import { byteLength } from '../../base/utf8.ts'
import { namesOf, noteOrders } from '../protobuf/map-orders.ts'
import type { KeyOrder, Orders } from '../protobuf/map-orders.ts'
import {
  ARRAY,
  AS_BASE64,
  BYTES,
  FALSE,
  FLOAT16,
  FLOAT32,
  FLOAT64,
  MAP,
  NEGATIVE,
  NULL,
  SELF_DESCRIBED,
  TAG,
  TRUE,
  UNSIGNED,
} from './cbor.ts'

/** An object of a built-in type, with the self-describing tag in front. */
export const encodeCbor = (type: StructType, object: JsonObject, options: EncodeOptions = {}): Uint8Array =>
  encoded(
    type,
    kept(object, () => canonical(type, object, options)),
  )

/** A value that no type describes (custom resources), with the self-describing tag in front. */
export const encodeCborValue = (value: Json): Uint8Array => encoded(undefined, value)

function encoded(type: Structural | undefined, value: Json): Uint8Array {
  const orders = ordersOf(value)
  const writer = kept(value, () => {
    const made = new CborWriter()
    made.bytes(SELF_DESCRIBED)
    made.begin(type, value, orders)
    return made
  })
  forAsLong(() => writer.step())
  return writer.finish()
}

/**
 * Encodes the head and the tail of a list. encodeCborItems encodes the items between them.
 * @param list has an empty list of items
 */
export function encodeCborList(
  type: StructType | undefined,
  list: JsonObject,
  count: number,
): { readonly head: Uint8Array; readonly tail: Uint8Array } {
  const writer = new CborWriter()
  writer.bytes(SELF_DESCRIBED)
  const end = writer.around(type, type === undefined ? list : canonical(type, list, { keepEmpty: true }), count)
  const bytes = writer.finish()
  return { head: bytes.subarray(0, end), tail: bytes.subarray(end) }
}

/**
 * Encodes items of a list. It may run in a walk (base/parts.ts).
 * @param type undefined for custom resources
 */
export function encodeCborItems(type: StructType | undefined, items: readonly JsonObject[]): Uint8Array {
  const writer = kept(items, () => new CborWriter())
  eachPart(items, (item) => {
    const written = type === undefined ? item : kept(item, () => canonical(type, item, { keepEmpty: true }))
    const orders = ordersOf(written)
    kept(item, () => (writer.begin(type, written, orders), item))
    forAsLong(() => writer.step())
  })
  return writer.finish()
}

/** One event of a watch: an item of a CBOR sequence. @param object encoded with its tag */
export function cborWatchEvent(type: string, object: Uint8Array): Uint8Array {
  const writer = new CborWriter()
  writer.bytes(SELF_DESCRIBED)
  writer.head(MAP, 2)
  for (const text of ['type', type, 'object']) writer.text(text)
  writer.bytes(object)
  return writer.finish()
}

const utf8 = new TextEncoder()

/** A list or map whose end is not written yet. */
interface Written {
  readonly type: Structural | undefined
  readonly value: readonly Json[] | JsonObject
  /** undefined: a list */
  readonly names: readonly string[] | undefined
  readonly length: number
  next: number
}

/** The sorted names of all maps, where encoding goes in parts (base/parts.ts). */
function ordersOf(value: Json): Orders | undefined {
  if (!goesInParts()) return undefined
  const orders: Orders = kept(value, () => new Map())
  noteOrders(value, orders, keyOrder)
  return orders
}

class CborWriter {
  /** The sorted names of the maps in the current object. */
  private orders: Orders | undefined
  private buffer = new Uint8Array(1024)
  private length = 0
  private readonly open: Written[] = []

  finish(): Uint8Array {
    return this.buffer.subarray(0, this.length)
  }

  bytes(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.buffer.length) {
      const bigger = new Uint8Array(Math.max(this.buffer.length * 2, this.length + bytes.length))
      bigger.set(this.finish())
      this.buffer = bigger
    }
    this.buffer.set(bytes, this.length)
    this.length += bytes.length
  }

  head(major: number, argument: number | bigint): void {
    const first = major << 5
    if (argument < 24) this.bytes(Uint8Array.of(first | Number(argument)))
    else if (argument < 0x100) this.bytes(Uint8Array.of(first | 24, Number(argument)))
    else if (argument < 0x10000) this.sized(first | 25, 2, (view) => view.setUint16(1, Number(argument)))
    else if (argument < 0x1_0000_0000) this.sized(first | 26, 4, (view) => view.setUint32(1, Number(argument)))
    else this.sized(first | 27, 8, (view) => view.setBigUint64(1, BigInt(argument)))
  }

  private sized(first: number, size: number, set: (view: DataView) => void): void {
    const bytes = new Uint8Array(1 + size)
    bytes[0] = first
    set(new DataView(bytes.buffer))
    this.bytes(bytes)
  }

  /** Writes a whole value. @param value in the canonical form of encode.ts */
  whole(type: Structural | undefined, value: Json): void {
    const around = this.open.length
    this.begin(type, value)
    while (this.open.length > around) this.step()
  }

  /** Writes a scalar, or the beginning of a list or map. */
  begin(type: Structural | undefined, value: Json, orders = this.orders): void {
    this.orders = orders
    if (Array.isArray(value)) {
      this.head(ARRAY, value.length)
      this.open.push({ type, value, names: undefined, length: value.length, next: 0 })
    } else if (typeof value === 'object' && value !== null) {
      const names = orders?.get(value) ?? inOrder(namesOf(value))
      this.head(MAP, names.length)
      this.open.push({ type, value, names, length: names.length, next: 0 })
    } else if (type?.shape !== 'leaf' || value === null) this.scalar(value)
    else if (type.scalar === 'double') this.float(Number(value))
    else if (type.scalar === 'bytes') {
      this.head(TAG, AS_BASE64)
      this.byteString(base64ToBytes(value as string))
    } else this.scalar(value)
  }

  /**
   * Writes one element or member of the open list or map, or its end.
   * @returns false where nothing is open any more
   */
  step(): boolean {
    const open = this.open.at(-1)
    if (open === undefined) return false
    const { type, value, names, length } = open
    if (open.next === length) {
      this.open.pop()
      return true
    }
    const at = open.next++
    if (names === undefined)
      this.begin(type?.shape === 'list' ? type.element : undefined, (value as readonly Json[])[at]!)
    else {
      const name = names[at]!
      this.text(name)
      this.begin(typeOfMember(type, name), (value as JsonObject)[name]!) // own key: one of its names
    }
    return true
  }

  /**
   * Writes a list without its items.
   * @returns the position of the items
   */
  around(type: StructType | undefined, list: JsonObject, count: number): number {
    let end = 0
    const names = inOrder(namesOf(list))
    this.head(MAP, names.length)
    for (const name of names) {
      this.text(name)
      if (name === 'items') {
        this.head(ARRAY, count)
        end = this.length
      } else this.whole(typeOfMember(type, name), list[name]!) // own key: as above
    }
    return end
  }

  text(text: string): void {
    this.byteString(utf8.encode(text))
  }

  private scalar(value: string | number | bigint | boolean | null): void {
    switch (typeof value) {
      case 'string':
        return this.text(value)
      case 'boolean':
        return this.bytes(Uint8Array.of(value ? TRUE : FALSE))
      case 'bigint':
        return value < 0n ? this.head(NEGATIVE, -1n - value) : this.head(UNSIGNED, value)
      case 'number':
        if (!Number.isSafeInteger(value) || Object.is(value, -0)) return this.float(value)
        return value < 0 ? this.head(NEGATIVE, -1 - value) : this.head(UNSIGNED, value)
    }
    this.bytes(Uint8Array.of(NULL))
  }

  private byteString(bytes: Uint8Array): void {
    this.head(BYTES, bytes.length)
    this.bytes(bytes)
  }

  /** Writes the shortest form of a number that keeps its value. */
  private float(value: number): void {
    const half = float16Of(value)
    if (half !== undefined) this.sized(FLOAT16, 2, (view) => view.setUint16(1, half))
    else if (Math.fround(value) === value) this.sized(FLOAT32, 4, (view) => view.setFloat32(1, value))
    else this.sized(FLOAT64, 8, (view) => view.setFloat64(1, value))
  }
}

function typeOfMember(type: Structural | undefined, name: string): Structural | undefined {
  if (type?.shape === 'map') return type.value
  return type?.shape === 'struct' ? type.field(name)?.type : undefined
}

/** Encoded names begin with their length, so that shorter ones come first. */
function inOrder(given: string[]): string[] {
  const names = sortNames(given)
  if (names.length < 2) return names
  const byLength: string[][] = []
  for (const name of names) (byLength[byteLength(name)] ??= []).push(name)
  return byLength.flat() // passes over lengths that no name has
}

const keyOrder: KeyOrder = {
  sort: inOrder,
  compare: (a, b) => byteLength(a) - byteLength(b) || compareNames(a, b),
}

/** The bits of a half precision float; undefined when it would not be exact. */
function float16Of(value: number): number | undefined {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const magnitude = Math.abs(value)
  if (magnitude === 0) return sign
  if (magnitude < 2 ** -14) {
    const fraction = magnitude * 2 ** 24
    return Number.isInteger(fraction) ? sign | fraction : undefined
  }
  const exponent = Math.floor(Math.log2(magnitude))
  if (exponent > 15) return undefined
  const fraction = (magnitude / 2 ** exponent - 1) * 1024
  return Number.isInteger(fraction) && fraction >= 0 && fraction < 1024
    ? sign | ((exponent + 15) << 10) | fraction
    : undefined
}
