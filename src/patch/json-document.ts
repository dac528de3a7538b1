/**
 * A JSON document that patches change in place, as in evanphx/json-patch. A value keeps its text until a patch opens
 * it. The members of an opened object are sorted by name, and messages that quote the document show that order.
 */
import { ownValue, setOwn } from '../base/own.ts'
import { RepeatedMembers } from '../json/json.ts'
import { compareNames, sortNames } from '../base/name-order.ts'
import { escapeHtml } from '../json/write-json.ts'
import { byteLength } from '../base/utf8.ts'
import { NumberLiteral } from '../json/numbers.ts'
import type { JsonTree } from '../json/json.ts'
import { eachName, eachPart, goesInParts, kept, mapParts, sortedItems } from '../base/parts.ts'

/** An object or a list that a patch has opened. */
export type Container = OpenMap | OpenList
/** Null also stands for an absent value where no caller needs the difference. */
export type DocumentNode = JsonTree | Container

export class OpenMap {
  readonly members = new Map<string, DocumentNode>()

  constructor(tree: JsonTree = {}) {
    const entries =
      tree instanceof RepeatedMembers ? tree.entries : Object.entries(tree as { [name: string]: JsonTree })
    for (const [name, value] of entries) if (value !== undefined) this.members.set(name, value)
  }
}

export class OpenList {
  constructor(public items: DocumentNode[]) {}
}

export const isMap = (node: DocumentNode): boolean => node instanceof OpenMap || isMapTree(node)

const isMapTree = (node: DocumentNode): boolean =>
  typeof node === 'object' &&
  node !== null &&
  !Array.isArray(node) &&
  !(node instanceof NumberLiteral) &&
  !(node instanceof OpenList)

/** Opens a value; undefined where it is a scalar. */
export function opened(node: DocumentNode): Container | undefined {
  if (node instanceof OpenMap || node instanceof OpenList) return node
  if (Array.isArray(node)) return new OpenList([...node])
  return isMapTree(node) ? new OpenMap(node) : undefined
}

/** An object with more members is opened in parts. */
const MANY = 1024

/**
 * `opened` for a walk in parts (base/parts.ts).
 * @param node the same in each run
 */
export const openedInParts = (node: DocumentNode): Container | undefined => kept(node, () => openedParts(node))

function openedParts(node: DocumentNode): Container | undefined {
  if (!goesInParts() || node instanceof RepeatedMembers || node instanceof OpenMap || !isMapTree(node))
    return opened(node)
  const tree = node as { [name: string]: JsonTree | undefined } // just seen to be one
  const names = kept(tree, () => Object.keys(tree))
  if (names.length <= MANY) return new OpenMap(tree)
  const open = kept(tree, () => new OpenMap())
  eachPart(names, (name) => {
    const value = tree[name] // own key: one of its names
    if (value !== undefined) open.members.set(name, value)
  })
  return open
}

export function closed(node: DocumentNode): JsonTree {
  if (node instanceof OpenList) return mapParts(node.items, closed)
  if (!(node instanceof OpenMap)) return node
  const tree = kept(node, (): { [name: string]: JsonTree | undefined } => ({}))
  eachName(node, sortedMembers, (name) => setOwn(tree, name, closed(node.members.get(name)!)))
  return tree
}

const sortedMembers = (node: OpenMap): string[] => sortedItems(() => [...node.members.keys()], sortNames, compareNames)

/** Decoding flattens a tree in place and keeps parts of it. A caller that needs the tree again decodes a copy. */
export const copyOf = (tree: JsonTree): JsonTree => copied(tree, Object.keys)

/** A copy whose maps are sorted by name, as Go writes maps. */
export const sortedCopyOf = (tree: JsonTree): JsonTree => copied(tree, sortedNames)

const sortedNames = (map: object): string[] => sortedItems(() => Object.keys(map), sortNames, compareNames)

function copied(tree: JsonTree, namesOf: (map: object) => string[]): JsonTree {
  if (typeof tree !== 'object' || tree === null || tree instanceof NumberLiteral) return tree
  if (Array.isArray(tree)) return mapParts(tree, (item) => copied(item, namesOf))
  if (tree instanceof RepeatedMembers)
    return new RepeatedMembers(mapParts(tree.entries, ([name, value]) => [name, copied(value, namesOf)]))
  const copy = kept(tree, (): { [name: string]: JsonTree | undefined } => ({}))
  eachName(tree, namesOf, (name) => {
    const value = ownValue(tree, name)
    if (value !== undefined) setOwn(copy, name, copied(value, namesOf))
  })
  return copy
}

/** Compact JSON as Go writes it. */
export const treeText = (tree: JsonTree): string => escapeHtml(text(tree))

function text(tree: JsonTree): string {
  if (tree === null || typeof tree !== 'object') return typeof tree === 'bigint' ? String(tree) : JSON.stringify(tree)
  if (tree instanceof NumberLiteral) return tree.text
  if (Array.isArray(tree)) return `[${tree.map(text).join(',')}]`
  const entries = tree instanceof RepeatedMembers ? tree.entries : Object.entries(tree)
  return `{${entries.flatMap(([name, value]) => (value === undefined ? [] : [`${JSON.stringify(name)}:${text(value)}`])).join(',')}}`
}

/**
 * Bytes of `treeText`. The size of a value is kept, because a patch may copy what it has copied before. A value does not
 * change when it is closed.
 */
export class TextSizes {
  private readonly known = new WeakMap<object, number>()

  of(tree: JsonTree): number {
    if (tree === null || typeof tree !== 'object' || tree instanceof NumberLiteral) return byteLength(treeText(tree))
    const known = this.known.get(tree)
    if (known !== undefined) return known
    const size = Array.isArray(tree) ? this.ofList(tree) : this.ofMap(tree)
    this.known.set(tree, size)
    return size
  }

  private ofList(list: readonly JsonTree[]): number {
    let size = Math.max(2, list.length + 1)
    for (const item of list) size += this.of(item)
    return size
  }

  private ofMap(map: RepeatedMembers | { readonly [name: string]: JsonTree | undefined }): number {
    const entries = map instanceof RepeatedMembers ? map.entries : Object.entries(map)
    let size = 1
    for (const [name, value] of entries) if (value !== undefined) size += this.of(name) + this.of(value) + 2
    return Math.max(2, size)
  }
}

/** Compares documents. Two numbers are equal where their texts are. */
export function nodesEqual(a: DocumentNode, b: DocumentNode): boolean {
  const [ours, theirs] = [opened(a), opened(b)]
  if (ours instanceof OpenMap) {
    if (!(theirs instanceof OpenMap) || ours.members.size !== theirs.members.size) return false
    for (const [name, value] of ours.members) {
      const other = theirs.members.get(name)
      if (other === undefined || (value === null) !== (other === null)) return false
      if (value !== null && !nodesEqual(value, other)) return false
    }
    return true
  }
  if (ours instanceof OpenList)
    return (
      theirs instanceof OpenList &&
      ours.items.length === theirs.items.length &&
      ours.items.every((item, at) => nodesEqual(item, theirs.items[at]!))
    )
  return theirs === undefined && text(a as JsonTree) === text(b as JsonTree) // scalars: neither can be opened
}
