/** The names of Go's types in error messages. */
import type { Leaf, Special, Structural } from './structural.ts'

const goScalars = {
  string: 'string',
  int32: 'int32',
  int64: 'int64',
  bool: 'bool',
  bytes: '[]uint8',
  double: 'float64',
  number: 'float64',
  integer: 'int64',
} satisfies Record<Leaf['scalar'], string>

const goSpecials = {
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  duration: 'v1.Duration',
  quantity: 'resource.Quantity',
  intOrString: 'intstr.IntOrString',
  rawExtension: 'runtime.RawExtension',
  fieldsV1: 'v1.FieldsV1',
  json: 'v1.JSON',
  schemaOrArray: 'v1.JSONSchemaPropsOrArray',
  schemaOrBool: 'v1.JSONSchemaPropsOrBool',
  schemaOrStringArray: 'v1.JSONSchemaPropsOrStringArray',
  unknown: 'runtime.Unknown',
} satisfies Record<Special['special'], string>

export function goTypeOf(type: Structural): string {
  switch (type.shape) {
    case 'leaf':
      return type.goType ?? goScalars[type.scalar]
    case 'list':
      return type.goType ?? `[]${goTypeOf(type.element)}`
    case 'map':
      return type.goType ?? `map[string]${goTypeOf(type.value)}`
    case 'struct':
      return type.goType ?? 'map[string]interface {}'
    case 'special':
      return goSpecials[type.special]
    case 'untyped':
      return 'interface {}'
  }
}
