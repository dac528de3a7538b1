/**
 * Values at run time. int is `bigint` (64 bits, checked), double is `number`, uint is `Uint`. Lists and maps are
 * interfaces, so that objects of an API are read where they are and nothing is copied before it is asked for.
 */
import type { Type } from './type.ts'

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

/** Seconds since 1970 and nanoseconds 0 … 999,999,999; years 1 to 9999. */
export class Timestamp {
  /** @param offset minutes east of UTC that it is written with; it says nothing of when it is */
  constructor(
    readonly seconds: bigint,
    readonly nanos: number,
    readonly offset = 0,
  ) {}
}

/** Nanoseconds, in an int64. */
export class Duration {
  constructor(readonly nanos: bigint) {}
}

/** Abstract, so that `instanceof` tells it from what else an object can be. */
export abstract class ListValue {
  abstract readonly size: number
  abstract at(index: number): Value
  /** Lists that are no sequences (sets, lists with keys) compare in their own way. */
  equalTo?(other: ListValue): boolean
  /** The same for `+`. */
  plus?(other: ListValue): ListValue
}

/** Objects of an API are maps, too: their types know the fields, at run time they are looked up by name. */
export abstract class MapValue {
  abstract readonly size: number
  /** Undefined: there is no such key. Keys are bool, int, uint, string; 1, 1u and 1.0 are one key. */
  abstract get(key: Value): Value | undefined
  abstract keys(): Iterable<Value>
  /** Objects of a schema compare in their own way. Undefined: not with the other. */
  equalTo?(other: MapValue): boolean | undefined
}

/** An object of a type that is no map at run time: what struct literals make. */
export abstract class ObjectValue {
  abstract readonly type: Type
  /** What is not set has the value that its type says. Undefined: there is no such field. */
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
  /** False: `==` does not know such values, and `in` finds none. */
  get isComparable(): boolean {
    return true
  }
  /** As costs count it. */
  get size(): number {
    return 1
  }
}

/** What an evaluation yields that failed: `||`, `&&` and folds may still absorb it. */
export class CelError {
  constructor(
    readonly message: string,
    /** Id of the node that failed. */
    readonly node?: number,
  ) {}
}
