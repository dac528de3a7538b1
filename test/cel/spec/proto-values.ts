/** Values and types as cel-spec's test files write them (cel.expr.Value, cel.expr.Type). */
import { listFrom, ValueMap } from '../../../src/cel/values/collections.ts'
import type { Type } from '../../../src/cel/checker/type.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  opaque,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
  structNamed,
} from '../../../src/cel/checker/type.ts'
import type { Value } from '../../../src/cel/values/value.ts'
import { TypeValue, Uint } from '../../../src/cel/values/value.ts'
import type { Message } from './text-proto.ts'
import { messageAt, messagesAt, textAt } from './text-proto.ts'

const primitives: Readonly<Record<string, Type>> = { BOOL, INT64: INT, UINT64: UINT, DOUBLE, STRING, BYTES }
const wellKnown: Readonly<Record<string, Type>> = { TIMESTAMP, DURATION }
const named: Readonly<Record<string, Type>> = {
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
  null_type: NULL,
  list: listOf(DYN),
  map: mapOf(DYN, DYN),
  type: typeOf(),
  'google.protobuf.Timestamp': TIMESTAMP,
  'google.protobuf.Duration': DURATION,
}

export function typeOfProto(type: Message): Type {
  const primitive = textAt(type, 'primitive')
  if (primitive !== undefined) return primitives[primitive] ?? DYN
  const list = messageAt(type, 'list_type')
  if (list !== undefined) return listOf(elementOf(list, 'elem_type'))
  const map = messageAt(type, 'map_type')
  if (map !== undefined) return mapOf(elementOf(map, 'key_type'), elementOf(map, 'value_type'))
  if (type.has('null')) return NULL
  const abstract = messageAt(type, 'abstract_type')
  if (abstract !== undefined)
    return opaque(textAt(abstract, 'name') ?? '', ...messagesAt(abstract, 'parameter_types').map(typeOfProto))
  return wellKnown[textAt(type, 'well_known') ?? ''] ?? DYN
}

function elementOf(type: Message, name: string): Type {
  const element = messageAt(type, name)
  return element === undefined ? DYN : typeOfProto(element)
}

export function valueOfProto(value: Message): Value {
  const [field] = value.keys()
  const text = textAt(value, field ?? '') ?? ''
  switch (field) {
    case 'null_value':
      return null
    case 'bool_value':
      return text === 'true'
    case 'int64_value':
      return BigInt(text)
    case 'uint64_value':
      return new Uint(BigInt(text))
    case 'double_value':
      return /inf/i.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text)
    case 'string_value':
      return text
    case 'bytes_value': {
      const bytes = value.get(field)![0]
      return typeof bytes === 'object' && 'bytes' in bytes ? bytes.bytes : new Uint8Array()
    }
    case 'list_value':
      return listFrom(messagesAt(messageAt(value, field)!, 'values').map(valueOfProto))
    case 'map_value': {
      const entries = messagesAt(messageAt(value, field)!, 'entries')
      return ValueMap.of(
        entries.map((entry) => [valueOfProto(messageAt(entry, 'key')!), valueOfProto(messageAt(entry, 'value')!)]),
      )
    }
    case 'type_value':
      return new TypeValue(named[text] ?? structNamed(text))
    default:
      throw new Error(`a value of ${field}`)
  }
}
