/**
 * The built-in types as protobufjs messages; protobufjs shares no code with our codec. Field numbers and types come
 * from the schema. Which values are written follows Kubernetes' generated marshal code. Field names are made of their
 * numbers.
 */
import protobuf from 'protobufjs'
import type { Json, JsonObject } from '../../../src/api/object.ts'
import { stringify } from '../../../src/json/write-json.ts'
import type { Field, MessageMember, Scalar, Special, Structural, StructType } from '../../../src/schema/structural.ts'

/** A protobufjs message: values by field name. */
type Message = Record<string, unknown>

const nameOf = (number: number): string => `f${number}`

/** Messages of types whose JSON is not an object with their fields. The fields follow the published .proto files. */
const specialMessages: Readonly<Record<string, readonly (readonly [rule: 'optional' | 'repeated', type: string])[]>> = {
  time: [
    ['optional', 'int64'],
    ['optional', 'int32'],
  ],
  microTime: [
    ['optional', 'int64'],
    ['optional', 'int32'],
  ],
  duration: [['optional', 'int64']],
  quantity: [['optional', 'string']],
  intOrString: [
    ['optional', 'int64'],
    ['optional', 'int32'],
    ['optional', 'string'],
  ],
  rawExtension: [['optional', 'bytes']],
  fieldsV1: [['optional', 'bytes']],
  json: [['optional', 'bytes']],
  schemaOrArray: [
    ['optional', 'JSONSchemaProps'],
    ['repeated', 'JSONSchemaProps'],
  ],
  schemaOrBool: [
    ['optional', 'bool'],
    ['optional', 'JSONSchemaProps'],
  ],
  schemaOrStringArray: [
    ['optional', 'JSONSchemaProps'],
    ['repeated', 'string'],
  ],
}

/** Creates each message type on first use and keeps it by a name derived from the schema type. */
export class Oracle {
  readonly #root = new protobuf.Root()
  readonly #made = new Set<string>()

  encode(type: StructType, object: JsonObject): Uint8Array {
    const message = this.#root.lookupType(this.#structName(type))
    return message.encode(this.#messageOf(type, object)).finish()
  }

  /** Decodes and encodes again; the bytes are equal if protobufjs understood all of them. */
  throughValues(type: StructType, bytes: Uint8Array): Uint8Array {
    const message = this.#root.lookupType(this.#structName(type))
    return message.encode(message.decode(bytes)).finish()
  }

  #structName(type: StructType): string {
    const name = type.name.replaceAll(/\W/g, '_')
    if (this.#made.has(name)) return name
    this.#made.add(name)
    const made = new protobuf.Type(name)
    for (const member of type.message!) made.add(this.#protoField(member))
    this.#root.add(made)
    return name
  }

  #protoField(member: MessageMember): protobuf.FieldBase {
    if ('inline' in member)
      return new protobuf.Field(nameOf(member.number), member.number, this.#structName(member.inline))
    const { type, number } = member.field
    const name = nameOf(number)
    if (type.shape === 'list' && type.wrapper === undefined)
      return new protobuf.Field(name, number, this.#typeName(type.element), 'repeated')
    if (type.shape === 'map') return new protobuf.Field(name, number, this.#entryName(type.value), 'repeated')
    return new protobuf.Field(name, number, this.#typeName(type), 'optional')
  }

  #typeName(type: Structural): string {
    switch (type.shape) {
      case 'leaf':
        return type.scalar
      case 'struct':
        return this.#structName(type)
      case 'special':
        return this.#specialName(type)
      case 'list':
        return this.#wrapperName(type.wrapper!, type.element)
      default:
        throw new Error(`a ${type.shape} is no message`)
    }
  }

  /**
   * The name of a map's entry message: on the wire a map is a list of entries. We do not use protobufjs' own maps,
   * since they put keys that look like numbers first.
   */
  #entryName(value: Structural): string {
    const valueName = this.#typeName(value)
    const name = `entry_${valueName}`
    if (this.#made.has(name)) return name
    this.#made.add(name)
    const key = new protobuf.Field(nameOf(1), 1, 'string', 'optional')
    this.#root.add(new protobuf.Type(name).add(key).add(new protobuf.Field(nameOf(2), 2, valueName, 'optional')))
    return name
  }

  /** The name of the message that wraps a list. */
  #wrapperName(wrapper: string, element: Structural): string {
    const name = `wrapper_${wrapper.replaceAll(/\W/g, '_')}`
    if (this.#made.has(name)) return name
    this.#made.add(name)
    this.#root.add(new protobuf.Type(name).add(new protobuf.Field(nameOf(1), 1, this.#typeName(element), 'repeated')))
    return name
  }

  #specialName({ special, of }: Special): string {
    const name = of === undefined ? special : `${special}_${this.#structName(of())}`
    if (this.#made.has(name)) return name
    this.#made.add(name)
    const made = new protobuf.Type(name)
    specialMessages[special]!.forEach(([rule, type], index) => {
      const typeName = type === 'JSONSchemaProps' ? this.#structName(of!()) : type
      made.add(new protobuf.Field(nameOf(index + 1), index + 1, typeName, rule))
    })
    this.#root.add(made)
    return name
  }

  #messageOf(type: StructType, object: JsonObject): Message {
    const message: Message = {}
    for (const member of type.message!) {
      if ('inline' in member) message[nameOf(member.number)] = this.#messageOf(member.inline, object)
      else {
        const value = this.#fieldValue(member.field, object[member.field.name])
        if (value !== undefined) message[nameOf(member.field.number)] = value
      }
    }
    return message
  }

  /**
   * Undefined means that the field is not written. Fields other than pointers, lists, maps and bytes are always
   * written.
   */
  #fieldValue({ type, pointer }: Field, value: Json | undefined): unknown {
    const isAbsent = value === undefined || value === null
    if (type.shape === 'list' && type.wrapper === undefined)
      // the schema says that it is a list
      return isAbsent ? [] : (value as Json[]).map((element) => this.#value(type.element, element))
    if (type.shape === 'map') return isAbsent ? [] : this.#entries(type.value, value as JsonObject)
    if (isAbsent && (pointer || type.shape === 'list' || isBytes(type))) return undefined
    return this.#value(type, value)
  }

  #entries(type: Structural, value: JsonObject): Message[] {
    const keys = Object.keys(value).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    return keys.map((key) => fields(key, this.#value(type, value[key])))
  }

  /** The value of an absent field is the zero value. */
  #value(type: Structural, value: Json | undefined): unknown {
    switch (type.shape) {
      case 'leaf':
        return scalarValue(type.scalar, value)
      case 'struct':
        return this.#messageOf(type, (value ?? {}) as JsonObject)
      case 'list':
        return fields((value as Json[]).map((element) => this.#value(type.element, element)))
      case 'special':
        return this.#specialValue(type, value)
      default:
        throw new Error(`a ${type.shape} is no message`)
    }
  }

  #specialValue({ special, of }: Special, value: Json | undefined): Message {
    const schema = (one: Json): Message => this.#messageOf(of!(), one as JsonObject)
    switch (special) {
      case 'time':
      case 'microTime':
        return timeValue(value as string | null | undefined)
      case 'duration':
        return fields(int64(durationNanoseconds((value ?? '0s') as string)))
      case 'quantity':
        return fields(value ?? '0')
      case 'intOrString':
        return typeof value === 'string' ? fields(int64(1n), 0, value) : fields(int64(0n), Number(value ?? 0), '')
      case 'rawExtension':
      case 'fieldsV1':
      case 'json':
        return value === undefined || value === null ? {} : fields(Buffer.from(stringify(value)))
      case 'schemaOrArray':
        return Array.isArray(value) ? fields(undefined, value.map(schema)) : fields(schema(value!))
      case 'schemaOrBool':
        return typeof value === 'boolean' ? fields(value) : fields(true, schema(value!))
      case 'schemaOrStringArray':
        return Array.isArray(value) ? fields(undefined, value) : fields(schema(value!))
      default:
        throw new Error(`${special} is no message`)
    }
  }
}

/** A message with these values as fields 1, 2, …; undefined ones are not written. */
const fields = (...values: unknown[]): Message =>
  Object.fromEntries(values.flatMap((value, index) => (value === undefined ? [] : [[nameOf(index + 1), value]])))

const isBytes = (type: Structural): boolean => type.shape === 'leaf' && type.scalar === 'bytes'

const int64 = (value: bigint) =>
  new protobuf.util.Long(Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n)))

function scalarValue(scalar: Scalar, value: Json | undefined): unknown {
  switch (scalar) {
    case 'string':
      return value ?? ''
    case 'bool':
      return value ?? false
    case 'int64':
      return int64(BigInt((value ?? 0) as number))
    case 'bytes':
      return Buffer.from((value ?? '') as string, 'base64')
    default:
      return Number(value ?? 0)
  }
}

/** Seconds since 1970 and nanoseconds; an empty message for the zero time. */
function timeValue(text: string | null | undefined): Message {
  if (text === null || text === undefined) return {}
  const fraction = /\.(\d+)Z$/.exec(text)?.[1] ?? ''
  const seconds = BigInt(Date.parse(text.replace(/\.\d+Z$/, 'Z'))) / 1000n
  return fields(int64(seconds), Number(fraction.padEnd(9, '0')))
}

const units: Readonly<Record<string, number>> = { h: 3600e9, m: 60e9, s: 1e9, ms: 1e6, µs: 1e3, us: 1e3, ns: 1 }

function durationNanoseconds(text: string): bigint {
  const parts = [...text.matchAll(/([\d.]+)(h|ms|m|µs|us|s|ns)/g)]
  const sum = parts.reduce((total, [, digits, unit]) => total + BigInt(Math.round(Number(digits) * units[unit!]!)), 0n)
  return text.startsWith('-') ? -sum : sum
}
