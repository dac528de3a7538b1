/**
 * The selection of a list or a watch: labels and fields (parsed by label-selector and field-selector) and owners. It
 * is plain data, because it goes from the Worker to the shard and is kept in a socket's attachment.
 */
import type { JsonObject, Json } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { parseInt64 } from '../../go/int.ts'
import { goValue } from '../../go/value.ts'
import type { Selectable } from '../storage.ts'

export type LabelOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt'

/** `=` and `!=` are In and NotIn with one value. */
export interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  readonly values: readonly string[]
}

export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
  /** For objects of a definition. */
  readonly place?: FieldPlace
}

/**
 * Where an object has a field. What a write kept beside the key may lack the field: the definition may have got it
 * since, or another version of the definition was written.
 */
export interface FieldPlace {
  /** The names of the members that lead to the field. */
  readonly names: readonly string[]
  /**
   * Whether defaults give an absent field the value of the requirement, by the number of names that the stored object
   * has. Without it no default matters.
   */
  readonly filled?: readonly boolean[]
}

export interface Selection {
  readonly labels: readonly LabelRequirement[]
  readonly fields: readonly FieldRequirement[]
  /** UID of an owner whose dependents are selected. */
  readonly owner?: string
}

export const everything: Selection = { labels: [], fields: [] }

export function selectsEverything({ labels, fields, owner }: Selection): boolean {
  return labels.length === 0 && fields.length === 0 && owner === undefined
}

/** Reads a stored object. Undefined where it is sealed. */
export type ReadObject = () => JsonObject | undefined

const notRead: ReadObject = () => undefined

/**
 * @param key the object's key behind the prefix and its slash: `NAMESPACE/NAME` or `NAME`. From it come
 *   `metadata.name` and `metadata.namespace`, so that these need not be stored among `fields`.
 * @param read called only for a field that has a place
 */
export function matches(
  selection: Matched<Selection>,
  key: string,
  { labels = {}, fields = {}, owners = [] }: Selectable,
  read: ReadObject = notRead,
): boolean {
  return (
    matchesLabels(selection.labels, labels) &&
    matchesFields(selection.fields, key, fields, read) &&
    (selection.owner === undefined || owners.includes(selection.owner))
  )
}

/** Like `matches`, for many objects: a long list of values becomes a set. */
export function matcherOf(selection: Selection): (key: string, of: Selectable, read: ReadObject) => boolean {
  const labels = selection.labels.map((requirement) =>
    requirement.values.length < LONG ? requirement : { ...requirement, values: new LongValues(requirement.values) },
  )
  const prepared = { ...selection, labels }
  return (key, of, read) => matches(prepared, key, of, read)
}

/** The number of comparisons for one object. A turn looks at fewer objects where a selector has many requirements. */
export const requirementsOf = ({ labels, fields }: Selection): number => labels.length + fields.length

interface Values {
  readonly 0?: string
  includes(value: string): boolean
}
type Matched<Of extends { readonly labels: unknown }> = Omit<Of, 'labels'> & {
  readonly labels: readonly (Omit<LabelRequirement, 'values'> & { readonly values: Values })[]
}

const LONG = 16
/** The most searches through a list before it becomes a set. */
const OFTEN = 16

class LongValues implements Values {
  private readonly values: readonly string[]
  private asked = 0
  private set: ReadonlySet<string> | undefined

  constructor(values: readonly string[]) {
    this.values = values
  }

  includes(value: string): boolean {
    if (this.set !== undefined) return this.set.has(value)
    if (++this.asked > OFTEN) this.set = new Set(this.values)
    return this.values.includes(value)
  }
}

export function matchesLabels(
  requirements: Matched<Selection>['labels'],
  labels: Readonly<Record<string, string>>,
): boolean {
  return requirements.every((requirement) =>
    labelTests[requirement.operator](ownValue(labels, requirement.key), requirement.values),
  )
}

const labelTests: Record<LabelOperator, (value: string | undefined, values: Values) => boolean> = {
  In: (value, values) => value !== undefined && values.includes(value),
  NotIn: (value, values) => value === undefined || !values.includes(value),
  Exists: (value) => value !== undefined,
  DoesNotExist: (value) => value === undefined,
  Gt: (value, values) => compareIntegers(value, values[0], (a, b) => a > b),
  Lt: (value, values) => compareIntegers(value, values[0], (a, b) => a < b),
}

function compareIntegers(
  value: string | undefined,
  bound: string | undefined,
  holds: (a: bigint, b: bigint) => boolean,
): boolean {
  const a = value === undefined ? undefined : parseInt64(value)
  const b = bound === undefined ? undefined : parseInt64(bound)
  return a !== undefined && b !== undefined && holds(a, b)
}

/** A field that the object does not have equals ''. */
export function matchesFields(
  requirements: readonly FieldRequirement[],
  key: string,
  fields: Readonly<Record<string, string>>,
  read: ReadObject = notRead,
): boolean {
  return requirements.every(
    (requirement) => hasValue(requirement, key, fields, read) === (requirement.operator === '='),
  )
}

function hasValue(
  { field, value, place }: FieldRequirement,
  key: string,
  fields: Readonly<Record<string, string>>,
  read: ReadObject,
): boolean {
  if (place === undefined) return fieldOf(field, key, fields) === value
  const kept = ownValue(fields, field)
  // '' was an absent field or an empty one
  if (kept !== undefined && (kept !== '' || place.filled === undefined)) return kept === value
  const object = read()
  return object === undefined ? (kept ?? '') === value : hasValueAt(place, object, value)
}

function hasValueAt({ names, filled }: FieldPlace, object: JsonObject, value: string): boolean {
  let found: Json = object
  for (const [depth, name] of names.entries()) {
    if (!isJsonObject(found)) return value === ''
    const below: Json | undefined = ownValue(found, name)
    if (below === undefined) return filled?.[depth] ?? value === ''
    found = below
  }
  return fieldText(found) === value
}

/** The value that a field selector compares: '' for an absent field. */
export function fieldText(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : goValue(value)
}

function fieldOf(field: string, key: string, fields: Readonly<Record<string, string>>): string {
  if (field === 'metadata.name') return key.slice(key.indexOf('/') + 1)
  if (field === 'metadata.namespace') return key.slice(0, Math.max(key.indexOf('/'), 0))
  return ownValue(fields, field) ?? ''
}

/**
 * The only value that a field can have in this selection; undefined where there may be several, or where the field may
 * be missing beside the key. A list of one name then reads one key.
 */
export function exactField(selection: Selection, field: string): string | undefined {
  return selection.fields.find((one) => one.field === field && one.operator === '=' && one.place === undefined)?.value
}
