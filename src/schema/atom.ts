/**
 * A type as server-side apply sees it: whether a value may be a scalar, a list, a map, or several of them, and whether
 * managers own its parts one by one. The rules are those of kube-openapi's pkg/schemaconv, which reads them from the
 * OpenAPI form of the type.
 */
import { builtInType } from './built-in.ts'
import type { Json } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { preservesUnknown } from './from-openapi.ts'
import type { Structural, StructType } from './structural.ts'

export interface Atom {
  readonly scalar?: ScalarKind
  readonly list?: ListAtom
  readonly map?: MapAtom
}

export type ScalarKind = 'string' | 'numeric' | 'boolean' | 'untyped'

export interface ListAtom {
  /** A manager owns the value as a whole. */
  readonly atomic: boolean
  /** The keys of a list of type map; empty for sets. */
  readonly keys: readonly string[]
  readonly element: Atom
  /** The value that server-side apply assumes for a key field that an element lacks. */
  keyDefault(name: string): Json | undefined
}

export interface MapAtom {
  readonly atomic: boolean
  /** The type of a named field; undefined for the keys of a free map. */
  declared(name: string): Atom | undefined
  /** The type of all other keys; undefined where the map allows none. */
  readonly others: Atom | undefined
  /** The schema describes no key of the map. */
  readonly deduced: boolean
}

/** Any value. A manager owns it as a whole. */
export const untypedAtomic: Atom = {
  scalar: 'untyped',
  get list(): ListAtom {
    return untypedList
  },
  map: {
    atomic: true,
    declared: () => undefined,
    get others(): Atom {
      return untypedAtomic
    },
    deduced: false,
  },
}

const untypedList: ListAtom = { atomic: true, keys: [], element: untypedAtomic, keyDefault: () => undefined }

const deducedMap: MapAtom = {
  atomic: false,
  declared: () => undefined,
  get others(): Atom {
    return deduced
  },
  deduced: true,
}

/** Any value. Managers own maps key by key and lists as a whole. */
export const deduced: Atom = { scalar: 'untyped', list: untypedList, map: deducedMap }

const string: Atom = { scalar: 'string' }
const numeric: Atom = { scalar: 'numeric' }
const boolean: Atom = { scalar: 'boolean' }
const anyScalar: Atom = { scalar: 'untyped' }

const known = new WeakMap<Structural, Atom>()
const knownInPreserving = new WeakMap<Structural, Atom>()

/**
 * @param preserving an enclosing type has x-kubernetes-preserve-unknown-fields, which applies to all types inside of it
 */
export function atomOf(type: Structural, preserving = false): Atom {
  const cache = preserving ? knownInPreserving : known
  let atom = cache.get(type)
  if (atom === undefined) cache.set(type, (atom = makeAtom(type, preserving)))
  return atom
}

function makeAtom(type: Structural, preserving: boolean): Atom {
  switch (type.shape) {
    case 'leaf':
      switch (type.scalar) {
        case 'string':
          return stringFormat(type.validation?.['format'])
        case 'bytes':
          return string
        case 'bool':
          return boolean
        default:
          return numeric
      }
    case 'special':
      switch (type.special) {
        case 'duration':
          return string
        case 'time':
        case 'microTime':
        case 'quantity':
          return anyScalar
        case 'rawExtension':
          return untypedAtomic
        case 'fieldsV1':
          return { map: deducedMap }
        default:
          return deduced
      }
    case 'list':
      return {
        list: {
          atomic: type.listType === 'atomic',
          keys: type.listType === 'map' ? type.keys : [],
          get element() {
            return atomOf(type.element, preserving)
          },
          keyDefault: (name) => keyDefault(type.element, name),
        },
      }
    case 'map': {
      const map: MapAtom = {
        atomic: type.mapType === 'atomic',
        declared: () => undefined,
        get others() {
          return atomOfOthers(type.value, preserving)
        },
        deduced: false,
      }
      // as below; a schema without a type has to preserve unknown fields
      return preservesUnknown(type) && type.validation?.['type'] === undefined
        ? { scalar: 'untyped', list: untypedList, map }
        : { map }
    }
    case 'struct': {
      const map = structMap(type, preserving || type.preserveUnknownFields === true)
      // a schema that declares properties but no type allows other values, too
      return isOfAnyType(type) ? { scalar: 'untyped', list: untypedList, map } : { map }
    }
    case 'untyped':
      return deduced
  }
}

/** `additionalProperties: false` allows no other members. */
const atomOfOthers = (type: Structural, preserving: boolean): Atom | undefined =>
  type.shape === 'untyped' && type.undeclared === 'forbidden' ? undefined : atomOf(type, preserving)

/** Server-side apply accepts any scalar where a string has a format other than `byte`. */
const stringFormat = (format: Json | undefined): Atom =>
  format === undefined || format === '' || format === 'byte' ? string : anyScalar

/** Only a type that comes from a schema has constraints of it. */
const hasSchema = ({ validation }: StructType): boolean => validation !== undefined

const isOfAnyType = (type: StructType): boolean =>
  hasSchema(type) && !type.typeMeta && type.validation?.['type'] === undefined

function structMap(type: StructType, preserving: boolean): MapAtom {
  const isObject = type.typeMeta || type.embeddedResource === true
  const implied: Readonly<Record<string, Atom>> = isObject ? { apiVersion: string, kind: string } : {}
  const find = (name: string): Atom | undefined => {
    // metadata has its type whatever the schema around it says
    if (isObject && hasSchema(type) && name === 'metadata') return objectMeta()
    const field = type.field(name)
    if (field !== undefined) return atomOf(field.type, preserving)
    return Object.hasOwn(implied, name) ? ownValue(implied, name) : undefined
  }
  const found = new Map<string, Atom>()
  const declared = (name: string): Atom | undefined => {
    let atom = found.get(name)
    // the cache has declared fields only, because a client can invent any number of other names
    if (atom === undefined && (atom = find(name)) !== undefined) found.set(name, atom)
    return atom
  }
  const empty = !isObject && (type.width ?? type.fields.length) === 0
  return {
    atomic: type.mapType === 'atomic',
    declared,
    others: preserving || empty ? deduced : type.others && atomOfOthers(type.others, preserving),
    deduced: empty,
  }
}

const objectMeta = () => atomOf(builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'))

/** The default in OpenAPI v3: the declared one, or Go's zero value where Go always writes the scalar. */
function keyDefault(element: Structural, name: string): Json | undefined {
  if (element.shape !== 'struct') return undefined
  const field = element.field(name)
  if (field === undefined) return undefined
  if (field.default !== undefined) return field.default
  if (field.omit !== 'never' || field.pointer || field.type.shape !== 'leaf') return undefined
  return field.type.scalar === 'string' || field.type.scalar === 'bytes' ? '' : field.type.scalar === 'bool' ? false : 0
}
