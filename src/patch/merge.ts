/** Merges an applied configuration into the live object (structured-merge-diff's pkg/typed). */
import { append } from '../base/append.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { ownValue, setOwn } from '../base/own.ts'
import { eachPart, flatMapParts, forAsLong, kept } from '../base/parts.ts'
import type { Atom, ListAtom, MapAtom } from '../schema/atom.ts'
import { NamelessElement, eachField, walkPair } from '../schema/walk.ts'
import { elementText, fieldElement } from '../schema/path-element.ts'
import type { PathElement } from '../schema/path-element.ts'
import type { Problem } from './type-problems.ts'
import { TypeMismatch, at, isScalarAt, nameOf, problem, scalarPairProblems } from './type-problems.ts'
import { entriesOf, hasNoMembers, isEmptyMap, itemsOf } from './empty-values.ts'

/**
 * The live value with the values of a configuration merged into it.
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
  /** null for live duplicates, which are not merged. */
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
 * Elements of the configuration come in its order. Live elements that it does not have stay between the neighbours
 * that both lists have.
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
    // kube-apiserver drops errors inside elements: both values were checked before
    const value = mergeAt(list.element, a, b, [])
    return value === undefined ? [] : [value]
  })
  return merged.length > 0 ? merged : undefined
}

/** The pairs to merge, in the order of the merged list. */
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
      // both lists have it, but the configuration has it later
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

/** The live element, and the applied one. */
type Pair = [Json | undefined, Json | undefined]
