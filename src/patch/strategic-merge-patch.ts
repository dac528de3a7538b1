/**
 * Strategic merge patch: a merge patch that knows which lists are merged by which key and that has directives
 * (apimachinery's pkg/util/strategicpatch). Documents are plain trees, in which a NumberLiteral stands for a number
 * that is not written as a whole one; the original and the patch are both used up.
 */
import { badRequest, plainError } from '../api/status.ts'
import { goQuote } from '../go/quote.ts'
import { ownValue, setOwn } from '../api/own.ts'
import { goTypeOf } from '../codec/decode.ts'
import { NumberLiteral } from '../api/json.ts'
import type { JsonTree } from '../api/json.ts'
import type { Field, PatchStrategy, Structural } from '../schema/structural.ts'
import { goString, goType, goValue } from '../go/value.ts'
import { PatchRejection } from './json-patch-operations.ts'

export type PatchMap = { [name: string]: JsonTree | undefined }

const DIRECTIVE = '$patch'
const RETAIN_KEYS = '$retainKeys'
const DELETE_FROM_LIST = '$deleteFromPrimitiveList'
const ELEMENT_ORDER = '$setElementOrder'

/**
 * @throws StatusError 400 and 422 for directives of a wrong form, 500 without a reason for other mistakes
 */
export function applyStrategicMergePatch(type: Structural, original: PatchMap, patch: PatchMap): PatchMap {
  return mergeMap(original, patch, type)
}

const badFormat = (of: string) => badRequest(`invalid patch format of ${of}`)

function mergeMap(original: PatchMap, patch: PatchMap, type: Structural): PatchMap {
  const directive = patch[DIRECTIVE]
  if (directive !== undefined) return directedMap(directive, patch)
  retainKeys(original, patch)
  orderElements(original, patch, type)
  for (const [name, value] of Object.entries(patch)) if (value !== undefined) mergeMember(original, name, value, type)
  return original
}

/** `$patch` in a map: the patch instead of the map, or an empty one. */
function directedMap(directive: JsonTree, patch: PatchMap): PatchMap {
  if (directive === 'replace') {
    delete patch[DIRECTIVE]
    return patch
  }
  if (directive === 'delete') return {}
  throw unknownDirective(directive, patch)
}

const unknownDirective = (directive: JsonTree, patch: PatchMap) =>
  plainError(`unknown patch type: ${goString(directive)} in map: ${goValue(patch)}`)

/** `$retainKeys` lists all members that the map may have afterwards. */
function retainKeys(original: PatchMap, patch: PatchMap): void {
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

/** `$setElementOrder/LIST` says the order of the elements that the patch knows of; the others stay where they are. */
function orderElements(original: PatchMap, patch: PatchMap, type: Structural): void {
  for (const [directive, order] of Object.entries(patch)) {
    if (!directive.startsWith(ELEMENT_ORDER) || order === undefined) continue
    delete patch[directive]
    if (!Array.isArray(order)) throw badArgument('[]interface {}', order)
    const name = nameIn(directive, ELEMENT_ORDER)
    const live = listOrNothing(ownValue(original, name))
    const sent = listOrNothing(ownValue(patch, name))
    const { element, strategy, mergeKey } = listMember(type, name)
    checkOrder(sent, order, mergeKey)
    if (live === undefined && sent === undefined) continue
    const merged =
      sent === undefined
        ? live!
        : live === undefined
          ? (withoutDirectives(sent) as JsonTree[]) // a list stays one
          : mergeList(live, sent, element, strategy, mergeKey, false)
    const [known, others] = partitioned(merged, order, mergeKey)
    const first = sameTypes(live ?? [], sent ?? [])
    const serverOrder = isPatchMap(first) ? overwritten(live ?? [], sent ?? [], mergeKey) : (live ?? [])
    setOwn(original, name, inOrder(known, others, order, serverOrder, mergeKey, isPatchMap(first)))
    delete patch[name]
  }
}

/**
 * The live list as kube-apiserver compares orders with it: merging has moved its elements up over deleted ones and put
 * new ones into the room that became free, in place.
 */
function overwritten(live: readonly JsonTree[], sent: readonly JsonTree[], mergeKey: string): JsonTree[] {
  const patch = sent as readonly PatchMap[] // their types have been compared
  const deleted = patch.filter((item) => item[DIRECTIVE] === 'delete').map((item) => ownValue(item, mergeKey) ?? null)
  const { kept, freed } = movedUp(live, deleted, mergeKey)
  const list = [...kept, ...freed]
  if (patch.some((item) => item[DIRECTIVE] === 'replace')) return list
  const places = new KeyedPlaces(kept, mergeKey)
  let { length } = kept
  for (const item of patch) {
    if (length === list.length) break
    if (item[DIRECTIVE] !== undefined || places.of(ownValue(item, mergeKey) ?? null) >= 0) continue
    places.noteElement(item, length)
    list[length++] = item
  }
  return list
}

/** What is left of a list, and what stands in the room behind it: each deletion leaves there what was last. */
function movedUp(
  live: readonly JsonTree[],
  deleted: readonly JsonTree[],
  mergeKey: string,
): { kept: JsonTree[]; freed: JsonTree[] } {
  const byKey = new Map<unknown, number[]>()
  for (const [at, item] of live.entries()) {
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

const listOrNothing = (value: JsonTree | undefined): JsonTree[] | undefined => {
  if (value === undefined) return undefined
  if (!Array.isArray(value)) throw badArgument('[]interface {}', value)
  return value
}

const badArgument = (expected: string, value: JsonTree) =>
  // Go prints the type of nothing as %!s(<nil>)
  plainError(`expected a ${expected}, but received a ${value === null ? '%!s(<nil>)' : goType(value)}`)

function nameIn(directive: string, prefix: string): string {
  const slash = directive.indexOf('/')
  if (slash < 0 || directive.slice(0, slash) !== prefix)
    throw badFormat(prefix === ELEMENT_ORDER ? 'setElementOrder list' : 'primitive list')
  return directive.slice(slash + 1)
}

/** The elements that the patch has must stand in the order list, in the same order. */
function checkOrder(sent: readonly JsonTree[] | undefined, order: readonly JsonTree[], mergeKey: string): void {
  if (sent === undefined || sent.length === 0 || order.length === 0) return
  const kept = mergeKey === '' ? [...sent] : sent.filter((item) => !isDeletion(item))
  let at = 0
  let inOrderAt = 0
  while (at < kept.length && inOrderAt < order.length) {
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

function isDeletion(item: JsonTree): boolean {
  if (!isPatchMap(item)) throw badArgument('map[string]interface {}', item)
  return item[DIRECTIVE] === 'delete'
}

function sameKey(a: JsonTree, b: JsonTree, mergeKey: string): boolean {
  if (mergeKey === '') return identical(a, b)
  return identical(keyOf(a, mergeKey), keyOf(b, mergeKey))
}

function keyOf(item: JsonTree, mergeKey: string): JsonTree {
  if (!isPatchMap(item)) throw badArgument('map[string]interface {}', item)
  const key = ownValue(item, mergeKey)
  if (key === undefined) throw noMergeKey(item, mergeKey)
  return key
}

const noMergeKey = (item: PatchMap, mergeKey: string) =>
  plainError(`map: ${goValue(item)} does not contain declared merge key: ${mergeKey}`)

/** Go's ==: of the same type and equal. A number that is not written as a whole one is of another type. */
function identical(a: JsonTree, b: JsonTree): boolean {
  if (a instanceof NumberLiteral && b instanceof NumberLiteral) return Number(a.text) === Number(b.text)
  return a === b
}

/** What a Map finds exactly where `identical` holds; lists and objects are only identical to themselves. */
const identityOf = (value: JsonTree): unknown =>
  value instanceof NumberLiteral ? `number ${Number(value.text)}` : typeof value === 'string' ? `text ${value}` : value

/** The place of the first element with each value, so that a list is not searched once for each element of another. */
class Places {
  private readonly byIdentity = new Map<unknown, number>()

  constructor(values: readonly (JsonTree | undefined)[]) {
    values.forEach((value, at) => this.note(value, at))
  }

  note(value: JsonTree | undefined, at: number): void {
    if (value === undefined) return
    const identity = identityOf(value)
    if (!this.byIdentity.has(identity)) this.byIdentity.set(identity, at)
  }

  /** -1 where there is none. */
  of(value: JsonTree): number {
    return this.byIdentity.get(identityOf(value)) ?? -1
  }
}

/** Elements of a list by their merge key. */
class KeyedPlaces extends Places {
  private readonly broken: number

  constructor(
    list: readonly JsonTree[],
    private readonly mergeKey: string,
  ) {
    const broken = list.findIndex((item) => !isPatchMap(item))
    super(list.slice(0, broken < 0 ? undefined : broken).map((item) => ownValue(item as PatchMap, mergeKey))) // maps up to there
    this.broken = broken
  }

  /** @throws StatusError 500 where it comes upon an element that is no map */
  override of(key: JsonTree): number {
    const place = super.of(key)
    if (place < 0 && this.broken >= 0) throw plainError(`value for key ${this.broken} is not a map`)
    return place
  }

  noteElement(item: PatchMap, at: number): void {
    this.note(ownValue(item, this.mergeKey), at)
  }
}

/** Those that an order knows, and the others. */
function partitioned(
  items: readonly JsonTree[],
  order: readonly JsonTree[],
  mergeKey: string,
): [known: JsonTree[], others: JsonTree[]] {
  const known: JsonTree[] = []
  const others: JsonTree[] = []
  if (items.length === 0) return [known, others]
  const keyed = mergeKey !== '' ? items.map((item) => keyOf(item, mergeKey)) : items
  const places = mergeKey === '' ? new Places(order) : new KeyedPlaces(order, mergeKey)
  for (const [at, item] of items.entries()) {
    const isKnown = places.of(keyed[at]!) >= 0
    ;(isKnown ? known : others).push(item)
  }
  return [known, others]
}

/**
 * Known elements in their order, with the others between them where they stood in the live list.
 * @param isMaps the elements are maps
 */
function inOrder(
  known: readonly JsonTree[],
  others: readonly JsonTree[],
  order: readonly JsonTree[],
  live: readonly JsonTree[],
  mergeKey: string,
  isMaps: boolean,
): JsonTree[] {
  return interleaved(
    normalized(others, live, mergeKey, isMaps),
    normalized(known, order, mergeKey, isMaps),
    live,
    mergeKey,
    isMaps,
  )
}

/** Sorted by an order; deletions come last. */
function normalized(
  items: readonly JsonTree[],
  order: readonly JsonTree[],
  mergeKey: string,
  isMaps: boolean,
): JsonTree[] {
  if (!isMaps) return sortedBy(items, order, mergeKey, isMaps)
  for (const item of [...items, ...order]) keyOf(item, mergeKey)
  const kept = items.filter((item) => !isDeletion(item))
  return [...sortedBy(kept, order, mergeKey, isMaps), ...items.filter(isDeletion)]
}

/**
 * As insertion sorts, which is how Go sorts short lists. It shows where an order does not know an item: that is taken
 * for less than its left neighbour, whatever this is, and so ends up before all that came before it.
 */
function sortedBy(
  items: readonly JsonTree[],
  order: readonly JsonTree[],
  mergeKey: string,
  isMaps: boolean,
): JsonTree[] {
  const places = placesIn(order, mergeKey, isMaps)
  const known: { item: JsonTree; place: number }[] = []
  const unknown: { item: JsonTree; before: number }[] = []
  let least = Infinity
  for (const item of items) {
    const place = places(item)
    if (place < 0) unknown.push({ item, before: least })
    else {
      known.push({ item, place })
      least = Math.min(least, place)
    }
  }
  known.sort((a, b) => a.place - b.place)
  const sorted: JsonTree[] = []
  let next = 0
  for (const { item, before } of unknown.reverse()) {
    while (next < known.length && known[next]!.place < before) sorted.push(known[next++]!.item)
    sorted.push(item)
  }
  while (next < known.length) sorted.push(known[next++]!.item)
  return sorted
}

/** Where a list has an item of the same value, or of the same key: -1 where it has none. */
function placesIn(list: readonly JsonTree[], mergeKey: string, isMaps: boolean): (item: JsonTree) => number {
  const valueOf = (of: JsonTree): JsonTree => (isMaps ? ((isPatchMap(of) ? ownValue(of, mergeKey) : null) ?? null) : of)
  const places = new Places(list.map(valueOf))
  return (item) => places.of(valueOf(item))
}

/** Live elements go before those of the patch that followed them in the live list. */
function interleaved(
  others: readonly JsonTree[],
  known: readonly JsonTree[],
  live: readonly JsonTree[],
  mergeKey: string,
  isMaps: boolean,
): JsonTree[] {
  const places = placesIn(live, mergeKey, isMaps)
  const result: JsonTree[] = []
  let [o, k] = [0, 0]
  while (o < others.length && k < known.length) {
    const before = places(others[o]!)
    const after = places(known[k]!)
    if (before >= 0 && after >= 0 && before < after) result.push(others[o++]!)
    else result.push(known[k++]!)
  }
  return [...result, ...known.slice(k), ...others.slice(o)]
}

function mergeMember(original: PatchMap, patchName: string, value: JsonTree, type: Structural): void {
  const deletes = patchName.startsWith(DELETE_FROM_LIST)
  const name = deletes ? nameIn(patchName, DELETE_FROM_LIST) : patchName
  if (value === null) {
    delete original[name]
    return
  }
  const live = ownValue(original, name)
  if (live === undefined || goType(live) !== goType(value)) {
    if (deletes) return
    setOrDelete(original, name, withoutDirectives(withoutNulls(value)))
  } else if (isPatchMap(live) && isPatchMap(value)) {
    const member = mapMember(type, name)
    setOwn(original, name, member.strategy.replace ? value : mergeMap(live, value, member.type))
  } else if (Array.isArray(live) && Array.isArray(value)) {
    const { element, strategy, mergeKey } = listMember(type, name)
    setOwn(original, name, mergeList(live, value, element, strategy, mergeKey, deletes))
  } else setOrDelete(original, name, value)
}

function setOrDelete(map: PatchMap, name: string, value: JsonTree | undefined): void {
  if (value === undefined) delete map[name]
  else setOwn(map, name, value)
}

function withoutNulls(value: JsonTree): JsonTree {
  if (Array.isArray(value)) value.forEach(withoutNulls)
  else if (isPatchMap(value))
    for (const [name, item] of Object.entries(value)) {
      if (item === null) delete value[name]
      else if (item !== undefined) withoutNulls(item)
    }
  return value
}

/** Undefined for a map that is a directive itself. */
function withoutDirectives(value: JsonTree): JsonTree | undefined {
  if (Array.isArray(value))
    return value.flatMap((item) => {
      const kept = withoutDirectives(item)
      return kept === undefined ? [] : [kept]
    })
  if (!isPatchMap(value)) return value
  if (value[DIRECTIVE] !== undefined) return undefined
  for (const [name, item] of Object.entries(value))
    if (item !== undefined) setOrDelete(value, name, withoutDirectives(item))
  return value
}

function mergeList(
  live: readonly JsonTree[],
  sent: readonly JsonTree[],
  element: Structural,
  strategy: PatchStrategy,
  mergeKey: string,
  deletes: boolean,
): JsonTree[] {
  if (!strategy.merge && !deletes) return [...sent]
  if (live.length === 0 && sent.length === 0) return [...live]
  const first = sameTypes(live, sent)
  const isMaps = isPatchMap(first)
  let before = [...live]
  let patch = [...sent]
  let merged: JsonTree[]
  if (!isMaps) {
    if (deletes) {
      const places = new Places(sent)
      return live.filter((item) => places.of(item) < 0)
    }
    merged = distinct([...live, ...sent])
  } else {
    if (mergeKey === '') throw plainError(`cannot merge lists without merge key for ${goKindOfType(element)}`)
    ;[before, patch] = directedList(before, patch, mergeKey)
    merged = mergeElements(before, patch, element, mergeKey)
    before = merged.slice(0, before.length)
  }
  const [known, others] = partitioned(merged, patch, mergeKey)
  return inOrder(known, others, patch, before, mergeKey, isMaps)
}

const goKindOfType = (type: Structural) =>
  type.shape === 'struct' || type.shape === 'special' ? 'struct' : type.shape === 'map' ? 'map' : 'string'

/** The first element; all must be of one type, and no lists. */
function sameTypes(live: readonly JsonTree[], sent: readonly JsonTree[]): JsonTree {
  const all = [...live, ...sent]
  const [first] = all
  if (first === undefined) throw plainError('no elements in any of the given slices')
  if (Array.isArray(first)) throw new PatchRejection('an element of a list is a list')
  if (all.some((item) => goType(item) !== goType(first)))
    throw plainError(`list element types are not identical: ${goValue([[...live], [...sent]])}`)
  return first
}

/** The last of the list takes the place of a repeated one, which is how kube-apiserver drops it. */
function distinct(items: JsonTree[]): JsonTree[] {
  const placesOf = new Map<unknown, number[]>()
  const note = (at: number) => {
    const identity = identityOf(items[at]!)
    const places = placesOf.get(identity)
    if (places === undefined) placesOf.set(identity, [at])
    else places.push(at)
  }
  for (const at of items.keys()) note(at)
  let length = items.length
  for (let i = 0; i < length - 1; i++) {
    const identity = identityOf(items[i]!)
    const repeats = placesOf.get(identity)
    if (repeats === undefined || repeats.length === 1) continue
    placesOf.delete(identity)
    // what was moved has left the place where it was noted first
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

/** `$patch` in elements of a list: deletes one, or replaces the whole list by the other elements. */
function directedList(
  live: JsonTree[],
  sent: readonly JsonTree[],
  mergeKey: string,
): [live: JsonTree[], patch: JsonTree[]] {
  const plain: JsonTree[] = []
  const deleted = new Set<unknown>()
  let replaces = false
  for (const item of sent as readonly PatchMap[]) {
    // sameTypes found maps only
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

function mergeElements(
  live: readonly JsonTree[],
  patch: readonly JsonTree[],
  element: Structural,
  mergeKey: string,
): JsonTree[] {
  const merged = [...live]
  const places = new KeyedPlaces(live, mergeKey)
  for (const item of patch as readonly PatchMap[]) {
    // sameTypes found maps only
    const key = ownValue(item, mergeKey)
    if (key === undefined) throw noMergeKey(item, mergeKey)
    const at = places.of(key)
    if (at < 0) {
      places.noteElement(item, merged.length)
      merged.push(item)
    } else merged[at] = mergeMap(merged[at] as PatchMap, item, element) // only maps have a key
  }
  return merged
}

interface Member {
  readonly type: Structural
  readonly strategy: PatchStrategy
}

interface ListMember {
  readonly element: Structural
  readonly strategy: PatchStrategy
  readonly mergeKey: string
}

const noStrategy: PatchStrategy = { merge: false, replace: false, retainKeys: false }

function fieldOf(type: Structural, name: string): Field | undefined {
  return type.shape === 'struct' ? type.field(name) : undefined
}

function mapMember(type: Structural, name: string): Member {
  const field = fieldOf(type, name)
  if (field !== undefined) return { type: field.type, strategy: field.patchStrategy }
  return { type: memberOfMap(type, name), strategy: noStrategy }
}

function listMember(type: Structural, name: string): ListMember {
  const field = fieldOf(type, name)
  const list = field?.type ?? memberOfMap(type, name)
  return {
    // of anything but a list Go takes the type for that of its elements
    element: list.shape === 'list' ? list.element : list,
    strategy: field?.patchStrategy ?? noStrategy,
    mergeKey: field?.mergeKey ?? '',
  }
}

/** @throws StatusError 500 where the type has no such field */
function memberOfMap(type: Structural, name: string): Structural {
  if (type.shape === 'struct' || type.shape === 'special')
    throw plainError(
      `unable to find api field in struct ${goTypeOf(type).split('.').pop()} for the json field ${goQuote(name)}`,
    )
  throw plainError(`merging an object in json but data type is not struct, instead is: ${goKindOfType(type)}`)
}

const isPatchMap = (value: JsonTree | undefined): value is PatchMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberLiteral)
