/**
 * Trees of parsed JSON, with the rules of kube-apiserver (sigs.k8s.io/json, encoding/json). A tree keeps repeated
 * members, so that decoding can report them, and its depth is bounded. parse-json.ts parses text into trees,
 * write-json.ts writes values as text.
 */
import type { Json } from '../api/object.ts'
import { setOwn } from '../base/own.ts'
import { eachName, eachPart, kept } from '../base/parts.ts'
import { requestEntityTooLarge } from '../api/status.ts'
import { NumberLiteral } from './numbers.ts'

/** The most levels of nesting, as in kube-apiserver. */
export const MAX_DEPTH = 10_000

/**
 * The most levels of nesting in values whose type does not bound it: custom resources, raw extensions, patches,
 * schemas. Later walks over an object are recursive. The stack holds several times this many levels of the most
 * expensive walk.
 */
export const MAX_NESTING = 500

/**
 * The most members of one map in a body. V8 takes milliseconds for each pass over the names of a larger map. In the
 * largest object that storage takes, that many members would have 31 bytes each, managedFields included.
 */
export const MAX_MEMBERS = 50_000

/** @throws StatusError 413 */
export function checkMembers(count: number): void {
  if (count > MAX_MEMBERS) throw requestEntityTooLarge(`a map may have ${MAX_MEMBERS} members`)
}

/** A value that nests deeper than MAX_NESTING. */
export class NestingError extends Error {
  override readonly name = 'NestingError'

  constructor() {
    super('exceeded max depth')
  }
}

/** An object that repeats a member. It holds all members in the order of the text. */
export class RepeatedMembers {
  readonly entries: [name: string, value: JsonTree][]

  constructor(entries: [name: string, value: JsonTree][]) {
    this.entries = entries
  }
}

/** Parsed JSON that loses nothing of its text. Every `Json` value is a tree, too. */
export type JsonTree =
  | null
  | boolean
  | number
  | bigint
  | string
  | NumberLiteral
  | RepeatedMembers
  | JsonTree[]
  | { [name: string]: JsonTree | undefined }

/**
 * Converts a tree that has no schema into a value, in place. The last of repeated members wins, and number literals
 * become numbers. It is iterative, level by level, because a tree can have 10,000 levels.
 * @throws {NestingError} if the tree is deeper than the limit
 */
export function plainJson(tree: JsonTree, maxDepth = Infinity): Json {
  if (typeof tree !== 'object' || tree === null) return tree
  const walk = kept(tree, () => {
    const root = plainNode(tree)
    return { root, level: isContainer(root) ? [root] : [], depth: 1, below: [] as JsonTree[] }
  })
  while (walk.level.length > 0) {
    if (walk.depth > maxDepth) throw new NestingError()
    const { below } = walk
    const plainPart = (value: JsonTree, replace: (plain: JsonTree) => void): void => {
      if (typeof value !== 'object' || value === null) return
      const plain = plainNode(value)
      if (plain !== value) replace(plain)
      if (isContainer(plain)) below.push(plain)
    }
    eachPart(walk.level, (node) => {
      if (Array.isArray(node)) eachPart(node, (value, at) => plainPart(value, (plain) => (node[at] = plain)))
      else {
        const members = node as { [name: string]: JsonTree } // only lists and objects have parts
        eachName(members, Object.keys, (name) => plainPart(members[name]!, (plain) => setOwn(members, name, plain)))
      }
    })
    walk.level = below
    walk.below = []
    walk.depth++
  }
  return walk.root as Json // the walk has replaced repeated members and number literals
}

/**
 * Whether a tree has more levels than `maxDepth`. It is iterative. A part that has several places is looked at once a
 * level.
 */
export function nestsDeeper(tree: JsonTree, maxDepth: number): boolean {
  if (!isContainer(tree)) return false
  const walk = kept(tree, () => ({ level: [tree], below: new Set<JsonTree>(), depth: 0 }))
  for (; walk.level.length > 0; walk.depth++) {
    const { below, level, depth } = walk
    if (depth >= maxDepth && level.some((node) => !(node instanceof NumberLiteral))) return true
    const note = (value: JsonTree | undefined): void => {
      if (isContainer(value ?? null)) below.add(value as JsonTree)
    }
    eachPart(level, (node) => {
      if (node instanceof NumberLiteral) return
      if (Array.isArray(node)) eachPart(node, note)
      else if (node instanceof RepeatedMembers) eachPart(node.entries, ([, value]) => note(value))
      else {
        const members = node as { [name: string]: JsonTree | undefined } // only lists and objects have parts
        eachName(members, Object.keys, (name) => note(members[name]))
      }
    })
    walk.level = [...below]
    walk.below = new Set()
  }
  return false
}

const isContainer = (node: JsonTree): boolean => typeof node === 'object' && node !== null

function plainNode(node: JsonTree): JsonTree {
  if (node instanceof NumberLiteral) return Number(node.text)
  if (!(node instanceof RepeatedMembers)) return node
  const object: { [name: string]: JsonTree } = {}
  for (const [name, value] of node.entries) setOwn(object, name, value)
  return object
}
