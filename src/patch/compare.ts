/** Compares two values of a type: which fields were added, modified and removed (structured-merge-diff's pkg/typed). */
import { append } from '../base/append.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { eachName, eachPart, kept } from '../base/parts.ts'
import type { Atom, ListAtom, MapAtom } from '../schema/atom.ts'
import { NamelessElement, eachField, walkPair } from '../schema/walk.ts'
import { fieldElement } from '../schema/path-element.ts'
import type { FieldPathElements, PathElement } from '../schema/path-element.ts'
import { valuesEqual, valuesEqualApart } from '../json/value-order.ts'
import { FieldSet, FieldSetBuilder } from './field-set.ts'
import type { Problem } from './type-problems.ts'
import { TypeMismatch, at, isScalarAt, nameOf, problem, scalarPairProblems } from './type-problems.ts'
import { tellsEmptied } from '../schema/emptied.ts'
import { entriesOf, hasNoMembers, itemsOf } from './empty-values.ts'

export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

interface Differences {
  readonly added: FieldSetBuilder
  readonly modified: FieldSetBuilder
  readonly removed: FieldSetBuilder
}

/** @throws TypeMismatch */
export function compare(atom: Atom, left: Json, right: Json): Comparison {
  const differences = kept(right ?? left, (): Differences => ({
    added: new FieldSetBuilder(),
    modified: new FieldSetBuilder(),
    removed: new FieldSetBuilder(),
  }))
  const problems = compareAt(atom, left, right, [], differences)
  if (problems.length > 0) throw new TypeMismatch(problems)
  return {
    added: differences.added.build(),
    modified: differences.modified.build(),
    removed: differences.removed.build(),
  }
}

interface Compared {
  /** The value was compared as a whole, without its members. */
  readonly leaf: boolean
  readonly problems: Problem[]
}

function compareAt(
  atom: Atom,
  left: Json | undefined,
  right: Json | undefined,
  path: FieldPathElements,
  differences: Differences,
): Problem[] {
  // two versions of an object are mostly equal: an equal value needs no walk
  if (left !== undefined && right !== undefined && !tellsEmptied(right) && valuesEqualApart(left, right)) return []
  if (left === undefined && isScalarAt(atom, right)) {
    differences.added.insert(path)
    return []
  }
  if (right === undefined && isScalarAt(atom, left)) {
    differences.removed.insert(path)
    return []
  }
  const problems: Problem[] = []
  const asLeaf = (): Compared => {
    if (left === undefined) differences.added.insert(path)
    else if (right === undefined) differences.removed.insert(path)
    else if (!valuesEqual(left, right) || leavesOutInList(right)) differences.modified.insert(path)
    return { leaf: true, problems: [] }
  }
  const noted = (compared: Compared): Compared => {
    append(problems, compared.problems)
    return compared
  }
  const { leaf } = walkPair(atom, left, right, {
    scalar: (kind) => {
      const wrong = scalarPairProblems(kind, left, right)
      return noted(wrong.length > 0 ? { leaf: false, problems: wrong } : asLeaf())
    },
    list: (list) => {
      const [ours, theirs] = [itemsOf(left), itemsOf(right)]
      if (list.atomic || (ours.length === 0 && theirs.length === 0)) return asLeaf()
      return noted({ leaf: false, problems: compareLists(list, ours, theirs, path, differences) })
    },
    map: (map) => {
      const [ours, theirs] = [entriesOf(left), entriesOf(right)]
      if (map.atomic || (hasNoMembers(ours) && hasNoMembers(theirs))) return asLeaf()
      return noted({ leaf: false, problems: compareMaps(map, ours, theirs, path, differences) })
    },
  })
  if (!leaf && left === undefined) differences.added.insert(path)
  else if (!leaf && right === undefined) differences.removed.insert(path)
  return problems
}

/**
 * Whether the client sent a list or map empty that an element of a list leaves out. Go compares such lists in memory,
 * where empty is not absent.
 */
function leavesOutInList(value: Json | undefined): boolean {
  if (!tellsEmptied(value)) return false
  return Array.isArray(value) || Object.values(value as JsonObject).some(leavesOutInList) // lists and maps alone tell
}

function compareMaps(
  map: MapAtom,
  left: JsonObject,
  right: JsonObject,
  path: FieldPathElements,
  differences: Differences,
): Problem[] {
  const problems = kept(hasNoMembers(right) ? left : right, (): Problem[] => [])
  const visit = (name: string, type: Atom | undefined, ours: Json | undefined, theirs: Json | undefined) => {
    // two versions of an object are mostly equal
    if (ours === theirs) return
    const element = fieldElement(name)
    const found =
      type === undefined
        ? problem('schema error: no type found matching: inlined type')
        : compareAt(type, ours, theirs, [...path, element], differences)
    if (found.length > 0) append(problems, at(element, found))
  }
  eachField(map, left, (name, type, value) => visit(name, type, value, ownValue(right, name)))
  eachField(map, right, (name, type, value) => {
    if (ownValue(left, name) === undefined) visit(name, type, undefined, value)
  })
  return problems
}

function compareLists(
  list: ListAtom,
  left: readonly Json[],
  right: readonly Json[],
  path: FieldPathElements,
  differences: Differences,
): Problem[] {
  const owner = right.length > 0 ? right : left
  const problems = kept(owner, (): Problem[] => [])
  const [ours, theirs] = [grouped(list, left, problems), grouped(list, right, problems)]
  const compareElement = (element: PathElement): void => {
    const before = ours.get(element) ?? []
    const after = theirs.get(element) ?? []
    const below = [...path, element]
    const compareItem = (a: Json | undefined, b: Json | undefined) =>
      append(problems, at(element, compareAt(list.element, a, b, below, differences)))
    if (before.length <= 1 && after.length <= 1) compareItem(before[0], after[0])
    else if (before.length >= 2 && after.length >= 2) {
      if (!valuesEqual(before, after)) differences.modified.insert(below)
    } else if (before.length >= 2) {
      if (after.length > 0) compareItem(undefined, after[0])
      differences.removed.insert(below)
    } else {
      if (before.length > 0) compareItem(before[0], undefined)
      differences.added.insert(below)
    }
  }
  eachName(ours, namesIn, compareElement)
  eachName(theirs, namesIn, (element) => {
    if (!ours.has(element)) compareElement(element)
  })
  return problems
}

const namesIn = (groups: ReadonlyMap<PathElement, unknown>): PathElement[] => [...groups.keys()]

function grouped(list: ListAtom, items: readonly Json[], problems: Problem[]): Map<PathElement, Json[]> {
  const groups = kept(items, () => new Map<PathElement, Json[]>())
  eachPart(items, (item, index) => {
    const element = nameOf(list, item)
    if (element instanceof NamelessElement) {
      append(problems, problem(`element ${index}: ${element.message}`))
      return
    }
    const group = groups.get(element)
    if (group === undefined) groups.set(element, [item])
    else group.push(item)
  })
  return groups
}
