/**
 * The fields of a value as a set, a value without some of its fields, and a stored set adapted to the present type
 * (structured-merge-diff's pkg/typed). No function changes its input. Results may share parts with it.
 */
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { setOwn } from '../base/own.ts'
import { eachPart, flatMapParts, kept, mapParts } from '../base/parts.ts'
import type { Atom, ListAtom, MapAtom } from '../schema/atom.ts'
import { eachField, elementOf, walk } from '../schema/walk.ts'
import { fieldElement } from '../schema/path-element.ts'
import type { FieldPathElements, PathElement } from '../schema/path-element.ts'
import { FieldSet, FieldSetBuilder } from './field-set.ts'
import { isScalarAt } from './type-problems.ts'
import { hasNoMembers, isEmptyMap } from './empty-values.ts'

/** Every leaf and every list element that the value has. */
export function fieldsIn(atom: Atom, value: Json): FieldSet {
  const fields = kept(value, () => new FieldSetBuilder())
  addFields(atom, value, [], fields)
  return fields.build()
}

function addFields(atom: Atom, value: Json, path: FieldPathElements, fields: FieldSetBuilder): void {
  if (isScalarAt(atom, value)) return fields.insert(path)
  walk(atom, value, {
    scalar: () => fields.insert(path),
    list: (list) => {
      if (list.atomic) fields.insert(path)
      else if (Array.isArray(value)) addElements(list, value, path, fields)
    },
    map: (map) => {
      if (map.atomic) fields.insert(path)
      else if (isJsonObject(value)) addMap(map, value, path, fields)
    },
  })
}

function addElements(list: ListAtom, items: readonly Json[], path: FieldPathElements, fields: FieldSetBuilder): void {
  const elements = mapParts(items, (item) => elementOf(list, item))
  const times = kept(items, () => countEach(elements))
  eachPart(items, (item, index) => {
    const below = [...path, elements[index]!]
    // a manager owns duplicates only as elements, because their fields have the same paths
    if (times.get(elements[index]!) === 1) addFields(list.element, item, below, fields)
    fields.insert(below)
  })
}

function countEach<Item>(items: readonly Item[]): Map<Item, number> {
  const counts = new Map<Item, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return counts
}

function addMap(map: MapAtom, value: JsonObject, path: FieldPathElements, fields: FieldSetBuilder): void {
  eachField(map, value, (name, type, item, isDeclared) => {
    const below = [...path, fieldElement(name)]
    if (type !== undefined) addFields(type, item, below, fields)
    if (!isDeclared || item === null || isEmptyMap(item)) fields.insert(below)
  })
}

/** The value without the fields and elements of a set. A list or map that loses all its members becomes null. */
export function removeFields(atom: Atom, value: Json, fields: FieldSet): Json {
  return walk<Json>(atom, value, {
    scalar: () => value,
    list: (list) => {
      if (!Array.isArray(value) || value.length === 0 || list.atomic) return null
      const left = flatMapParts(value, (item) => {
        const element = elementOf(list, item)
        if (fields.hasMember(element)) return []
        const below = fields.below(element)
        return [below.isEmpty ? item : removeFields(list.element, item, below)]
      })
      return left.length > 0 ? left : null
    },
    map: (map) => {
      if (!isJsonObject(value) || hasNoMembers(value) || map.atomic) return null
      const left = kept(value, (): JsonObject => ({}))
      eachField(map, value, (name, type, item) => {
        const element = fieldElement(name)
        if (fields.hasMember(element)) return
        const below = fields.below(element)
        setOwn(left, name, below.isEmpty || type === undefined ? item : removeFields(type, item, below))
      })
      return isEmptyMap(left) ? null : left
    },
  })
}

/** The set, with each declared field that has members below it added. */
export function withNamedFields(atom: Atom | undefined, fields: FieldSet): FieldSet {
  return fields.map((element, member, below) => {
    const declared = element.startsWith('f:') ? atom?.map?.declared(element.slice(2)) : undefined
    return {
      member: member || (declared !== undefined && !below.isEmpty),
      below: below.isEmpty ? below : withNamedFields(declared ?? childOf(atom, element), below),
    }
  })
}

function childOf(atom: Atom | undefined, element: PathElement): Atom | undefined {
  if (element.startsWith('f:')) return atom?.map?.declared(element.slice(2)) ?? atom?.map?.others
  return element.startsWith('k:') ? atom?.list?.element : undefined
}

/**
 * A list or map that was granular when the set was written may be atomic now. The owner of a part then owns the whole
 * of it.
 */
export function reconciled(atom: Atom, fields: FieldSet): FieldSet {
  const wholes = new FieldSetBuilder()
  collectWholes(atom, fields, [], false, wholes)
  const set = wholes.build()
  return set.isEmpty ? fields : fields.recursiveDifference(set).union(set)
}

function collectWholes(
  atom: Atom,
  fields: FieldSet,
  path: FieldPathElements,
  isWhole: boolean,
  wholes: FieldSetBuilder,
): void {
  const { map, list } = atom
  if (map !== undefined) {
    if (map.deduced) return
    if (!isWhole && map.atomic) {
      if (!fields.isEmpty) wholes.insert(path)
      return
    }
  } else if (list === undefined || atom.scalar !== undefined) return
  else if (!isWhole && list.atomic) {
    wholes.insert(path)
    return
  }
  for (const [element, member, below] of fields.elements()) {
    const child = map !== undefined ? mapChild(atom, element) : list?.element
    if (child !== undefined) collectWholes(child, below, [...path, element], member && below.isEmpty, wholes)
  }
}

const mapChild = (atom: Atom, element: PathElement): Atom | undefined =>
  (element.startsWith('f:') ? atom.map?.declared(element.slice(2)) : undefined) ?? atom.map?.others
