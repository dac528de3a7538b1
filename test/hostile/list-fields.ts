// Each list field and each map field of each built-in kind, with an object that fills it and the URL for that object.
import type { Json, JsonObject } from '../../src/api/object.ts'
import { apiVersionOf } from '../../src/api/group-version.ts'
import { builtInResources } from '../../src/registry/served/resources.ts'
import { typeOfKind } from '../../src/schema/built-in.ts'
import type { ListType, MapType, Structural, StructType } from '../../src/schema/structural.ts'

export interface ListField {
  readonly path: string
  readonly url: string
  readonly resource: { readonly group: string; readonly resource: string; readonly namespaced: boolean }
  readonly verbs: readonly string[]
  /** The field is a map, and its elements are the members. */
  readonly isMap: boolean
  /** @param distinct the number of different elements, after which they repeat; default: all differ */
  readonly object: (elements: number, distinct?: number) => JsonObject
}

/** A value of the type with all its scalar fields set. The values differ for each number `at`. */
function valueOf(type: Structural, at: number): Json | undefined {
  switch (type.shape) {
    case 'leaf':
      return type.scalar === 'string' ? `v${at}` : type.scalar === 'bool' ? true : type.scalar === 'bytes' ? '' : at
    case 'struct': {
      const fields = type.fields.flatMap(({ name, type: below }): [string, Json][] => {
        const value = below.shape === 'leaf' ? valueOf(below, at) : undefined
        return value === undefined ? [] : [[name, value]]
      })
      return Object.fromEntries(fields)
    }
    case 'special':
      return type.special === 'intOrString' ? at : type.special === 'quantity' ? `${at}` : undefined
    case 'list':
      return []
    default:
      return undefined
  }
}

/** The list and map fields below a struct type. A struct that several kinds share is visited once. */
function longIn(type: StructType, seen: Set<string>, names: readonly string[]): [names: string[], long: Long][] {
  return type.fields.flatMap((field): [string[], Long][] => {
    const place = `${type.name}.${field.name}`
    if (seen.has(place)) return []
    seen.add(place)
    const below = [...names, field.name]
    if (field.type.shape === 'struct') return longIn(field.type, seen, below)
    if (field.type.shape === 'map') return [[below, field.type]]
    if (field.type.shape !== 'list') return []
    const { element } = field.type
    return [[below, field.type], ...(element.shape === 'struct' ? longIn(element, seen, [...below, '0']) : [])]
  })
}

type Long = ListType | MapType

function longOf(type: Long, elements: number, distinct: number): Json {
  const below = type.shape === 'list' ? type.element : type.value
  const values = Array.from({ length: elements }, (_, at) => valueOf(below, at % distinct) ?? {})
  return type.shape === 'list' ? values : Object.fromEntries(values.map((value, at) => [`k${at}`, value]))
}

/** Wraps the value in one object for each name. The name `0` stands for a list with one element. */
const within = (names: readonly string[], value: Json): Json =>
  names.reduceRight<Json>((inner, name) => (name === '0' ? [inner] : { [name]: inner }), value)

/** Kinds that storage keeps come first, so that they test the fields of metadata: Binding and Scale are not stored. */
const keptFirst = <Of extends { readonly verbs: readonly string[] }>(resources: readonly Of[]): Of[] =>
  resources.toSorted((a, b) => Number(b.verbs.includes('list')) - Number(a.verbs.includes('list')))

export const listFields = (): ListField[] => longFields('list')

export const mapFields = (): ListField[] => longFields('map')

function longFields(shape: Long['shape']): ListField[] {
  const seen = new Set<string>()
  return builtInResources().groups.flatMap(({ group, versions }) =>
    versions.flatMap(({ version, resources }) =>
      keptFirst(resources).flatMap(({ resource, kind, namespaced, verbs }): ListField[] => {
        const gvk = { group, version, kind }
        const type = typeOfKind(gvk)
        if (type === undefined || !verbs.includes('create')) return []
        const apiVersion = apiVersionOf(gvk)
        const root = group === '' ? '/api/v1' : `/apis/${apiVersion}`
        const url = `${root}${namespaced ? '/namespaces/default' : ''}/${resource}?dryRun=All`
        const fields = longIn(type, seen, []).filter(([, long]) => long.shape === shape)
        return fields.map(([names, long]) => ({
          path: `${kind}.${names.join('.')}`,
          url,
          resource: { group, resource, namespaced },
          verbs,
          isMap: shape === 'map',
          object(elements, distinct = elements) {
            const said = within(names, longOf(long, elements, distinct)) as JsonObject
            return { apiVersion, kind, ...said, metadata: { name: 'a', ...(said['metadata'] as JsonObject) } }
          },
        }))
      }),
    ),
  )
}
