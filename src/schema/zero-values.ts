/** Go's zero values. Decoding fills them in, and encoding leaves them out where an absent field means the same. */
import type { Json, JsonObject } from '../api/object.ts'
import type { Field, Structural, StructType } from './structural.ts'

/** Whether Go's encoder leaves out a field with this value. */
export const isLeftOut = (field: Field, value: Json): boolean =>
  field.omit !== 'never' && !field.pointer && isEmpty(field.type, value)

/** Lists for which defaulting or conversion distinguishes empty from absent. */
const emptyOrNone: ReadonlySet<string> = new Set([
  'io.k8s.api.autoscaling.v2.HPAScalingRules.policies',
  'io.k8s.api.resource.v1beta1.DeviceRequest.selectors',
  'io.k8s.api.resource.v1beta1.DeviceRequest.tolerations',
])

export const tellsEmptyFromNone = (type: StructType, name: string, value: Json): boolean =>
  Array.isArray(value) && emptyOrNone.has(`${type.name}.${name}`)

function isEmpty(type: Structural, value: Json): boolean {
  switch (type.shape) {
    case 'leaf':
      return value === '' || value === 0 || value === false
    case 'list':
      return (value as Json[]).length === 0
    case 'map':
      for (const name in value as JsonObject) if (Object.hasOwn(value as JsonObject, name)) return false
      return true
    default:
      return false
  }
}

/** The zero value of an element of a list or a map. */
export function zeroOf(type: Structural): Json {
  switch (type.shape) {
    case 'leaf':
      return type.scalar === 'string' || type.scalar === 'bytes' ? '' : type.scalar === 'bool' ? false : 0
    case 'list':
      return []
    case 'map':
      return {}
    case 'struct':
      return emptyStruct(type)
    case 'special':
      return type.special === 'quantity'
        ? '0'
        : type.special === 'duration'
          ? '0s'
          : type.special === 'intOrString'
            ? 0
            : null
    case 'untyped':
      return null
  }
}

const innerStructs = new WeakMap<StructType, readonly [name: string, type: StructType][]>()

/** Fields whose Go type is a struct and not a pointer. */
function innerStructsOf(type: StructType): readonly [name: string, type: StructType][] {
  let fields = innerStructs.get(type)
  if (fields === undefined) {
    fields = type.fields.flatMap(({ name, type, pointer }): [string, StructType][] =>
      type.shape === 'struct' && !pointer ? [[name, type]] : [],
    )
    innerStructs.set(type, fields)
  }
  return fields
}

/** Adds absent fields whose Go type is a struct and not a pointer, in place. */
export function fillStruct(type: StructType, object: JsonObject): void {
  // own key: a field of a built-in type
  for (const [name, inner] of innerStructsOf(type)) object[name] ??= emptyStruct(inner)
}

/** The zero value of a struct in its normal form. */
export function emptyStruct(type: StructType): JsonObject {
  const object: JsonObject = {}
  fillStruct(type, object)
  return object
}
