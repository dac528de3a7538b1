/** Makes nodes from the flat events of the YAML parser. */
import { leastOf } from '../../base/extremes.ts'
import { Pace } from '../../base/pace.ts'
import type { Steps } from '../../base/slices.ts'
import type { Event, MappingEvent, ScalarEvent, SequenceEvent } from 'js-yaml'
import { COLLECTION_STYLE, EVENT_ID, getScalarValue, SCALAR_STYLE } from 'js-yaml'
import { checkMembers } from '../../json/json.ts'
import { YamlError, yamlErrorAt } from './error.ts'

export interface YamlNode {
  readonly kind: 'scalar' | 'sequence' | 'mapping' | 'alias'
  /** Counted from 1. */
  readonly line: number
  /** `!!str`, `!mine`; empty without a tag. */
  readonly tag: string
  /** The text of a scalar, or the name of an alias. */
  readonly value: string
  readonly isPlain: boolean
  /** The elements of a sequence, or alternately the names and values of a mapping. */
  readonly children: YamlNode[]
  readonly target?: YamlNode
}

const ABSENT = -1
/** In double quotes. */
const ESCAPE = /\\(?:u(?<code>.{4})|U(?<code>.{8})|[^])/g

/** Makes a tree of nodes and resolves aliases. */
export class Composer {
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

  /** A scalar or an alias. */
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

  /** The value of a scalar. A block scalar at the end of the text has a last line break only if the text has one. */
  private value(event: ScalarEvent): string {
    if (event.style === SCALAR_STYLE.DOUBLE_QUOTED && !event.fast) this.checkEscapes(event)
    const value = getScalarValue(this.text, event)
    const isBlock = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK
    const isCut = isBlock && event.valueEnd >= this.text.length && !this.text.endsWith('\n')
    return isCut ? value.replace(/\n$/, '') : value
  }

  /** Refuses what kube-apiserver's library does not know, and the halves of a pair of surrogates. */
  private checkEscapes({ valueStart, valueEnd }: ScalarEvent): void {
    const escaped = this.text.slice(valueStart, valueEnd)
    for (const { 0: found, index, groups } of escaped.matchAll(ESCAPE)) {
      const code = parseInt(groups?.['code'] ?? '0', 16)
      const isNone = (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff
      if (!isNone && found !== '\\/') continue
      const line = this.lineOf(valueStart + index)
      const what = isNone ? 'found invalid Unicode character escape code' : 'found unknown escape character'
      throw yamlErrorAt(line > 1 ? line : 0, what)
    }
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

  /** Refuses a colon without a name, like kube-apiserver's library. YAML 1.2 allows it. */
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

  /** The line, counted from 0, of the first colon without a name after the last token. */
  private colonLine(): number | undefined {
    const start = this.lineStarts[this.lastLine - 1]!
    // the search is bounded, and the error omits the line of a colon further away
    // pattern: it searches 400 characters
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

  /** The line of a position. A node without a position gets the line of the node before it. */
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

/** A node begins with its tag or its anchor, if it has one. */
function startOf({ anchorStart, tagStart }: { anchorStart: number; tagStart: number }, start: number): number {
  const first = leastOf([anchorStart, tagStart, start].filter((position) => position !== ABSENT))
  return first === Infinity ? ABSENT : first
}
