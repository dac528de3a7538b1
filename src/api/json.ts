/**
 * JSON as kube-apiserver reads it (sigs.k8s.io/json, encoding/json), as a tree: repeated members are kept until somebody
 * reports them, and nesting is bounded. parse-json.ts makes trees of text, write-json.ts text of values.
 */
import type { Json } from './object.ts'
import { setOwn } from './own.ts'
import { eachName, eachPart, kept } from './parts.ts'
import { requestEntityTooLarge } from './status.ts'
import { NumberLiteral } from './json-numbers.ts'

/** Nesting that kube-apiserver refuses. */
export const MAX_DEPTH = 10_000

/**
 * Nesting of what is kept without a type that bounds it: custom resources, raw extensions, patches, schemas. Whatever
 * walks an object later walks it on the stack, which holds this many levels of the most expensive walk several times.
 */
export const MAX_NESTING = 500

/**
 * Members that one map of a body may have: V8 takes milliseconds for whatever goes over the names of a larger one. With
 * their owners they would have 31 bytes each in an object as large as storage takes.
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

/** An object with a member more than once: all of them, in the order of the text. */
export class RepeatedMembers {
  constructor(readonly entries: [name: string, value: JsonTree][]) {}
}

/** Parsed JSON with all that its text said. Any `Json` value is one. */
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
 * The value of a tree that no schema describes: the last of repeated members counts, numbers are numbers. Changes the
 * tree in place. Iterative, level by level, for it may be 10,000 levels deep.
 * @throws {NestingError} where it is deeper than the limit
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
        const members = node as { [name: string]: JsonTree } // nothing else has parts
        eachName(members, Object.keys, (name) => plainPart(members[name]!, (plain) => setOwn(members, name, plain)))
      }
    })
    walk.level = below
    walk.below = []
    walk.depth++
  }
  return walk.root as Json // nothing else is left in it
}

/** Whether there are more levels than that. Iterative. */
export function nestsDeeper(tree: JsonTree, maxDepth: number): boolean {
  let level: JsonTree[] = [tree]
  for (let depth = 0; level.length > 0; depth++) {
    const below: JsonTree[] = []
    for (const node of level) {
      if (typeof node !== 'object' || node === null || node instanceof NumberLiteral) continue
      if (depth >= maxDepth) return true
      if (node instanceof RepeatedMembers) for (const [, value] of node.entries) below.push(value)
      else for (const value of Object.values(node)) if (isContainer(value ?? null)) below.push(value ?? null)
    }
    level = below
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
