/**
 * A JSON document that patches change in place, as evanphx/json-patch keeps it: values stay as they were written until
 * a patch reaches into them, and what was reached into has its members in the order of their names afterwards. That
 * order shows in messages that quote the document.
 */
import { ownValue, setOwn } from '../api/own.ts'
import { RepeatedMembers } from '../api/json.ts'
import { compareNames, sortNames } from '../api/name-order.ts'
import { escapeHtml } from '../api/write-json.ts'
import { NumberLiteral } from '../api/json-numbers.ts'
import type { JsonTree } from '../api/json.ts'
import { eachName, eachPart, goesInParts, kept, mapParts, sortedItems } from '../api/parts.ts'

/** An object or a list that has been reached into. */
export type Container = OpenMap | OpenList
/** Null stands for absence too, where the difference is not asked for. */
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

/** Reaches into a value; undefined where it is a scalar. */
export function opened(node: DocumentNode): Container | undefined {
  if (node instanceof OpenMap || node instanceof OpenList) return node
  if (Array.isArray(node)) return new OpenList([...node])
  return isMapTree(node) ? new OpenMap(node) : undefined
}

/** Members that are reached at once. */
const MANY = 1024

/** The same in a walk (api/parts.ts). @param node the same in each run */
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

/** Decoding takes parts of a tree for its own and flattens it: where the tree is needed again, it gets a copy. */
export function copyOf(tree: JsonTree): JsonTree {
  if (typeof tree !== 'object' || tree === null || tree instanceof NumberLiteral) return tree
  if (Array.isArray(tree)) return mapParts(tree, copyOf)
  if (tree instanceof RepeatedMembers)
    return new RepeatedMembers(mapParts(tree.entries, ([name, value]) => [name, copyOf(value)]))
  const copy = kept(tree, (): { [name: string]: JsonTree | undefined } => ({}))
  eachName(tree, Object.keys, (name) => {
    const value = ownValue(tree, name)
    if (value !== undefined) setOwn(copy, name, copyOf(value))
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

/** Equality of documents: of numbers, the text counts. */
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
