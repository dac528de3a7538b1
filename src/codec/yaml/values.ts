/** Makes JSON from YAML nodes. */
import { setOwn } from '../../base/own.ts'
import { Pace } from '../../base/pace.ts'
import type { Steps } from '../../base/slices.ts'
import { base64ToBytes, canonicalBase64, corruptAt } from '../../base/base64.ts'
import { goQuote } from '../../go/quote.ts'
import type { JsonTree } from '../../json/json.ts'
import { sortNames } from '../../base/name-order.ts'
import { decodeUtf8 } from '../../base/utf8.ts'
import { NumberLiteral, wholeNumber } from '../../json/numbers.ts'
import { YamlError } from './error.ts'
import type { YamlNode } from './nodes.ts'
import { resolveScalar } from './scalar.ts'
import { goFloat } from '../../go/float.ts'

/**
 * Limits of the document size for allowedAliasShare: nearly all reads may come from aliases up to SMALL, few from LARGE
 * on.
 */
const SMALL = 400_000
const LARGE = 4_000_000

function allowedAliasShare(reads: number): number {
  if (reads <= SMALL) return 0.99
  return reads >= LARGE ? 0.1 : 0.99 - 0.89 * ((reads - SMALL) / (LARGE - SMALL))
}

/** Characters around a value: brackets or quotes. */
const AROUND = 2

type Key = string | number | bigint | boolean

/** Makes a JSON tree. Each alias makes a new copy, so that the tree shares no values. */
export class NodeReader {
  readonly duplicates: string[] = []
  private reads = 0
  private aliasReads = 0
  /** Characters of what aliases have read, about as in JSON. */
  private added = 0
  private readonly open = new Set<YamlNode>()
  private readonly pace = new Pace()

  /** @param mostAdded the most characters that aliases add to the text */
  constructor(private readonly mostAdded: number) {}

  private leaf(node: YamlNode): JsonTree {
    this.count(node.value.length)
    return this.scalar(node)
  }

  *read(node: YamlNode): Steps<JsonTree> {
    if (node.kind === 'scalar') return this.leaf(node)
    this.count()
    switch (node.kind) {
      case 'sequence': {
        const list: JsonTree[] = []
        for (const child of node.children) {
          if (this.pace.isOver()) yield
          list.push(child.kind === 'scalar' ? this.leaf(child) : yield* this.read(child))
        }
        return list
      }
      case 'mapping':
        return yield* sorted(yield* this.members(node, new Map()), this.pace)
      case 'alias':
        return yield* this.throughAlias(node, (target) => this.read(target))
    }
  }

  /** @param length of a scalar */
  private count(length = 0): void {
    this.reads++
    if (this.open.size > 0) {
      this.aliasReads++
      this.added += length + AROUND
    }
    if (this.aliasReads > 100 && this.reads > 1000 && this.aliasReads / this.reads > allowedAliasShare(this.reads))
      throw new YamlError('yaml: document contains excessive aliasing')
    if (this.added > this.mostAdded) throw new YamlError(`yaml: aliases add more than ${this.mostAdded} characters`)
  }

  private *throughAlias<T>(node: YamlNode, read: (target: YamlNode) => Steps<T>): Steps<T> {
    if (this.open.has(node)) throw new YamlError(`yaml: anchor '${node.value}' value contains itself`)
    this.open.add(node)
    const value = yield* read(node.target!)
    this.open.delete(node)
    return value
  }

  private *members({ children }: YamlNode, members: Map<Key, JsonTree>): Steps<Map<Key, JsonTree>> {
    for (let i = 0; i < children.length; i += 2) {
      if (this.pace.isOver()) yield
      const name = children[i]!
      const value = children[i + 1]!
      if (name.kind === 'scalar' && name.value === '<<' && (name.isPlain || name.tag === '!!merge'))
        yield* this.merge(value, members)
      else {
        const key = yield* this.key(name)
        const read = value.kind === 'scalar' ? this.leaf(value) : yield* this.read(value)
        if (members.has(key)) this.duplicates.push(`line ${value.line}: key ${keyText(key)} already set in map`)
        members.set(key, read)
      }
    }
    return members
  }

  /** `<<` merges the members of one mapping or of several. An earlier mapping overrides a later one. */
  private *merge(value: YamlNode, members: Map<Key, JsonTree>): Steps<void> {
    const all = value.kind === 'sequence' ? value.children.toReversed() : [value]
    for (const one of all) {
      const mapping = one.kind === 'alias' ? one.target! : one
      if (mapping.kind !== 'mapping')
        throw new YamlError('yaml: map merge requires map or sequence of maps as the value')
      this.count()
      if (one.kind === 'alias') yield* this.throughAlias(one, (target) => this.members(target, members))
      else yield* this.members(mapping, members)
    }
  }

  private *key(node: YamlNode): Steps<Key> {
    const target = node.kind === 'alias' ? node.target! : node
    if (target.kind !== 'scalar') throw new YamlError('yaml: invalid map key: a list or a map')
    const value = node === target ? this.leaf(node) : yield* this.read(node)
    if (value instanceof NumberLiteral) return BigInt(value.text)
    if (value === null || typeof value === 'object')
      throw new YamlError('unsupported map key of type: %!s(<nil>), key: <nil>, value: <nil>')
    return value
  }

  private scalar({ tag, value, isPlain }: YamlNode): JsonTree {
    if (tag === '' && !isPlain) return value
    if (tag === '!!binary') return binary(value)
    if (tag === '!!str' || !['', '!!bool', '!!int', '!!float', '!!null', '!!timestamp'].includes(tag)) return value
    const scalar = resolveScalar(value)
    const isFine = tag === '' || scalar.tag === tag || (tag === '!!float' && scalar.tag === '!!int')
    if (!isFine) throw new YamlError(`yaml: cannot decode ${scalar.tag} \`${value}\` as a ${tag}`)
    if (scalar.tag === '!!int') return scalar.value ?? new NumberLiteral(scalar.text)
    if (scalar.tag === '!!float' && !Number.isFinite(scalar.value))
      throw new YamlError(
        `json: unsupported value: ${Number.isNaN(scalar.value) ? 'NaN' : scalar.value > 0 ? '+Inf' : '-Inf'}`,
      )
    return scalar.tag === '!!float' ? asWritten(scalar.value) : scalar.value
  }
}

/** Kubernetes' YAML library writes JSON, where a whole float below 1e21 has no exponent: it may be an int64. */
const asWritten = (float: number): JsonTree =>
  Number.isInteger(float) && Math.abs(float) < 1e21 ? (wholeNumber(String(float)) ?? float) : float

function binary(text: string): string {
  if (corruptAt(text) !== undefined) throw new YamlError('yaml: !!binary value contains invalid base64 data')
  return decodeUtf8(base64ToBytes(canonicalBase64(text)))
}

/** Go's text of a name in an error: `"a"`, `true`, `1`. */
const keyText = (key: Key) => (typeof key === 'string' ? goQuote(key) : String(key))

/** The JSON name of a key. */
const nameOf = (key: Key) =>
  typeof key === 'number' && !Number.isInteger(key) ? goFloat(Math.fround(key)) : String(key)

function* sorted(members: ReadonlyMap<Key, JsonTree>, pace: Pace): Steps<JsonTree> {
  const named = new Map<string, JsonTree>()
  for (const [key, value] of members) {
    if (pace.isOver()) yield
    named.set(nameOf(key), value)
  }
  const object: { [name: string]: JsonTree } = {}
  for (const name of sortNames([...named.keys()])) {
    if (pace.isOver()) yield
    setOwn(object, name, named.get(name)!)
  }
  return object
}
