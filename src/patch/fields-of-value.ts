/**
 * What server-side apply and managed fields do with objects of a type: check, list fields, compare, merge, remove
 * (structured-merge-diff's pkg/typed). Nothing here changes its input; results may share parts with it.
 */
import { append } from '../api/append.ts'
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { ownValue, setOwn } from '../api/own.ts'
import { eachName, eachPart, flatMapParts, forAsLong, kept, mapParts } from '../api/parts.ts'
import type { Atom, ListAtom, MapAtom, ScalarKind } from '../schema/atom.ts'
import { NamelessElement, eachField, elementOf, walk, walkPair } from '../schema/walk.ts'
import { elementText, fieldElement } from '../schema/path-element.ts'
import type { FieldPathElements, PathElement } from '../schema/path-element.ts'
import { valuesEqual, valuesEqualApart } from '../api/value-order.ts'
import { FieldSet, FieldSetBuilder } from './field-set.ts'
import { goSyntax, goType, goValue } from '../go/value.ts'

export interface Problem {
  readonly path: string
  readonly message: string
}

/** A value that does not have the type it should have. */
export class TypeMismatch extends Error {
  constructor(problems: readonly Problem[]) {
    const texts = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    super(texts.length === 1 ? texts[0]! : ['errors:', ...texts.map((text) => `  ${text}`)].join('\n'))
  }
}

const at = (element: PathElement, problems: readonly Problem[]): Problem[] =>
  problems.length === 0 ? [] : problems.map(({ path, message }) => ({ path: elementText(element) + path, message }))

const problem = (message: string): Problem[] => [{ path: '', message }]

/** @throws TypeMismatch with all that is wrong */
export function checkType(atom: Atom, value: Json, duplicates: 'allowed' | 'refused'): void {
  const problems = problemsOf(atom, value, duplicates === 'allowed')
  if (problems.length > 0) throw new TypeMismatch(problems)
}

function problemsOf(atom: Atom, value: Json, duplicates: boolean): Problem[] {
  if (isScalarAt(atom, value)) return scalarProblems(atom.scalar, value, '')
  return walk(atom, value, {
    scalar: (kind) => scalarProblems(kind, value, ''),
    list: (list) => {
      if (value === null) return []
      if (!Array.isArray(value)) return problem(`expected list, got ${shown(value)}`)
      return list.atomic ? indexedProblems(list, value, duplicates) : namedProblems(list, value, duplicates)
    },
    map: (map) => {
      if (value === null) return []
      if (!isJsonObject(value)) return problem(`expected map, got ${shown(value)}`)
      return mapProblems(map, value, duplicates)
    },
  })
}

/** Most values: no need to choose among rules. */
const isScalarAt = (atom: Atom, value: Json | undefined): atom is Atom & { scalar: ScalarKind } =>
  typeof value !== 'object' && value !== undefined && atom.scalar !== undefined

/** `%v` of kube-apiserver's wrapper around a value. */
const shown = (value: Json) => `&{${goValue(value)}}`

const indexedProblems = (list: ListAtom, items: readonly Json[], duplicates: boolean): Problem[] =>
  flatMapParts(items, (item, index) => at(`i:${index}`, problemsOf(list.element, item, duplicates)))

function namedProblems(list: ListAtom, items: readonly Json[], duplicates: boolean): Problem[] {
  const { problems, seen } = kept(items, () => ({ problems: [] as Problem[], seen: new Set<PathElement>() }))
  eachPart(items, (item, index) => {
    const element = nameOf(list, item)
    if (element instanceof NamelessElement) {
      append(problems, problem(`element ${index}: ${element.message}`))
      return false // what has no name can't be reported on, nor can what follows it
    }
    const below = at(element, problemsOf(list.element, item, duplicates))
    if (seen.has(element) && !duplicates) append(problems, problem(`duplicate entries for key ${elementText(element)}`))
    seen.add(element)
    append(problems, below)
    return true
  })
  return problems
}

function nameOf(list: ListAtom, item: Json): PathElement | NamelessElement {
  try {
    return elementOf(list, item)
  } catch (error) {
    if (error instanceof NamelessElement) return error
    throw error
  }
}

function mapProblems(map: MapAtom, value: JsonObject, duplicates: boolean): Problem[] {
  const problems = kept(value, (): Problem[] => [])
  eachField(map, value, (name, type, item) => {
    const found = type === undefined ? problem('field not declared in schema') : problemsOf(type, item, duplicates)
    if (found.length > 0) append(problems, at(fieldElement(name), found))
    // the first undeclared field ends it
    return type !== undefined
  })
  return problems
}

function scalarProblems(kind: ScalarKind, value: Json | undefined, side: string): Problem[] {
  if (value === undefined || value === null) return []
  const isNumber = typeof value === 'number' || typeof value === 'bigint'
  switch (kind) {
    case 'numeric':
      return isNumber ? [] : problem(`${side}expected numeric (int or float), got ${goType(value)}`)
    case 'string':
      return typeof value === 'string'
        ? []
        : problem(`${side}expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
    case 'boolean':
      return typeof value === 'boolean' ? [] : problem(`${side}expected boolean, got ${shown(value)}`)
    case 'untyped':
      return typeof value !== 'object' ? [] : problem(`${side}expected any scalar, got ${shown(value)}`)
  }
}

/** Every leaf and every element of a list that the value mentions. */
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
    // of duplicates only the place is owned: their parts can't be told apart
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

function isEmptyMap(value: Json): boolean {
  if (!isJsonObject(value)) return false
  for (const name in value) if (value[name] !== undefined) return false
  return true
}

/** Asked once: of a map of many members V8 looks at all names before the first. */
const hasNoMembers = (value: JsonObject): boolean => kept(value, () => isEmptyMap(value))

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
  /** The place was compared as a whole. */
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
  // most of two versions of an object is the same: no need to descend into what is
  if (left !== undefined && right !== undefined && valuesEqualApart(left, right)) return []
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
    else if (!valuesEqual(left, right)) differences.modified.insert(path)
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

const itemsOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
const entriesOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})

function scalarPairProblems(kind: ScalarKind, left: Json | undefined, right: Json | undefined): Problem[] {
  const ours = scalarProblems(kind, left, 'lhs: ')
  const theirs = scalarProblems(kind, right, 'rhs: ')
  return ours.length > 0 && theirs.length > 0 ? [...ours, ...theirs] : []
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
    // most of two versions of an object is the same
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

/**
 * The live value with all that a configuration says put into it.
 * @throws TypeMismatch
 */
export function merge(atom: Atom, live: Json, config: Json): Json {
  const problems = kept(config ?? live, (): Problem[] => [])
  const merged = mergeAt(atom, live, config, problems)
  if (problems.length > 0) throw new TypeMismatch(problems)
  return merged ?? null
}

function mergeAt(atom: Atom, live: Json | undefined, config: Json | undefined, problems: Problem[]): Json | undefined {
  if (config === undefined && isScalarAt(atom, live)) return live
  if (live === undefined && isScalarAt(atom, config)) return config
  const asLeaf = () => (config !== undefined ? config : live)
  return walkPair<Json | undefined>(atom, live, config, {
    scalar: (kind) => {
      const wrong = scalarPairProblems(kind, live, config)
      append(problems, wrong)
      return wrong.length > 0 ? undefined : asLeaf()
    },
    list: (list) => {
      const [ours, theirs] = [itemsOf(live), itemsOf(config)]
      if (list.atomic || (ours.length === 0 && theirs.length === 0)) return asLeaf()
      return mergeLists(list, ours, theirs, problems)
    },
    map: (map) => {
      const [ours, theirs] = [entriesOf(live), entriesOf(config)]
      if (map.atomic || (hasNoMembers(ours) && hasNoMembers(theirs))) return asLeaf()
      return mergeMaps(map, ours, theirs, problems)
    },
  })
}

function mergeMaps(map: MapAtom, live: JsonObject, config: JsonObject, problems: Problem[]): Json | undefined {
  const merged = kept(hasNoMembers(config) ? live : config, (): JsonObject => ({}))
  const visit = (name: string, type: Atom | undefined, ours?: Json, theirs?: Json) => {
    const below: Problem[] = []
    const value = type === undefined ? undefined : mergeAt(type, ours, theirs, below)
    if (below.length > 0) append(problems, at(fieldElement(name), below))
    if (value !== undefined) setOwn(merged, name, value)
  }
  eachField(map, live, (name, type, value) => visit(name, type, value, ownValue(config, name)))
  eachField(map, config, (name, type, value) => {
    if (ownValue(live, name) === undefined) visit(name, type, undefined, value)
  })
  return isEmptyMap(merged) ? undefined : merged
}

interface Indexed {
  readonly order: readonly PathElement[]
  /** Of live duplicates, which are not merged with anything, null. */
  readonly values: ReadonlyMap<PathElement, Json>
}

function indexed(list: ListAtom, items: readonly Json[], duplicates: boolean, problems: Problem[]): Indexed {
  const { order, values } = kept(items, () => ({ order: [] as PathElement[], values: new Map<PathElement, Json>() }))
  eachPart(items, (item, index) => {
    const element = nameOf(list, item)
    if (element instanceof NamelessElement) {
      append(problems, problem(`element ${index}: ${element.message}`))
      return
    }
    const found = values.has(element)
    if (found && !duplicates) {
      append(problems, problem(`duplicate entries for key ${elementText(element)}`))
      return
    }
    values.set(element, found ? null : item)
    order.push(element)
  })
  return { order, values }
}

/**
 * Elements of the configuration come in its order; live ones that it does not mention stay between those neighbours
 * that both have.
 */
function mergeLists(
  list: ListAtom,
  live: readonly Json[],
  config: readonly Json[],
  problems: Problem[],
): Json | undefined {
  const owner = config.length > 0 ? config : live
  const before = kept(owner, () => problems.length)
  const theirs = indexed(list, config, false, problems)
  const ours = indexed(list, live, true, problems)
  if (problems.length > before) return undefined
  const pairs = mergedPairs(owner, live, ours, theirs)
  const merged = flatMapParts(pairs, ([a, b]) => {
    // kube-apiserver loses what is wrong inside of elements: they have been checked before
    const value = mergeAt(list.element, a, b, [])
    return value === undefined ? [] : [value]
  })
  return merged.length > 0 ? merged : undefined
}

/** What is merged with what, in the order of the merged list. */
function mergedPairs(owner: readonly Json[], live: readonly Json[], ours: Indexed, theirs: Indexed): Pair[] {
  const shared = flatMapParts(theirs.order, (element) => (ours.values.has(element) ? [element] : []))
  const so = kept(owner, () => ({ pairs: [] as Pair[], taken: new Set<PathElement>(), l: 0, r: 0, s: 0 }))
  const { pairs, taken } = so
  forAsLong(() => {
    const left = ours.order[so.l]
    const right = theirs.order[so.r]
    if (left === undefined && right === undefined) return false
    if (left !== undefined && left === right) {
      taken.add(left)
      pairs.push([ours.values.get(left), theirs.values.get(left)])
      so.l++
      so.r++
      so.s++
      return true
    }
    const next = shared[so.s]
    if (left !== undefined && right !== undefined && theirs.values.has(left) && next !== undefined && next !== left) {
      // both have it, but it is not its turn
      so.l++
      return true
    }
    if (left !== undefined) {
      if (!theirs.values.has(left)) {
        pairs.push([live[so.l], undefined])
        so.l++
        return true
      }
      if (taken.has(left)) so.l++
    }
    if (right !== undefined) {
      taken.add(right)
      pairs.push([ours.values.get(right), theirs.values.get(right)])
      so.r++
      if (next === right) so.s++
    }
    return true
  })
  return pairs
}

/** What there is, and what is put into it. */
type Pair = [Json | undefined, Json | undefined]

/** The value without the fields and elements of a set; what becomes empty by that becomes null. */
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

/** The same set with all declared fields as members that have members below them. */
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
 * A set that was written when lists or maps were still owned part by part, where the type now has them owned as a
 * whole: the owner of a part owns the whole.
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
