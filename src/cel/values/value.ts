/**
 * Values at run time. int is `bigint` (64 bits, checked), double is `number`, uint is `Uint`. Lists and maps are
 * abstract classes, so that expressions read API objects in place and copy nothing that they do not use.
 */
import type { Type } from '../checker/type.ts'

export type Value =
  | null
  | boolean
  | bigint
  | Uint
  | number
  | string
  | Uint8Array
  | Timestamp
  | Duration
  | ListValue
  | MapValue
  | ObjectValue
  | Optional
  | TypeValue
  | OpaqueValue
  | CelError

export class Uint {
  constructor(readonly value: bigint) {}
}

/** Seconds since 1970, and nanoseconds from 0 to 999,999,999. The years are 1 to 9999. */
export class Timestamp {
  /** @param offset the zone in which it is written, in minutes east of UTC; it does not change the instant */
  constructor(
    readonly seconds: bigint,
    readonly nanos: number,
    readonly offset = 0,
  ) {}
}

/** A duration in nanoseconds, within int64. */
export class Duration {
  constructor(readonly nanos: bigint) {}
}

/** An abstract class and not an interface, so that `instanceof` recognizes lists. */
export abstract class ListValue {
  abstract readonly size: number
  abstract at(index: number): Value
  /** `==` with a value that is no list is no such overload. Otherwise it is false. */
  get comparesWithListsOnly(): boolean {
    return false
  }
  /** Replaces `==` for lists with listType `set` or `map`. */
  equalTo?(other: ListValue): boolean
  /** Replaces `+` for lists with listType `set` or `map`. */
  plus?(other: ListValue): ListValue
}

/** API objects are maps, too. The checker knows their fields, and at run time a field is looked up by name. */
export abstract class MapValue {
  abstract readonly size: number
  /**
   * @returns undefined if there is no such key. Keys are bool, int, uint and string; 1, 1u and 1.0 are the same key.
   */
  abstract get(key: Value): Value | undefined
  abstract keys(): Iterable<Value>
  /** `==` with a value that is no map is no such overload. Otherwise it is false. */
  get comparesWithMapsOnly(): boolean {
    return false
  }
  /** Replaces `==` for objects with a schema. Undefined: it does not apply to the other map. */
  equalTo?(other: MapValue): boolean | undefined
}

/** An object that is no map at run time: the result of a struct literal. */
export abstract class ObjectValue {
  abstract readonly type: Type
  /**
   * The field's value. A field that is not set has the default value of its type. Undefined: there is no such field.
   */
  abstract field(name: string): Value | undefined
  abstract isSet(name: string): boolean
  abstract equals(other: ObjectValue): boolean
}

export class Optional {
  static readonly none = new Optional(undefined)
  constructor(readonly value: Value | undefined) {}
}

export class TypeValue {
  constructor(readonly type: Type) {}
}

/** A value of a library's own type: IP, CIDR, quantity, URL, semver, authorizer … */
export abstract class OpaqueValue {
  abstract readonly type: Type
  abstract equals(other: OpaqueValue): boolean
  /** `==` with a value that is not opaque, inside of lists and maps. */
  equalsPlain?(other: Value): boolean
  /** False: `==` is no such overload for these values, and `in` finds none. */
  get isComparable(): boolean {
    return true
  }
  /** The size from which costs are computed. */
  get size(): number {
    return 1
  }
  /** Characters of what it was made of, if calls and comparisons go over them: they count as work. */
  get length(): number {
    return 0
  }
}

/** The result of a failed evaluation. `||`, `&&` and comprehensions may still absorb it. */
export class CelError {
  constructor(
    readonly message: string,
    /** Id of the node that failed. */
    readonly node?: number,
  ) {}
}
