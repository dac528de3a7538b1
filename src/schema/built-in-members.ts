/**
 * Makes fields and their types from the texts of the generated table. As in built-in.ts, objects here have all members
 * of the interface that they implement.
 */
import { lazy } from '../base/lazy.ts'
import type { Json } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import table from './built-in-table.json' with { type: 'json' }
import type { Field, Leaf, ListType, MapType, PatchStrategy, Scalar, Structural, StructType } from './structural.ts'

const scalars: Readonly<Record<string, Scalar>> = {
  s: 'string',
  i: 'int32',
  l: 'int64',
  b: 'bool',
  y: 'bytes',
  d: 'double',
}
/** Bound: the scalars. */
const leaves = new Map<string, Leaf>()

export function leaf(scalar: Scalar): Leaf {
  let type = leaves.get(scalar)
  if (type === undefined) leaves.set(scalar, (type = { shape: 'leaf', scalar }))
  return type
}

const untyped: Structural = { shape: 'untyped' }
export const none: readonly never[] = []

export const noStrategy: PatchStrategy = { merge: false, replace: false, retainKeys: false }
/** Bound: the texts of the table. */
const strategies = new Map<string, PatchStrategy>()

function patchStrategy(text: string): PatchStrategy {
  let strategy = strategies.get(text)
  if (strategy === undefined) {
    const words = text.split(',')
    strategy = {
      merge: words.includes('merge'),
      replace: words.includes('replace'),
      retainKeys: words.includes('retainKeys'),
    }
    strategies.set(text, strategy)
  }
  return strategy
}

type Referenced = (reference: string) => Structural

/** The attributes that the table lists for a field. Some belong to the field, others to its type. */
interface Attributes {
  pointer: boolean
  omit: Field['omit']
  required: boolean
  discriminator: boolean
  listType: 'atomic' | 'set' | 'map' | undefined
  keys: readonly string[]
  mapType: 'granular' | 'atomic' | undefined
  strategy: PatchStrategy
  mergeKey: string | undefined
  values: number
  goType: string | undefined
  gates: readonly string[] | undefined
  default: Json | undefined
}

/** Bound: the texts of the table. */
const attributesByText = new Map<string, Attributes>()

function attributesOf(text: string): Attributes {
  let attributes = attributesByText.get(text)
  if (attributes === undefined) attributesByText.set(text, (attributes = readAttributes(text)))
  return attributes
}

function readAttributes(text: string): Attributes {
  const read: Attributes = {
    pointer: false,
    omit: 'never',
    required: false,
    discriminator: false,
    listType: undefined,
    keys: none,
    mapType: undefined,
    strategy: noStrategy,
    mergeKey: undefined,
    values: -1,
    goType: undefined,
    gates: undefined,
    default: undefined,
  }
  const words = text === '' ? none : text.split(' ')
  for (let at = 0; at < words.length; at++) {
    const word: string = words[at]!
    // prettier-ignore
    switch (word.charAt(0)) {
      case 'p': read.pointer = true; break
      case 'o': read.omit = 'empty'; break
      case 'z': read.omit = 'zero'; break
      case 'r': read.required = true; break
      case 'd': read.discriminator = true; break
      case 'a': read.listType = 'atomic'; break
      case 'e': read.listType = 'set'; break
      case 'm': read.listType = 'map'; read.keys = word.slice(1).split(','); break
      case 'M': read.mapType = word === 'Matomic' ? 'atomic' : 'granular'; break
      case 'P': read.strategy = patchStrategy(word.slice(1)); break
      case 'K': read.mergeKey = word.slice(1); break
      case 'V': read.values = Number(word.slice(1)); break
      case 'Y': read.goType = word.slice(1); break
      case 'G': read.gates = word.slice(1).split(','); break
      case '=': read.default = JSON.parse(word.slice(1)) as Json; break
      default: throw new Error(`unknown attribute ${word}`)
    }
  }
  return read
}

/**
 * Parses the table's text of a field, which contains neither its name nor its number.
 * @param referenced the type that a reference names
 */
export function readMember(text: string, referenced: Referenced): Field {
  const end = text.indexOf(' ')
  const attributes = attributesOf(end < 0 ? '' : text.slice(end + 1))
  const { omit, pointer, required, strategy } = attributes
  const type = readMemberType(end < 0 ? text : text.slice(0, end), attributes, referenced)
  return {
    name: '',
    type,
    omit,
    pointer,
    required,
    patchStrategy: strategy,
    number: 0,
    within: none,
    embeddedIn: none,
    mergeKey: attributes.mergeKey,
    featureGates: attributes.gates,
    default: attributes.default,
    unionDiscriminator: attributes.discriminator,
    declaredListType: type.shape === 'leaf' ? attributes.listType : undefined,
    declaredMapType: type.shape === 'struct' ? attributes.mapType : undefined,
  }
}

function readMemberType(type: string, attributes: Attributes, referenced: Referenced): Structural {
  const first = type.charAt(0)
  if (first === '*')
    return readList(elementOf(readElement(type.slice(1), attributes, referenced), attributes), attributes)
  if (first === '{') return readMap(readElement(type.slice(1), attributes, referenced), attributes)
  const structural = readElement(type, attributes, referenced)
  const { mapType, goType } = attributes
  if (structural.shape === 'struct' && mapType !== undefined && mapType !== structural.mapType)
    return withMapType(structural, mapType)
  if (structural.shape === 'leaf' && goType !== undefined) return { ...structural, goType }
  return structural
}

/** The Go type of a list names that of its elements. */
const elementOf = (element: Structural, { goType }: Attributes): Structural =>
  element.shape === 'leaf' && goType?.startsWith('[]') ? { ...element, goType: goType.slice(2) } : element

const readList = (element: Structural, { listType, keys, strategy, mergeKey, goType }: Attributes): ListType => ({
  shape: 'list',
  element,
  listType: listType ?? 'atomic',
  keys,
  patchStrategy: strategy,
  declaredListType: listType,
  mergeKey,
  goType,
})

const readMap = (value: Structural, { mapType, goType }: Attributes): MapType => ({
  shape: 'map',
  value,
  mapType: mapType ?? 'granular',
  declaredMapType: mapType,
  goType,
})

function readElement(type: string, { values }: Attributes, referenced: Referenced): Structural {
  if (type.charAt(0) === '@') return referenced(type)
  const scalar = ownValue(scalars, type)
  if (scalar === undefined) return untyped
  return values < 0 ? leaf(scalar) : leafOfValues(scalar, values)
}

const valueSets = lazy(() => table.values.split(';'))

function leafOfValues(scalar: Scalar, index: number): Leaf {
  const key = `V${index}`
  let type = leaves.get(key)
  if (type === undefined) {
    const [goType, declared, ...list] = valueSets()[index]!.split('|')
    const values = declared === '1' ? { enum: list } : list.length > 0 ? { knownValues: list } : {}
    type = { shape: 'leaf', scalar, goType: goType!, ...values }
    leaves.set(key, type)
  }
  return type
}

/** The type with the x-kubernetes-map-type that a field declares. */
function withMapType(type: StructType, mapType: 'granular' | 'atomic'): StructType {
  const { name, typeMeta, goType, gvk, unions } = type
  return {
    shape: 'struct',
    heldAs: 'typed',
    name,
    typeMeta,
    mapType,
    ...(goType === undefined ? {} : { goType }),
    ...(gvk === undefined ? {} : { gvk }),
    ...(unions === undefined ? {} : { unions }),
    get fields() {
      return type.fields
    },
    field: (field) => type.field(field),
    get message() {
      return type.message
    },
  }
}
