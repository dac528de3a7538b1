// Each list field of each built-in kind: where an object with it is sent, and that object.
import type { Json, JsonObject } from '../../src/api/object.ts'
import { apiVersionOf } from '../../src/api/group-version.ts'
import { builtInResources } from '../../src/registry/resources.ts'
import { typeOfKind } from '../../src/schema/built-in.ts'
import type { ListType, Structural, StructType } from '../../src/schema/structural.ts'

export interface ListField {
  readonly path: string
  readonly url: string
  readonly object: (elements: number) => JsonObject
}

/** A value that says something in each of its simple fields, another one for each number. */
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
    default:
      return undefined
  }
}

/** The list fields below, each of its struct once however many kinds have that. */
function listsIn(type: StructType, seen: Set<string>, names: readonly string[]): [names: string[], list: ListType][] {
  return type.fields.flatMap((field): [string[], ListType][] => {
    const place = `${type.name}.${field.name}`
    if (seen.has(place)) return []
    seen.add(place)
    const below = [...names, field.name]
    if (field.type.shape === 'struct') return listsIn(field.type, seen, below)
    if (field.type.shape !== 'list') return []
    const { element } = field.type
    return [[below, field.type], ...(element.shape === 'struct' ? listsIn(element, seen, [...below, '0']) : [])]
  })
}

/** `value` behind names, of which `0` is the one element of a list. */
const within = (names: readonly string[], value: Json): Json =>
  names.reduceRight<Json>((inner, name) => (name === '0' ? [inner] : { [name]: inner }), value)

export function listFields(): ListField[] {
  const seen = new Set<string>()
  return builtInResources().groups.flatMap(({ group, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.flatMap(({ resource, kind, namespaced, verbs }): ListField[] => {
        const gvk = { group, version, kind }
        const type = typeOfKind(gvk)
        if (type === undefined || !verbs.includes('create')) return []
        const apiVersion = apiVersionOf(gvk)
        const root = group === '' ? '/api/v1' : `/apis/${apiVersion}`
        const url = `${root}${namespaced ? '/namespaces/default' : ''}/${resource}?dryRun=All`
        return listsIn(type, seen, []).map(([names, { element }]) => ({
          path: `${kind}.${names.join('.')}`,
          url,
          object(elements) {
            const list = Array.from({ length: elements }, (_, at) => valueOf(element, at) ?? {})
            const said = within(names, list) as JsonObject
            return { apiVersion, kind, ...said, metadata: { name: 'a', ...(said['metadata'] as JsonObject) } }
          },
        }))
      }),
    ),
  )
}
