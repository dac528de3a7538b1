/** Lists and maps that expressions create. */
import { equalOthers } from './equality.ts'
import { sameType } from '../checker/type-relations.ts'
import { compareNumbers, isNumber, noSuchOverload } from './numbers.ts'
import type { Value } from './value.ts'
import { visit } from '../evaluation/work.ts'
import { ListValue, MapValue, OpaqueValue, Optional, Uint } from './value.ts'

/**
 * A list of values. If a list reaches the end of its storage, appending to it reuses the storage. So a comprehension
 * that appends to its accumulator copies nothing.
 */
export class ValueList extends ListValue {
  static readonly empty = new ValueList([])

  constructor(
    private readonly values: Value[],
    readonly size: number = values.length,
  ) {
    super()
  }

  at(index: number): Value {
    return this.values[index]!
  }

  concat(other: ListValue): ListValue {
    if (other.size === 0) return this
    const values = this.size === this.values.length ? this.values : this.values.slice(0, this.size)
    for (let i = 0; i < other.size; i++) values.push(other.at(i))
    return new ValueList(values, this.size + other.size)
  }
}

export function concatenated(a: ListValue, b: ListValue): ListValue {
  if (a.plus !== undefined) return a.plus(b)
  if (a.size === 0) return b
  if (b.size > COPIED) return new Joined(a, b)
  if (a instanceof ValueList && a !== ValueList.empty) return a.concat(b)
  return a.size > COPIED ? new Joined(a, b) : new ValueList(itemsOf(a)).concat(b)
}

/**
 * The most elements that `+` copies. A call costs one unit for lists of any size, so `+` does not copy longer lists.
 */
const COPIED = 32

/** The concatenation of two lists, without a copy. */
class Joined extends ListValue {
  readonly size: number
  constructor(
    private readonly head: ListValue,
    private readonly tail: ListValue,
  ) {
    super()
    this.size = head.size + tail.size
  }

  at(index: number): Value {
    let list: ListValue = this
    let at = index
    while (list instanceof Joined) {
      const inHead = at < list.head.size
      if (!inHead) at -= list.head.size
      list = inHead ? list.head : list.tail
    }
    return list.at(at)
  }
}

export const itemsOf = (list: ListValue): Value[] => Array.from({ length: list.size }, (_, index) => list.at(index))

export const listFrom = (values: Value[]): ListValue => new ValueList(values)

/** The key of a JavaScript Map for a CEL map key. Equal numbers of different types have the same key. */
export function mapKey(key: Value): string | number | bigint | boolean | undefined {
  switch (typeof key) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return key
    case 'number':
      return Number.isInteger(key) ? BigInt(key) : key
    default:
      return key instanceof Uint ? key.value : undefined
  }
}

interface Entry {
  readonly key: Value
  readonly value: Value
  /** The number of entries before this one. */
  readonly position: number
}

/** A map of values. If a map has all entries of its storage, a map with one more entry reuses the storage. */
export class ValueMap extends MapValue {
  static readonly empty = new ValueMap(new Map(), 0)

  private constructor(
    private readonly entries: Map<unknown, Entry>,
    readonly size: number,
  ) {
    super()
  }

  /** The last entry of a repeated key wins. */
  static of(entries: Iterable<readonly [key: Value, value: Value]>): ValueMap {
    const made = new Map<unknown, Entry>()
    for (const [key, value] of entries) {
      const known = made.get(mapKey(key))
      made.set(mapKey(key), { key, value, position: known?.position ?? made.size })
    }
    return new ValueMap(made, made.size)
  }

  get(key: Value): Value | undefined {
    const known = mapKey(key)
    const entry = known === undefined ? undefined : this.entries.get(known)
    return entry !== undefined && entry.position < this.size ? entry.value : undefined
  }

  *keys(): Iterable<Value> {
    for (const { key, position } of this.entries.values()) if (position < this.size) yield key
  }

  /** @returns undefined if the map already has the key */
  with(key: Value, value: Value): ValueMap | undefined {
    if (this.get(key) !== undefined) return undefined
    const isLatest = this.entries.size === this.size && this !== ValueMap.empty
    const entries = isLatest
      ? this.entries
      : new Map([...this.entries].filter(([, { position }]) => position < this.size))
    entries.set(mapKey(key), { key, value, position: this.size })
    return new ValueMap(entries, this.size + 1)
  }
}

/**
 * Equality of values. Numbers of different types are equal if their values are. Other values must have the same type.
 */
export function equal(a: Value, b: Value): boolean {
  if (a === b) return !(typeof a === 'number' && Number.isNaN(a))
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b) === 0
  return structurallyEqual(a, b)
}

function structurallyEqual(a: Value, b: Value): boolean {
  if (a instanceof ListValue && b instanceof ListValue) return equalLists(a, b)
  if (a instanceof MapValue && b instanceof MapValue) return equalMaps(a, b)
  if (a instanceof Optional && b instanceof Optional) return equalContents(a.value, b.value)
  return equalOthers(a, b)
}

function equalLists(a: ListValue, b: ListValue): boolean {
  visit(a.size)
  if (a.equalTo !== undefined) return a.equalTo(b)
  if (a.size !== b.size) return false
  for (let i = 0; i < a.size; i++) if (!equal(a.at(i), b.at(i))) return false
  return true
}

/** Equality of the contents of optionals. Undefined: the optional is empty. */
const equalContents = (a: Value | undefined, b: Value | undefined): boolean =>
  a === undefined || b === undefined ? a === b : equal(a, b)

function equalMaps(a: MapValue, b: MapValue): boolean {
  visit(a.size)
  const own = a.equalTo?.(b)
  if (own !== undefined) return own
  if (a.size !== b.size) return false
  for (const key of a.keys()) {
    const other = b.get(key)
    if (other === undefined || !equal(a.get(key)!, other)) return false
  }
  return true
}

/** `in`: whether a value is an element of a list or a key of a map. */
export function isIn(value: Value, container: Value): Value {
  if (container instanceof MapValue) return container.get(value) !== undefined
  if (!(container instanceof ListValue)) return noSuchOverload()
  if (isIncomparable(value)) return false
  let at = 0
  while (at < container.size && !equal(value, container.at(at))) at++
  // cel-go charges one unit if the type of the list is unknown at compile time
  visit(at)
  return at < container.size
}

/** `==` has no meaning for these values, such as kube-apiserver's authorizer. */
/** Whether `==` is no such overload. Kubernetes' values refuse values of other types, and null has its own rule. */
export function isNotComparedWith(a: Value, b: Value): boolean {
  if (isIncomparable(a)) return true
  if (b === null) return false
  if (a instanceof OpaqueValue) return !(b instanceof OpaqueValue && sameType(a.type, b.type))
  if (a instanceof ListValue) return a.comparesWithListsOnly && !(b instanceof ListValue)
  return a instanceof MapValue && a.comparesWithMapsOnly && !(b instanceof MapValue)
}

export const isIncomparable = (value: Value): boolean => value instanceof OpaqueValue && !value.isComparable
