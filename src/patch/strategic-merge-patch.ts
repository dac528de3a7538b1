/**
 * Strategic merge patch: a merge patch that knows the merge keys of lists and has directives (apimachinery's
 * pkg/util/strategicpatch). Documents are plain trees, in which a NumberLiteral stands for a number that is not
 * written as a whole one. The merge changes both the original and the patch in place.
 */
import { Pace } from '../base/pace.ts'
import { atOnce } from '../base/slices.ts'
import type { Steps } from '../base/slices.ts'
import { plainError } from '../api/status.ts'
import { ownValue, setOwn } from '../base/own.ts'
import type { JsonTree } from '../json/json.ts'
import type { PatchStrategy, Structural } from '../schema/structural.ts'
import { goType, goValue } from '../go/value.ts'
import {
  DELETE_FROM_LIST,
  DIRECTIVE,
  ELEMENT_ORDER,
  RETAIN_KEYS,
  badArgument,
  badFormat,
  goKindOfType,
  isDeletion,
  isPatchMap,
  listMember,
  listOrNothing,
  mapMember,
  nameIn,
  sameTypes,
  unknownDirective,
} from './strategic-form.ts'
import type { PatchMap } from './strategic-form.ts'
import { identityOf, inOrder, keyedPlaces, noMergeKey, partitioned, placesOf, sameKey } from './element-order.ts'

/**
 * @throws StatusError 400 and 422 for directives of a wrong form, 500 without a reason for other mistakes
 */
export const applyStrategicMergePatch = (type: Structural, original: PatchMap, patch: PatchMap): PatchMap =>
  atOnce(applyingStrategicMergePatch(type, original, patch))

/** `applyStrategicMergePatch` in steps. */
export const applyingStrategicMergePatch = (type: Structural, original: PatchMap, patch: PatchMap): Steps<PatchMap> =>
  mergeMap(original, patch, type, new Pace())

function* mergeMap(original: PatchMap, patch: PatchMap, type: Structural, pace: Pace): Steps<PatchMap> {
  const directive = patch[DIRECTIVE]
  if (directive !== undefined) return directedMap(directive, patch)
  retainKeys(original, patch)
  yield* orderElements(original, patch, type, pace)
  for (const [name, value] of Object.entries(patch)) {
    if (pace.isOver()) yield
    if (value !== undefined) yield* mergeMember(original, name, value, type, pace)
  }
  return original
}

/** `$patch` in a map: `replace` returns the patch in place of the map, `delete` an empty map. */
function directedMap(directive: JsonTree, patch: PatchMap): PatchMap {
  if (directive === 'replace') {
    delete patch[DIRECTIVE]
    return patch
  }
  if (directive === 'delete') return {}
  throw unknownDirective(directive, patch)
}

/** Keeps the members that `$retainKeys` lists, and removes the others. */
export function retainKeys(original: PatchMap, patch: PatchMap): void {
  const retained = patch[RETAIN_KEYS]
  if (retained === undefined) return
  delete patch[RETAIN_KEYS]
  if (!Array.isArray(retained)) throw badFormat('retainKeys')
  const keys = new Set(retained)
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined || value === null) continue
    if (name.startsWith(DELETE_FROM_LIST) || name.startsWith(ELEMENT_ORDER)) continue
    if (!keys.has(name)) throw badFormat('retainKeys')
  }
  for (const name of Object.keys(original)) if (!keys.has(name)) delete original[name]
}

/** `$setElementOrder/LIST` gives the order of the elements that the patch knows; other elements keep their place. */
function* orderElements(original: PatchMap, patch: PatchMap, type: Structural, pace: Pace): Steps<void> {
  for (const [directive, order] of Object.entries(patch)) {
    if (!directive.startsWith(ELEMENT_ORDER) || order === undefined) continue
    delete patch[directive]
    if (!Array.isArray(order)) throw badArgument('[]interface {}', order)
    const name = nameIn(directive, ELEMENT_ORDER)
    const live = listOrNothing(ownValue(original, name))
    const sent = listOrNothing(ownValue(patch, name))
    const { element, strategy, mergeKey } = listMember(type, name)
    yield* checkOrder(sent, order, mergeKey, pace)
    if (live === undefined && sent === undefined) continue
    const merged =
      sent === undefined
        ? live!
        : live === undefined
          ? ((yield* withoutDirectives(sent, pace)) as JsonTree[]) // without its directives a list is still a list
          : yield* mergeList(live, sent, element, strategy, mergeKey, false, pace)
    const [known, others] = yield* partitioned(merged, order, mergeKey, pace)
    const first = yield* sameTypes(live ?? [], sent ?? [], pace)
    const isMaps = isPatchMap(first)
    const serverOrder = isMaps ? yield* overwritten(live ?? [], sent ?? [], mergeKey, pace) : (live ?? [])
    setOwn(original, name, yield* inOrder(known, others, order, serverOrder, { mergeKey, isMaps, pace }))
    delete patch[name]
  }
}

/**
 * The live list with which kube-apiserver compares orders. Merging changes the array in place: it moves elements over
 * deleted ones, and puts new elements into the room behind.
 */
function* overwritten(
  live: readonly JsonTree[],
  sent: readonly JsonTree[],
  mergeKey: string,
  pace: Pace,
): Steps<JsonTree[]> {
  const patch = sent as readonly PatchMap[] // sameTypes has found only maps
  const deleted = patch.filter((item) => item[DIRECTIVE] === 'delete').map((item) => ownValue(item, mergeKey) ?? null)
  const { kept, freed } = yield* movedUp(live, deleted, mergeKey, pace)
  const list = [...kept, ...freed]
  if (patch.some((item) => item[DIRECTIVE] === 'replace')) return list
  const places = yield* keyedPlaces(kept, mergeKey, pace)
  let { length } = kept
  for (const item of patch) {
    if (pace.isOver()) yield
    if (length === list.length) break
    if (item[DIRECTIVE] !== undefined || places.of(ownValue(item, mergeKey) ?? null) >= 0) continue
    places.noteElement(item, length)
    list[length++] = item
  }
  return list
}

/**
 * A list after deletions, and the array behind it: each deletion shifts the elements, and leaves a copy of the last
 * one at the end, as in Go.
 */
function* movedUp(
  live: readonly JsonTree[],
  deleted: readonly JsonTree[],
  mergeKey: string,
  pace: Pace,
): Steps<{ kept: JsonTree[]; freed: JsonTree[] }> {
  const byKey = new Map<unknown, number[]>()
  for (const [at, item] of live.entries()) {
    if (pace.isOver()) yield
    const key = isPatchMap(item) ? ownValue(item, mergeKey) : undefined
    if (key === undefined) continue
    const identity = identityOf(key)
    const places = byKey.get(identity)
    if (places === undefined) byKey.set(identity, [at])
    else places.push(at)
  }
  const gone = new Set<number>()
  const freed: JsonTree[] = []
  let last = live.length - 1
  for (const key of deleted) {
    if (pace.isOver()) yield
    const identity = identityOf(key)
    for (const at of byKey.get(identity) ?? []) {
      freed.push(live[last]!)
      gone.add(at)
      while (gone.has(last)) last--
    }
    byKey.delete(identity)
  }
  return { kept: live.filter((_, at) => !gone.has(at)), freed: freed.reverse() }
}

/** The elements that the patch has must stand in the order list, in the same order. */
function* checkOrder(
  sent: readonly JsonTree[] | undefined,
  order: readonly JsonTree[],
  mergeKey: string,
  pace: Pace,
): Steps<void> {
  if (sent === undefined || sent.length === 0 || order.length === 0) return
  const kept = mergeKey === '' ? [...sent] : sent.filter((item) => !isDeletion(item))
  let at = 0
  let inOrderAt = 0
  while (at < kept.length && inOrderAt < order.length) {
    if (pace.isOver()) yield
    const item = kept[at]!
    if (isPatchMap(item) && item[DIRECTIVE] !== undefined) {
      at++
      continue
    }
    if (sameKey(item, order[inOrderAt]!, mergeKey)) at++
    inOrderAt++
  }
  if (at < kept.length && inOrderAt >= order.length)
    throw plainError(
      `The order in patch list:\n${goValue([...sent])}\n doesn't match ${ELEMENT_ORDER} list:\n${goValue([...order])}\n`,
    )
}

function* mergeMember(
  original: PatchMap,
  patchName: string,
  value: JsonTree,
  type: Structural,
  pace: Pace,
): Steps<void> {
  const deletes = patchName.startsWith(DELETE_FROM_LIST)
  const name = deletes ? nameIn(patchName, DELETE_FROM_LIST) : patchName
  if (value === null) {
    delete original[name]
    return
  }
  const live = ownValue(original, name)
  if (live === undefined || goType(live) !== goType(value)) {
    if (deletes) return
    yield* withoutNulls(value, pace)
    setOrDelete(original, name, yield* withoutDirectives(value, pace))
  } else if (isPatchMap(live) && isPatchMap(value)) {
    const member = mapMember(type, name)
    setOwn(original, name, member.strategy.replace ? value : yield* mergeMap(live, value, member.type, pace))
  } else if (Array.isArray(live) && Array.isArray(value)) {
    const { element, strategy, mergeKey } = listMember(type, name)
    setOwn(original, name, yield* mergeList(live, value, element, strategy, mergeKey, deletes, pace))
  } else setOrDelete(original, name, value)
}

function setOrDelete(map: PatchMap, name: string, value: JsonTree | undefined): void {
  if (value === undefined) delete map[name]
  else setOwn(map, name, value)
}

function* withoutNulls(value: JsonTree, pace: Pace): Steps<void> {
  if (Array.isArray(value)) {
    for (const item of value) {
      if (pace.isOver()) yield
      if (typeof item === 'object') yield* withoutNulls(item, pace)
    }
  } else if (isPatchMap(value)) {
    for (const [name, item] of Object.entries(value)) {
      if (pace.isOver()) yield
      if (item === null) delete value[name]
      else if (typeof item === 'object') yield* withoutNulls(item, pace)
    }
  }
}

/** Undefined for a map that is itself a directive. */
function* withoutDirectives(value: JsonTree, pace: Pace): Steps<JsonTree | undefined> {
  if (Array.isArray(value)) {
    const list: JsonTree[] = []
    for (const item of value) {
      if (pace.isOver()) yield
      const kept = typeof item === 'object' ? yield* withoutDirectives(item, pace) : item
      if (kept !== undefined) list.push(kept)
    }
    return list
  }
  if (!isPatchMap(value)) return value
  if (value[DIRECTIVE] !== undefined) return undefined
  for (const [name, item] of Object.entries(value)) {
    if (pace.isOver()) yield
    if (typeof item === 'object') setOrDelete(value, name, yield* withoutDirectives(item, pace))
  }
  return value
}

function* mergeList(
  live: readonly JsonTree[],
  sent: readonly JsonTree[],
  element: Structural,
  strategy: PatchStrategy,
  mergeKey: string,
  deletes: boolean,
  pace: Pace,
): Steps<JsonTree[]> {
  if (!strategy.merge && !deletes) return [...sent]
  if (live.length === 0 && sent.length === 0) return [...live]
  const first = yield* sameTypes(live, sent, pace)
  const isMaps = isPatchMap(first)
  let before = [...live]
  let patch = [...sent]
  let merged: JsonTree[]
  if (!isMaps) {
    if (deletes) {
      const places = yield* placesOf(sent, pace)
      return live.filter((item) => places.of(item) < 0)
    }
    merged = yield* distinct([...live, ...sent], pace)
  } else {
    if (mergeKey === '') throw plainError(`cannot merge lists without merge key for ${goKindOfType(element)}`)
    ;[before, patch] = yield* directedList(before, patch, mergeKey, pace)
    merged = yield* mergeElements(before, patch, element, mergeKey, pace)
    before = merged.slice(0, before.length)
  }
  const [known, others] = yield* partitioned(merged, patch, mergeKey, pace)
  return yield* inOrder(known, others, patch, before, { mergeKey, isMaps, pace })
}

/** Removes repeated elements as kube-apiserver does: the last element of the list takes the place of a repeated one. */
function* distinct(items: JsonTree[], pace: Pace): Steps<JsonTree[]> {
  const placesOf = new Map<unknown, number[]>()
  const note = (at: number) => {
    const identity = identityOf(items[at]!)
    const places = placesOf.get(identity)
    if (places === undefined) placesOf.set(identity, [at])
    else places.push(at)
  }
  for (const at of items.keys()) {
    if (pace.isOver()) yield
    note(at)
  }
  let length = items.length
  for (let i = 0; i < length - 1; i++) {
    if (pace.isOver()) yield
    const identity = identityOf(items[i]!)
    const repeats = placesOf.get(identity)
    if (repeats === undefined || repeats.length === 1) continue
    placesOf.delete(identity)
    // an element that moved is no longer at the index that was noted first
    for (const at of repeats.sort((a, b) => a - b)) {
      if (at <= i) continue
      while (at < length && identityOf(items[at]!) === identity) {
        items[at] = items[--length]!
        if (at < length && identityOf(items[at]) !== identity) note(at)
      }
    }
  }
  return items.slice(0, length)
}

/** `$patch` in list elements: `delete` removes one element, `replace` replaces the whole list by the other elements. */
function* directedList(
  live: JsonTree[],
  sent: readonly JsonTree[],
  mergeKey: string,
  pace: Pace,
): Steps<[live: JsonTree[], patch: JsonTree[]]> {
  const plain: JsonTree[] = []
  const deleted = new Set<unknown>()
  let replaces = false
  for (const item of sent as readonly PatchMap[]) {
    if (pace.isOver()) yield
    // sameTypes has found only maps
    const directive = item[DIRECTIVE]
    if (directive === undefined) plain.push(item)
    else if (directive === 'delete') {
      const key = ownValue(item, mergeKey)
      if (key === undefined) throw noMergeKey(item, mergeKey)
      deleted.add(identityOf(key))
    } else if (directive === 'replace') replaces = true
    else if (directive === 'merge') throw plainError('merging lists cannot yet be specified in the patch')
    else throw unknownDirective(directive, item)
  }
  if (replaces) return [plain, []]
  const isKept = (item: JsonTree): boolean => {
    const key = ownValue(item as PatchMap, mergeKey)
    return key === undefined || !deleted.has(identityOf(key))
  }
  return [deleted.size === 0 ? live : live.filter(isKept), plain]
}

function* mergeElements(
  live: readonly JsonTree[],
  patch: readonly JsonTree[],
  element: Structural,
  mergeKey: string,
  pace: Pace,
): Steps<JsonTree[]> {
  const merged = [...live]
  const places = yield* keyedPlaces(live, mergeKey, pace)
  for (const item of patch as readonly PatchMap[]) {
    if (pace.isOver()) yield
    // sameTypes has found only maps
    const key = ownValue(item, mergeKey)
    if (key === undefined) throw noMergeKey(item, mergeKey)
    const at = places.of(key)
    if (at < 0) {
      places.noteElement(item, merged.length)
      merged.push(item)
    } else merged[at] = yield* mergeMap(merged[at] as PatchMap, item, element, pace) // only maps have a key
  }
  return merged
}
