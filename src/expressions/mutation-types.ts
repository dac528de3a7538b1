/**
 * `Object{…}` and `JSONPatch{…}`, the results of mutating policies' expressions. An object may have any fields. The
 * name of its type is its path (`Object.spec.template`), and this is checked when the whole object exists.
 */
import { equal, itemsOf } from '../cel/values/collections.ts'
import { goTypeName } from '../cel/values/describe.ts'
import type { Type, TypeProvider } from '../cel/checker/type.ts'
import { DYN, STRING, structNamed } from '../cel/checker/type.ts'
import type { Value } from '../cel/values/value.ts'
import { CelError, ListValue, MapValue, ObjectValue } from '../cel/values/value.ts'
import { metered, visit, work, WorkExceeded } from '../cel/evaluation/work.ts'
import { goQuote } from '../go/quote.ts'

export const OBJECT = structNamed('Object')
export const JSON_PATCH = structNamed('JSONPatch')

/** The value of a struct literal. Its fields have the order of the text. */
export class MadeObject extends ObjectValue {
  constructor(
    readonly type: Type & { kind: 'struct' },
    readonly fields: ReadonlyMap<string, Value>,
  ) {
    super()
  }

  field(name: string): Value {
    const value = this.fields.get(name)
    if (value !== undefined) return value
    if (this.type.name !== 'JSONPatch') return null
    if (!patchFields.has(name)) return new CelError(`unsupported indexer: ${name}`)
    return name === 'value' ? null : ''
  }

  isSet(name: string): boolean {
    const value = this.fields.get(name)
    return value !== undefined && (value !== '' || this.type.name !== 'JSONPatch' || name === 'value')
  }

  override equals(other: ObjectValue): boolean {
    if (!(other instanceof MadeObject) || other.type.name !== this.type.name) return false
    visit(this.fields.size)
    return (
      this.fields.size === other.fields.size &&
      [...this.fields].every(([name, value]) => {
        const its = other.fields.get(name)
        return its !== undefined && equal(value, its)
      })
    )
  }
}

const patchFields: ReadonlyMap<string, Type> = new Map([
  ['op', STRING],
  ['from', STRING],
  ['path', STRING],
  ['value', DYN],
])

/** The type of unknown fields of a JSONPatch. As in kube-apiserver, no value has this type. */
const NOTHING = structNamed('')

const isObject = (name: string): boolean => name === 'Object' || name.startsWith('Object.')

export const mutationTypes: TypeProvider = {
  findStruct: (name) => (name === 'JSONPatch' || isObject(name) ? structNamed(name) : undefined),
  findField: (struct, field) => (struct === 'JSONPatch' ? (patchFields.get(field) ?? NOTHING) : DYN),
  fieldNames: (struct) => (struct === 'JSONPatch' ? [...patchFields.keys()] : []),
  /** In kube-apiserver these names are types only in struct literals. */
  isValue: () => false,
  newStruct(name, fields) {
    if (name === 'JSONPatch')
      for (const [field, value] of fields)
        if (field !== 'value' && typeof value !== 'string')
          return new CelError(`unexpected type ${goNative(value)} for JSONPatchType '${field}' field`)
    return new MadeObject({ kind: 'struct', name }, fields)
  },
}

/** Go's name of the type of a plain value. */
function goNative(value: Value): string {
  if (value === null) return '<nil>'
  const names: Readonly<Partial<Record<string, string>>> = { bigint: 'int64', number: 'float64', boolean: 'bool' }
  return names[typeof value] ?? goTypeName(value) // own key: the results of typeof
}

/**
 * The most values that the check visits: as many as JSON of this size can have. CEL values can share their parts, so a
 * walk without a limit could take very long.
 */
const MAX_PARTS = 3 * 1024 * 1024

/** kube-apiserver's errors for objects whose type name is not their path. */
export function misnamedTypes(value: Value, path: readonly string[] = ['Object']): string[] {
  try {
    return metered(MAX_PARTS, () => namesWithin(value, path)).made
  } catch (error) {
    if (error instanceof WorkExceeded) return [`the value has more than ${MAX_PARTS} parts`]
    throw error
  }
}

function namesWithin(value: Value, path: readonly string[]): string[] {
  work(1)
  if (value instanceof MadeObject) {
    const expected = path.join('.')
    const own =
      value.type.name === expected
        ? []
        : [
            `unexpected type name ${goQuote(value.type.name)}, expected ${goQuote(expected)}, which matches field name path from root Object type`,
          ]
    return [...own, ...[...value.fields].flatMap(([name, field]) => namesWithin(field, [...path, name]))]
  }
  if (value instanceof ListValue) return itemsOf(value).flatMap((item) => namesWithin(item, path))
  if (value instanceof MapValue) return [...value.keys()].flatMap((key) => namesWithin(value.get(key)!, path))
  return []
}
