import type { Value } from './value.ts'

/** Types of expressions (cel-spec's checked.proto). Values of this union are compared by `sameType`, never by `===`. */
export type Type =
  | { readonly kind: 'dyn' | 'error' | 'null' | 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' }
  | { readonly kind: 'timestamp' | 'duration' | 'any' }
  | { readonly kind: 'list'; readonly element: Type }
  | { readonly kind: 'map'; readonly key: Type; readonly value: Type }
  /** An object with declared fields; the environment's `TypeProvider` knows them. */
  | { readonly kind: 'struct'; readonly name: string }
  /** A named type with parameters and without fields: `optional_type(T)`, `net.IP`, `kubernetes.Quantity`. */
  | { readonly kind: 'opaque'; readonly name: string; readonly parameters: readonly Type[] }
  /** A nullable primitive: `wrapper(int)`. */
  | { readonly kind: 'wrapper'; readonly of: Type }
  /** The type of a type: `type(int)`. */
  | { readonly kind: 'type'; readonly of: Type | undefined }
  /** A parameter of an overload: `<A>`. */
  | { readonly kind: 'parameter'; readonly name: string }

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

export const listOf = (element: Type): Type => ({ kind: 'list', element })
export const mapOf = (key: Type, value: Type): Type => ({ kind: 'map', key, value })
export const structNamed = (name: string): Type => ({ kind: 'struct', name })
export const opaque = (name: string, ...parameters: Type[]): Type => ({ kind: 'opaque', name, parameters })
export const optionalOf = (of: Type): Type => opaque('optional_type', of)
export const typeOf = (of?: Type): Type => ({ kind: 'type', of })
export const parameter = (name: string): Type => ({ kind: 'parameter', name })

/** What the checker asks of declared object types: schemas answer lazily, one type at a time. */
export interface TypeProvider {
  /** Undefined: there is no such type. */
  findStruct(name: string): Type | undefined
  /** Undefined: the type has no such field. */
  findField(struct: string, field: string): Type | undefined
  /** Names of a struct's fields, for struct literals and error texts. */
  fieldNames(struct: string): readonly string[]
  /** Whether the name of a type stands for the type in an expression that runs. Absent: always. */
  isValue?(name: string): boolean
  /** What a struct literal makes. Absent: there are none. */
  newStruct?(name: string, fields: ReadonlyMap<string, Value>): Value
}
