/**
 * YAML bodies as Kubernetes reads them (sigs.k8s.io/yaml): the first document, turned into JSON. Names of members that
 * are numbers or booleans become text, members are sorted, and what aliases blow up is bounded by kube-apiserver's own
 * budget.
 */
import { leastOf } from '../api/extremes.ts'
import { setOwn } from '../api/own.ts'
import { Pace } from '../api/pace.ts'
import { atOnce } from '../api/slices.ts'
import type { Steps } from '../api/slices.ts'
import type { Event, MappingEvent, ScalarEvent, SequenceEvent } from 'js-yaml'
import { COLLECTION_STYLE, EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE, YAMLException } from 'js-yaml'
import { base64ToBytes, canonicalBase64, corruptAt } from '../api/base64.ts'
import { goQuote } from '../go/quote.ts'
import type { JsonTree } from '../api/json.ts'
import { checkMembers, MAX_NESTING } from '../api/json.ts'
import { sortNames } from '../api/name-order.ts'
import { decodeUtf8 } from '../api/utf8.ts'
import { NumberLiteral } from '../api/json-numbers.ts'
import { YamlError, yamlErrorAt, yamlSyntaxError } from './yaml-error.ts'
import { resolveScalar } from './yaml-scalar.ts'
import { goFloat } from '../go/float.ts'

export { YamlError }

export interface ParsedYaml {
  readonly tree: JsonTree
  /** `line 7: key "a" already set in map`, in the order in which kube-apiserver finds them. */
  readonly duplicates: readonly string[]
}

/**
 * Lists, maps, names and scalars of a document, which the parser reads at once: so many take it some 50 ms. It is three
 * times what a map may have.
 */
const MAX_NODES = 150_000

/** The parser compares the depth of each node with this; nothing else tells how many there are before all are read. */
class NodeLimit {
  private nodes = 0

  valueOf(): number {
    if (++this.nodes > MAX_NODES) throw new YamlError(`yaml: more than ${MAX_NODES} nodes`)
    return MAX_NESTING
  }
}

/** @throws {YamlError} */
export const parseYaml = (text: string): ParsedYaml => atOnce(parsingYaml(text))

/** The same in steps. */
export function* parsingYaml(text: string): Steps<ParsedYaml> {
  const document = yield* eventsOf(yield* firstDocument(text))
  yield
  const root = yield* new Composer(document.text, document.events).document()
  yield
  const reader = new NodeReader()
  const tree = root === undefined ? null : yield* reader.read(root)
  return { tree, duplicates: reader.duplicates }
}

/** The same of bytes: UTF-8, or UTF-16 with its byte order mark. @throws {YamlError} */
export const parseYamlBytes = (bytes: Uint8Array): ParsedYaml => atOnce(parsingYamlBytes(bytes))

/** The same in steps. */
export function* parsingYamlBytes(bytes: Uint8Array): Steps<ParsedYaml> {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return yield* parsingYaml(new TextDecoder('utf-16le').decode(bytes))
  if (first === 0xfe && second === 0xff) return yield* parsingYaml(new TextDecoder('utf-16be').decode(bytes))
  const text = decodeUtf8(bytes)
  if (text.includes('\ufffd') && !isUtf8(bytes)) throw new YamlError('yaml: invalid leading UTF-8 octet')
  return yield* parsingYaml(text.startsWith('\ufeff') ? text.slice(1) : text)
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/**
 * An applied configuration: its value, and what is repeated in it.
 * @throws {YamlError} with the text that follows `error decoding YAML: `
 */
export function parseAppliedYaml(bytes: Uint8Array): { readonly tree: JsonTree; readonly repeated: readonly string[] } {
  try {
    const { tree, duplicates } = parseYamlBytes(bytes)
    return { tree, repeated: duplicates }
  } catch (error) {
    throw error instanceof YamlError ? new YamlError(`error converting YAML to JSON: ${error.message}`) : error
  }
}

const mark = /(?:---|\.\.\.)(?:\s|$)/y
const nothing = /^(?:\s*#|%|\s+$)/

/** What follows the first document is not even looked at. Its end can only stand at the beginning of a line. */
function* firstDocument(text: string): Steps<string> {
  const pace = new Pace()
  let begun = false
  for (let at = 0; at < text.length;) {
    if (pace.isOver()) yield
    const end = text.indexOf('\n', at)
    mark.lastIndex = at
    if (begun && mark.test(text)) return text.slice(0, at)
    if (!begun) {
      const line = end < 0 ? text.slice(at) : text.slice(at, end)
      begun = line !== '' && !nothing.test(line)
    }
    if (end < 0) break
    at = end + 1
  }
  return text
}

/** A text is read again without what follows its root node, which is then its end. */
const MAX_ATTEMPTS = 3

/** The line, counted from 1, whose indentation has a tab, when nothing but comments stands before it. */
function* tabbedLine(text: string): Steps<number | undefined> {
  const blank = /(?: *(?:#.*)?|---)\n/y
  const tab = / *\t/y
  const pace = new Pace()
  for (let line = 1, at = 0; ; line++) {
    if (pace.isOver()) yield
    tab.lastIndex = blank.lastIndex = at
    if (tab.test(text)) return line
    if (!blank.test(text)) return undefined
    at = blank.lastIndex
  }
}

/** The events of a document, and the text that they are of: up to the end of the root node. */
function* eventsOf(text: string, attempts = MAX_ATTEMPTS): Steps<{ events: Event[]; text: string }> {
  const line = yield* tabbedLine(text)
  try {
    if (line !== undefined && /\S/.test(text)) {
      throw yamlErrorAt(line > 1 ? line : 0, 'found character that cannot start any token')
    }
    // the parser only compares it with numbers
    return { events: parseEvents(text, { maxDepth: new NodeLimit() as unknown as number }), text }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const problem = yamlSyntaxError(text, error)
    if (problem instanceof YamlError) throw problem
    const shorter = text.slice(0, problem.endsAt)
    if (shorter.trim() === '' || shorter.length === text.length || attempts === 1)
      throw new YamlError('yaml: did not find expected node content')
    yield
    return yield* eventsOf(shorter, attempts - 1)
  }
}

interface YamlNode {
  readonly kind: 'scalar' | 'sequence' | 'mapping' | 'alias'
  /** Counted from 1. */
  readonly line: number
  /** `!!str`, `!mine`; empty when there is none. */
  readonly tag: string
  /** Text of a scalar, name of an alias. */
  readonly value: string
  readonly isPlain: boolean
  /** Elements; names and values of a mapping in turn. */
  readonly children: YamlNode[]
  readonly target?: YamlNode
}

const ABSENT = -1

/** From the parser's flat events to nodes, with aliases bound to what they name. */
class Composer {
  private next = 0
  private readonly anchors = new Map<string, YamlNode>()
  private readonly pace = new Pace()
  private readonly lineStarts: number[] = [0]
  private lastLine = 1

  constructor(
    private readonly text: string,
    private readonly events: readonly Event[],
  ) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.lineStarts.push(at + 1)
  }

  *document(): Steps<YamlNode | undefined> {
    const start = this.events[this.next++]
    if (start === undefined || start.type !== EVENT_ID.DOCUMENT) return undefined
    for (const directive of start.directives)
      if (directive.kind === 'yaml' && directive.version !== '1.1')
        throw new YamlError('yaml: found incompatible YAML document')
    return this.events[this.next]?.type === EVENT_ID.POP ? undefined : yield* this.node()
  }

  private *node(): Steps<YamlNode> {
    const event = this.events[this.next]!
    if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) {
      this.next++
      return yield* this.collection(event.type === EVENT_ID.SEQUENCE ? 'sequence' : 'mapping', event)
    }
    return this.leaf()
  }

  /** A node without others in it. */
  private leaf(): YamlNode {
    const event = this.events[this.next++]!
    if (event.type === EVENT_ID.SCALAR) return this.scalar(event)
    if (event.type !== EVENT_ID.ALIAS) throw new Error(`assertion failed: no node begins with event ${event.type}`)
    const name = this.text.slice(event.anchorStart, event.anchorEnd)
    const target = this.anchors.get(name)
    if (target === undefined) throw new YamlError(`yaml: unknown anchor '${name}' referenced`)
    const line = this.lineOf(event.anchorStart)
    return { kind: 'alias', line, tag: '', value: name, isPlain: false, children: [], target }
  }

  private scalar(event: ScalarEvent): YamlNode {
    return this.anchored(event, {
      kind: 'scalar',
      line: this.lineOf(startOf(event, event.valueStart)),
      tag: this.tag(event),
      value: this.value(event),
      isPlain: event.style === SCALAR_STYLE.PLAIN,
      children: [],
    })
  }

  /** A block that the text ends in, before its line does, has no last line break. */
  private value(event: ScalarEvent): string {
    const value = getScalarValue(this.text, event)
    const isBlock = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK
    const isCut = isBlock && event.valueEnd >= this.text.length && !this.text.endsWith('\n')
    return isCut ? value.replace(/\n$/, '') : value
  }

  private *collection(kind: 'sequence' | 'mapping', event: SequenceEvent | MappingEvent): Steps<YamlNode> {
    const line = this.lineOf(startOf(event, event.start))
    const node = this.anchored(event, { kind, line, tag: this.tag(event), value: '', isPlain: false, children: [] })
    for (let i = 0; this.events[this.next]!.type !== EVENT_ID.POP; i++) {
      if (this.pace.isOver()) yield
      const { type } = this.events[this.next]!
      const child = type === EVENT_ID.SCALAR || type === EVENT_ID.ALIAS ? this.leaf() : yield* this.node()
      if (kind === 'mapping' && i % 2 === 0) this.checkName(event as MappingEvent, child)
      node.children.push(child)
      if (kind === 'mapping') checkMembers(node.children.length / 2)
    }
    this.next++
    return node
  }

  /** A colon without a name before it: there is an absent name in YAML 1.2, but not there. */
  private checkName({ style }: MappingEvent, name: YamlNode): void {
    const event = this.events[this.next - 1]!
    if (
      event.type !== EVENT_ID.SCALAR ||
      event.valueStart !== ABSENT ||
      name.tag !== '' ||
      event.anchorStart !== ABSENT
    )
      return
    const isFlow = style === COLLECTION_STYLE.FLOW
    const line = this.colonLine()
    if (line !== undefined)
      throw yamlErrorAt(line, isFlow ? 'did not find expected node content' : 'did not find expected key')
  }

  /** Counted from 0: the line of the first colon after the last token that has nothing before it. */
  private colonLine(): number | undefined {
    const start = this.lineStarts[this.lastLine - 1]!
    // an error further away has no line; the missing name is refused on its own
    // pattern: 400 characters are looked at
    const found = /(?:^|[\s{,-]) *:(?=[\s,}]|$)/m.exec(this.text.slice(start, start + 400))
    if (found === null || /(?:^|\s)\?(?:\s|$)/.test(this.text.slice(start, start + found.index + found[0].length)))
      return undefined
    return this.text.slice(0, start + found.index + found[0].length).split('\n').length - 1
  }

  private anchored(event: ScalarEvent | SequenceEvent | MappingEvent, node: YamlNode): YamlNode {
    if (event.anchorStart !== ABSENT) this.anchors.set(this.text.slice(event.anchorStart, event.anchorEnd), node)
    return node
  }

  private tag({ tagStart, tagEnd }: ScalarEvent | SequenceEvent | MappingEvent): string {
    if (tagStart === ABSENT) return ''
    const text = this.text.slice(tagStart, tagEnd)
    const [, verbatim] = /^!<(.*)>$/.exec(text) ?? []
    return (verbatim ?? text).replace(/^tag:yaml\.org,2002:/, '!!')
  }

  /** Line of a position; what has none stands where the last one did. */
  private lineOf(position: number): number {
    if (position !== ABSENT) {
      let low = 0
      let high = this.lineStarts.length - 1
      while (low < high) {
        const middle = (low + high + 1) >> 1
        if (this.lineStarts[middle]! <= position) low = middle
        else high = middle - 1
      }
      this.lastLine = low + 1
    }
    return this.lastLine
  }
}

/** A node begins with its tag or anchor, whichever comes first. */
function startOf({ anchorStart, tagStart }: { anchorStart: number; tagStart: number }, start: number): number {
  const first = leastOf([anchorStart, tagStart, start].filter((position) => position !== ABSENT))
  return first === Infinity ? ABSENT : first
}

/** A share of all reading may come from aliases: nearly all in small documents, little in large ones. */
const SMALL = 400_000
const LARGE = 4_000_000

function allowedAliasShare(reads: number): number {
  if (reads <= SMALL) return 0.99
  return reads >= LARGE ? 0.1 : 0.99 - 0.89 * ((reads - SMALL) / (LARGE - SMALL))
}

type Key = string | number | bigint | boolean

/** From nodes to JSON. Aliases are read again each time, so that nothing in the tree is shared. */
class NodeReader {
  readonly duplicates: string[] = []
  private reads = 0
  private aliasReads = 0
  private readonly open = new Set<YamlNode>()
  private readonly pace = new Pace()

  private leaf(node: YamlNode): JsonTree {
    this.count()
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

  private count(): void {
    this.reads++
    if (this.open.size > 0) this.aliasReads++
    if (this.aliasReads > 100 && this.reads > 1000 && this.aliasReads / this.reads > allowedAliasShare(this.reads))
      throw new YamlError('yaml: document contains excessive aliasing')
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

  /** `<<`: the members of another mapping, or of several, of which the first counts most. */
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
    return scalar.value
  }
}

function binary(text: string): string {
  if (corruptAt(text) !== undefined) throw new YamlError('yaml: !!binary value contains invalid base64 data')
  return decodeUtf8(base64ToBytes(canonicalBase64(text)))
}

/** Go's text of a name in an error: `"a"`, `true`, `1`. */
const keyText = (key: Key) => (typeof key === 'string' ? goQuote(key) : String(key))

/** A name as JSON has it. */
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
