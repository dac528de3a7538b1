/**
 * Sets of fields, which say what a manager owns. A set is an immutable tree of path elements, in memory as in the
 * JSON of FieldsV1 (structured-merge-diff's pkg/fieldpath).
 */
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { isEmpty, setOwn } from '../base/own.ts'
import { eachName, kept, PART } from '../base/parts.ts'
import { BESIDE } from '../base/slices.ts'
import type { Steps } from '../base/slices.ts'
import { compareElements, readPathElement, sortedPathElements } from '../schema/path-element.ts'
import type { FieldPathElements, PathElement, ReadElement } from '../schema/path-element.ts'

interface Node {
  /** The field itself belongs to the set, not only fields below it. */
  readonly member: boolean
  readonly below: FieldSet
}

export class FieldSet {
  static readonly empty: FieldSet = new FieldSet(new Map())

  /** The set as JSON, kept after it was written or read. It is never changed. */
  #fields: JsonObject | undefined
  /** The same JSON for a set below a member, with the `.` that says that the field itself is a member. */
  #fieldsOfMember: JsonObject | undefined
  #size: number | undefined

  private constructor(private readonly nodes: ReadonlyMap<PathElement, Node>) {}

  static of(...paths: readonly FieldPathElements[]): FieldSet {
    const builder = new FieldSetBuilder()
    for (const path of paths) builder.insert(path)
    return builder.build()
  }

  /**
   * @internal for the functions below
   * @param nodes none of them is empty
   */
  static ofNodes(nodes: ReadonlyMap<PathElement, Node>): FieldSet {
    return nodes.size === 0 ? FieldSet.empty : new FieldSet(nodes)
  }

  /**
   * @internal for the functions below
   * @param fields the JSON that the set was read from; writing the set would make the same JSON
   */
  static ofJson(nodes: ReadonlyMap<PathElement, Node>, fields: JsonObject, member: boolean): FieldSet {
    const set = FieldSet.ofNodes(nodes)
    if (set.isEmpty) return set
    if (member) set.#fieldsOfMember = fields
    else set.#fields = fields
    return set
  }

  /** @internal for the functions below */
  get names(): PathElement[] {
    return [...this.nodes.keys()]
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

  /** The union of many sets. It joins them in pairs, so that no set is copied more than a few times. */
  static *unionOf(sets: readonly FieldSet[]): Steps<FieldSet> {
    let left = PART
    while (sets.length > 1) {
      const joined: FieldSet[] = []
      for (let at = 0; at < sets.length; at += 2) {
        const both = sets[at]!.union(sets[at + 1] ?? FieldSet.empty)
        joined.push(both)
        left -= 1 + both.size
        if (left > 0) continue
        yield
        left = PART
      }
      sets = joined
    }
    return sets[0] ?? FieldSet.empty
  }

  intersection(other: FieldSet): FieldSet {
    return this.#merged((element, ours) => {
      const theirs = other.nodes.get(element)
      return theirs && changed(ours, ours.member && theirs.member, ours.below.intersection(theirs.below))
    })
  }

  /** Without the members of the other set; what is below such a member stays. */
  difference(other: FieldSet): FieldSet {
    if (other.isEmpty || this.isEmpty) return this
    return this.#merged((element, ours) => {
      const theirs = other.nodes.get(element)
      return theirs === undefined
        ? ours
        : changed(ours, ours.member && !theirs.member, ours.below.difference(theirs.below))
    })
  }

  /** Without the members of the other set and all that is below them. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.isEmpty || this.isEmpty) return this
    return this.#merged((element, ours) => {
      const theirs = other.nodes.get(element)
      if (theirs === undefined) return ours
      return theirs.member ? undefined : changed(ours, ours.member, ours.below.recursiveDifference(theirs.below))
    })
  }

  /** Returns the same set where no node changes. */
  #merged(keep: (element: PathElement, node: Node) => Node | undefined): FieldSet {
    const nodes = new Map<PathElement, Node>()
    let isSame = true
    for (const [element, node] of this.nodes) {
      const kept = keep(element, node)
      if (kept !== undefined && (kept.member || !kept.below.isEmpty)) nodes.set(element, kept)
      if (kept !== node) isSame = false
    }
    return isSame ? this : FieldSet.ofNodes(nodes)
  }

  /** The set with members added or removed; `choose` decides for each element. */
  map(choose: (element: PathElement, member: boolean, below: FieldSet) => { member: boolean; below: FieldSet }) {
    return this.#merged((element, node) => {
      const { member, below } = choose(element, node.member, node.below)
      return changed(node, member, below)
    })
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

  /** The number of members. */
  get size(): number {
    if (this.#size !== undefined) return this.#size
    let size = 0
    for (const { member, below } of this.nodes.values()) size += Number(member) + (below.isEmpty ? 0 : below.size)
    return (this.#size = size)
  }

  /**
   * Visits every member in parts: those of one level, in order, before those below them.
   * @param isOver ends it, after some more visits
   */
  eachPath(visit: (path: FieldPathElements) => void, isOver: () => boolean, prefix: FieldPathElements = []): void {
    const each = (of: (element: PathElement) => void): void =>
      eachName<FieldSet>(this, sortedElements, (element) => {
        of(element)
        // a walk that stopped in a loop must come by it again
        return !isOver()
      })
    each((element) => {
      if (this.hasMember(element)) visit([...prefix, element])
    })
    each((element) => {
      const below = this.below(element)
      if (!below.isEmpty) below.eachPath(visit, isOver, [...prefix, element])
    })
  }

  /** Callers must not change it: sets share it. */
  toFieldsV1(): JsonObject {
    return (this.#fields ??= this.#write({}))
  }

  #below(member: boolean): JsonObject {
    return member && !this.isEmpty ? (this.#fieldsOfMember ??= this.#write({ '.': {} })) : this.toFieldsV1()
  }

  #write(begun: JsonObject): JsonObject {
    const fields = kept(this, () => begun)
    eachName<FieldSet>(this, sortedElements, (element) => {
      const { member, below } = this.nodes.get(element)!
      setOwn(fields, element, below.#below(member))
    })
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

/** What an operation on sets takes of a turn. It has no steps of its own. */
export const workOn = (sets: readonly FieldSet[]): number => sets.reduce((work, { size }) => work + size, BESIDE)

const changed = (node: Node, member: boolean, below: FieldSet): Node =>
  node.member === member && node.below === below ? node : { member, below }

const sortedElements = (set: FieldSet): PathElement[] => sortedPathElements(() => set.names)

/** A field with nothing below it: most are. */
const LEAF: Node = { member: true, below: FieldSet.empty }

interface ReadFields {
  readonly set: FieldSet
  /** The field is a member: it has nothing below it, or it says so itself with `.`. */
  readonly member: boolean
  /** Writing the set would make the same JSON. */
  readonly isCanonical: boolean
}

const READ_LEAF: ReadFields = { set: FieldSet.empty, member: true, isCanonical: true }

function readFields(fields: Json | undefined): ReadFields {
  if (fields === null || fields === undefined) return { set: FieldSet.empty, member: true, isCanonical: false }
  if (!isJsonObject(fields)) throw new Error('expected { or n')
  if (isEmpty(fields)) return READ_LEAF
  const so = kept(fields, () => ({
    nodes: new Map<PathElement, Node>(),
    member: false,
    isCanonical: true,
    previous: undefined as ReadElement | undefined,
  }))
  eachName(fields, Object.keys, (key) => {
    if (key === '.') {
      so.isCanonical &&= so.previous === undefined
      so.member = true
      return
    }
    const read = readPathElement(key)
    if (read === undefined) {
      so.isCanonical = false
      return
    }
    const { element } = read
    const below = readFields(fields[key])
    so.isCanonical &&=
      below.isCanonical && element === key && (so.previous === undefined || compareElements(so.previous, read) < 0)
    so.previous = read
    so.nodes.set(element, below === READ_LEAF ? LEAF : { member: below.member, below: below.set })
  })
  const { nodes, member, isCanonical } = so
  const set = isCanonical ? FieldSet.ofJson(nodes, fields, member) : FieldSet.ofNodes(nodes)
  return { set, member: member || set.isEmpty, isCanonical: isCanonical && !(member && set.isEmpty) }
}

/** Builds a set from paths. */
export class FieldSetBuilder {
  readonly #root: Draft = new Map()

  insert(path: FieldPathElements): void {
    // no manager owns the whole object
    if (path.length === 0) return
    let level = this.#root
    for (let at = 0; at < path.length; at++) {
      let node = level.get(path[at]!)
      if (node === undefined) level.set(path[at]!, (node = { member: false, below: undefined }))
      if (at === path.length - 1) node.member = true
      else level = node.below ??= new Map()
    }
  }

  build(): FieldSet {
    return built(this.#root)
  }
}

type Draft = Map<PathElement, { member: boolean; below: Draft | undefined }>

const elementsOf = (draft: Draft): PathElement[] => [...draft.keys()]

function built(draft: Draft): FieldSet {
  const nodes = kept(draft, () => new Map<PathElement, Node>())
  eachName(draft, elementsOf, (element) => {
    const { member, below } = draft.get(element)!
    nodes.set(element, below === undefined ? LEAF : { member, below: built(below) })
  })
  // the same set in each run of the walk around it
  return kept(draft, () => FieldSet.ofNodes(nodes))
}
