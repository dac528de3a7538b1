/**
 * Sets of fields: who owns what. A set is a tree of path elements, in memory as in the JSON of FieldsV1, and never
 * changes (structured-merge-diff's pkg/fieldpath).
 */
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { comparePathElements, readPathElement } from '../schema/path-element.ts'
import type { FieldPathElements, PathElement } from '../schema/path-element.ts'

interface Node {
  /** The field itself belongs to the set, not only fields below it. */
  readonly member: boolean
  readonly below: FieldSet
}

export class FieldSet {
  static readonly empty: FieldSet = new FieldSet(new Map())

  private constructor(private readonly nodes: ReadonlyMap<PathElement, Node>) {}

  static of(...paths: readonly FieldPathElements[]): FieldSet {
    const builder = new FieldSetBuilder()
    for (const path of paths) builder.insert(path)
    return builder.build()
  }

  /** @internal for the functions below: a map without nodes that hold nothing */
  static ofNodes(nodes: ReadonlyMap<PathElement, Node>): FieldSet {
    return nodes.size === 0 ? FieldSet.empty : new FieldSet(nodes)
  }

  get isEmpty(): boolean {
    return this.nodes.size === 0
  }

  has(path: FieldPathElements): boolean {
    let node: Node | undefined
    for (const element of path) node = (node?.below ?? this).nodes.get(element)
    return node?.member === true
  }

  hasMember(element: PathElement): boolean {
    return this.nodes.get(element)?.member === true
  }

  /** What the set holds below an element. */
  below(element: PathElement): FieldSet {
    return this.nodes.get(element)?.below ?? FieldSet.empty
  }

  *elements(): Iterable<[element: PathElement, member: boolean, below: FieldSet]> {
    for (const [element, { member, below }] of this.nodes) yield [element, member, below]
  }

  union(other: FieldSet): FieldSet {
    if (this.isEmpty) return other
    if (other.isEmpty) return this
    const nodes = new Map(this.nodes)
    for (const [element, theirs] of other.nodes) {
      const ours = nodes.get(element)
      nodes.set(
        element,
        ours === undefined ? theirs : { member: ours.member || theirs.member, below: ours.below.union(theirs.below) },
      )
    }
    return FieldSet.ofNodes(nodes)
  }

  intersection(other: FieldSet): FieldSet {
    return this.#merged((element, ours) => {
      const theirs = other.nodes.get(element)
      return theirs === undefined
        ? undefined
        : { member: ours.member && theirs.member, below: ours.below.intersection(theirs.below) }
    })
  }

  /** Without the members of the other set; what is below such a member stays. */
  difference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this
    return this.#merged((element, ours) => {
      const theirs = other.nodes.get(element)
      return theirs === undefined
        ? ours
        : { member: ours.member && !theirs.member, below: ours.below.difference(theirs.below) }
    })
  }

  /** Without the members of the other set and all that is below them. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this
    return this.#merged((element, ours) => {
      const theirs = other.nodes.get(element)
      if (theirs === undefined) return ours
      return theirs.member ? undefined : { ...ours, below: ours.below.recursiveDifference(theirs.below) }
    })
  }

  #merged(keep: (element: PathElement, node: Node) => Node | undefined): FieldSet {
    const nodes = new Map<PathElement, Node>()
    for (const [element, node] of this.nodes) {
      const kept = keep(element, node)
      if (kept !== undefined && (kept.member || !kept.below.isEmpty)) nodes.set(element, kept)
    }
    return FieldSet.ofNodes(nodes)
  }

  /** The same set with more members or fewer, chosen element by element. */
  map(choose: (element: PathElement, member: boolean, below: FieldSet) => { member: boolean; below: FieldSet }) {
    return this.#merged((element, { member, below }) => choose(element, member, below))
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true
    if (this.nodes.size !== other.nodes.size) return false
    for (const [element, ours] of this.nodes) {
      const theirs = other.nodes.get(element)
      if (theirs === undefined || ours.member !== theirs.member || !ours.below.equals(theirs.below)) return false
    }
    return true
  }

  /** Every member: those of one level, in order, before those below them. */
  *paths(prefix: FieldPathElements = []): Iterable<FieldPathElements> {
    const sorted = [...this.nodes].sort(([a], [b]) => comparePathElements(a, b))
    for (const [element, { member }] of sorted) if (member) yield [...prefix, element]
    for (const [element, { below }] of sorted) yield* below.paths([...prefix, element])
  }

  toFieldsV1(): JsonObject {
    const fields: JsonObject = {}
    for (const [element, { member, below }] of [...this.nodes].sort(([a], [b]) => comparePathElements(a, b)))
      fields[element] = member && !below.isEmpty ? { '.': {}, ...below.toFieldsV1() } : below.toFieldsV1()
    return fields
  }

  /**
   * Elements of an unknown kind are dropped with all below them, as a later version may know more of them.
   * @throws Error where the JSON is no set of fields
   */
  static fromFieldsV1(fields: Json | undefined): FieldSet {
    return readFields(fields).set
  }
}

/** `member`: nothing is below it, or it says itself (`.`) that it is one. */
function readFields(fields: Json | undefined): { set: FieldSet; member: boolean } {
  if (fields === null || fields === undefined) return { set: FieldSet.empty, member: true }
  if (!isJsonObject(fields)) throw new Error('expected { or n')
  const nodes = new Map<PathElement, Node>()
  let member = false
  for (const [key, value] of Object.entries(fields)) {
    if (key === '.') {
      member = true
      continue
    }
    const element = readPathElement(key)
    if (element === undefined) continue
    const below = readFields(value)
    nodes.set(element, { member: below.member, below: below.set })
  }
  const set = FieldSet.ofNodes(nodes)
  return { set, member: member || set.isEmpty }
}

/** Collects paths. */
export class FieldSetBuilder {
  readonly #root: Draft = new Map()

  insert(path: FieldPathElements): void {
    // the whole object is nobody's
    if (path.length === 0) return
    let level = this.#root
    for (const [at, element] of path.entries()) {
      let node = level.get(element)
      if (node === undefined) level.set(element, (node = { member: false, below: new Map() }))
      if (at === path.length - 1) node.member = true
      level = node.below
    }
  }

  build(): FieldSet {
    return built(this.#root)
  }
}

type Draft = Map<PathElement, { member: boolean; below: Draft }>

const built = (draft: Draft): FieldSet =>
  FieldSet.ofNodes(
    new Map([...draft].map(([element, { member, below }]) => [element, { member, below: built(below) }])),
  )
