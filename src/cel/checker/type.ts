import type { Value } from '../values/value.ts'

/** Types of expressions (cel-spec's checked.proto). Compare them with `sameType`, never with `===`. */
export type Type =
  | { readonly kind: 'dyn' | 'error' | 'null' | 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' }
  | { readonly kind: 'timestamp' | 'duration' | 'any' }
  | (Composed & { readonly kind: 'list'; readonly element: Type })
  | (Composed & { readonly kind: 'map'; readonly key: Type; readonly value: Type })
  /** An object with declared fields; the environment's `TypeProvider` knows them. */
  | { readonly kind: 'struct'; readonly name: string }
  /** A named type with parameters and without fields: `optional_type(T)`, `net.IP`, `kubernetes.Quantity`. */
  | (Composed & { readonly kind: 'opaque'; readonly name: string; readonly parameters: readonly Type[] })
  /** A nullable primitive: `wrapper(int)`. */
  | { readonly kind: 'wrapper'; readonly of: Type }
  /** The type of a type: `type(int)`. */
  | (Composed & { readonly kind: 'type'; readonly of: Type | undefined })
  /** A parameter of an overload: `<A>`. */
  | { readonly kind: 'parameter'; readonly name: string }

/** A type that holds other types. */
interface Composed {
  /**
   * The number of types that a walk through this type visits, itself included. Types share their parts, so a type can
   * be far larger than its expression.
   */
  readonly size: number
  /** Whether the type contains a type parameter. */
  readonly isOpen: boolean
}

/** The number of types that a walk through a type visits. */
export const sizeOfType = (type: Type): number => ('size' in type ? type.size : 1)

/** Whether a substitution of type parameters can change the type. */
export const isOpen = (type: Type): boolean => type.kind === 'parameter' || ('isOpen' in type && type.isOpen)

const composed = (parts: readonly Type[]): Composed => ({
  size: parts.reduce((sum, part) => sum + sizeOfType(part), 1),
  isOpen: parts.some(isOpen),
})

const simple = <K extends Extract<Type, { kind: string }>['kind']>(kind: K) => ({ kind }) as Type

export const DYN = simple('dyn')
export const ERROR = simple('error')
export const NULL = simple('null')
export const BOOL = simple('bool')
export const INT = simple('int')
export const UINT = simple('uint')
export const DOUBLE = simple('double')
export const STRING = simple('string')
export const BYTES = simple('bytes')
export const TIMESTAMP = simple('timestamp')
export const DURATION = simple('duration')
export const ANY = simple('any')

export const listOf = (element: Type): Type => ({ kind: 'list', element, ...composed([element]) })
export const mapOf = (key: Type, value: Type): Type => ({ kind: 'map', key, value, ...composed([key, value]) })
export const structNamed = (name: string): Type => ({ kind: 'struct', name })
export const opaque = (name: string, ...parameters: Type[]): Type => ({
  kind: 'opaque',
  name,
  parameters,
  ...composed(parameters),
})
export const optionalOf = (of: Type): Type => opaque('optional_type', of)
export const typeOf = (of?: Type): Type => ({
  kind: 'type',
  of,
  ...composed(of === undefined ? [] : [of]),
})
export const parameter = (name: string): Type => ({ kind: 'parameter', name })

/** Gives the checker the declared object types. Schemas resolve lazily, one type at a time. */
export interface TypeProvider {
  /** @returns undefined if there is no such type */
  findStruct(name: string): Type | undefined
  /** @returns undefined if the type has no such field */
  findField(struct: string, field: string): Type | undefined
  /** The names of a struct's fields, for struct literals and error messages. */
  fieldNames(struct: string): readonly string[]
  /** Whether the name of a type is a type value at run time. Absent: every name is. */
  isValue?(name: string): boolean
  /** Makes the value of a struct literal. Absent: the provider has no struct literals. */
  newStruct?(name: string, fields: ReadonlyMap<string, Value>): Value
}
