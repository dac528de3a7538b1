/**
 * What the library behind kube-apiserver reads, and the parser used here refuses:
 *
 * - The later lines of a quoted scalar, of a list in brackets and of a map in braces begin at any column. The parser wants
 *   them deeper than the collection around them, as YAML 1.2 does.
 * - In double quotes `\\'` is an apostrophe.
 *
 * Blanks at the beginning of such a line mean nothing, so the lines get as many as the parser wants. The backslashes go.
 */
import { Pace } from '../../base/pace.ts'
import type { Steps } from '../../base/slices.ts'
import type { Event, ScalarEvent, YAMLException } from 'js-yaml'
import { COLLECTION_STYLE, EVENT_ID, SCALAR_STYLE } from 'js-yaml'

export interface ChangedText {
  readonly text: string
  /** Where `text` differs, in order. */
  readonly places: readonly number[]
}

export const isTolerated = (text: string, { reason, mark }: YAMLException): boolean =>
  reason.startsWith('deficient indentation') ||
  (reason === 'unknown escape sequence' && mark !== undefined && text[mark.position] === "'")

/**
 * @param text a document that the parser refuses for one of these reasons
 * @param most how many blanks the text may get
 * @returns undefined where they would be more, or there is nothing to change
 */
export function* tolerated(text: string, most: number): Steps<ChangedText | undefined> {
  const pace = new Pace()
  const scan = new Scan(text)
  yield* scan.document()
  if (scan.changes.length === 0 || scan.missing > most) return undefined
  let changed = ''
  let from = 0
  const places: number[] = []
  for (const { at, blanks } of scan.changes) {
    if (pace.isOver()) yield
    changed += text.slice(from, at)
    places.push(changed.length)
    changed += ' '.repeat(blanks ?? 0)
    from = blanks === undefined ? at + 1 : at
  }
  return { text: changed + text.slice(from), places }
}

/**
 * Whether the parser found each of these places in a quoted scalar, a list in brackets or a map in braces. Anywhere else
 * the change may have altered the document.
 */
export function* areInFlow(events: readonly Event[], { text, places }: ChangedText): Steps<boolean> {
  const pace = new Pace()
  /** The end of a node in brackets or braces, or a comment. */
  const ends = /[ \t]*[\]},#]/y
  let next = 0
  /** For each open collection, whether it is in brackets or braces. */
  const open: boolean[] = []
  let depth = 0
  /** The last event that has a place: whether it is in brackets or braces, and the end of its scalar there or in quotes. */
  let isLastInFlow = false
  let scalarEnd = 0
  const areFine = (before: number): boolean => {
    for (let at = places[next]; at !== undefined && at < before; at = places[++next]) {
      ends.lastIndex = at
      if (at >= scalarEnd && depth === 0 && !(isLastInFlow && ends.test(text))) return false
    }
    return true
  }
  for (const event of events) {
    if (pace.isOver()) yield
    if (event.type === EVENT_ID.POP) {
      if (open.pop() === true) depth--
      continue
    }
    if (event.type === EVENT_ID.DOCUMENT) {
      open.push(false)
      continue
    }
    const at = placeOf(event)
    if (at >= 0 && !areFine(at)) return false
    if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) {
      open.push(event.style === COLLECTION_STYLE.FLOW)
      if (event.style === COLLECTION_STYLE.FLOW) depth++
    }
    if (at < 0) continue
    isLastInFlow = depth > 0
    scalarEnd = event.type === EVENT_ID.SCALAR && (isLastInFlow || isQuoted(event)) ? event.valueEnd : 0
  }
  return areFine(text.length)
}

type Node = Exclude<Event, { type: typeof EVENT_ID.POP | typeof EVENT_ID.DOCUMENT }>

/** Negative for a node without a text. */
const placeOf = (event: Node): number =>
  event.type === EVENT_ID.SCALAR ? event.valueStart : event.type === EVENT_ID.ALIAS ? event.anchorStart : event.start

const isQuoted = ({ style }: ScalarEvent): boolean =>
  style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED

/** The end of a plain scalar on its line: `: `, a comment, or the end of the line. */
const plainEnd = /:(?=[ \t\r\n]|$)|[ \t]#|\n|$/g
/** The tag or the anchor before a node. */
const property = /[!&][^ \t\r\n]*[ \t]*/y
const indicator = /[-?:](?=[ \t\r\n]|$)/y
const colon = /:(?=[ \t\r\n]|$)/y
const blanks = /[ \t]*/y
const marker = /(?:---|\.\.\.)(?=[ \t\r\n]|$)/y
/** Characters that matter within brackets and braces. */
const flowMark = /[[\]{},:'"#\n]/g

/** Walks over a document as kube-apiserver's library does. What it finds is checked by `areInFlow`. */
class Scan {
  /** The lines that are not deep enough, and how many blanks each lacks; the backslashes that go have none. In order. */
  readonly changes: { readonly at: number; readonly blanks?: number }[] = []
  /** All these blanks together. */
  missing = 0
  private at = 0
  private lineStart = 0
  private readonly pace = new Pace()

  constructor(private readonly text: string) {}

  *document(): Steps<void> {
    while (this.at < this.text.length) {
      this.lineStart = this.at
      if (this.text[this.at] === '%') this.toNextLine()
      else {
        this.skip(marker)
        yield* this.nodes()
      }
    }
  }

  /** Reads the nodes of a line, and the lines on which the last one goes on. */
  private *nodes(): Steps<void> {
    /** The column of the innermost collection that begins on this line. */
    let own = -1
    for (;;) {
      if (this.pace.isOver()) yield
      this.skip(blanks)
      if (this.isLineOver()) return this.toNextLine()
      const column = this.column
      if (this.skip(indicator)) {
        own = column
        continue
      }
      while (this.skip(property)) if (this.pace.isOver()) yield
      if (this.isLineOver()) return this.toNextLine()
      const character = this.text[this.at]!
      if (character === '|' || character === '>') return yield* this.blockScalar(own < 0 ? column - 1 : own)
      const start = Math.max(own, column)
      if (character === '"' || character === "'") yield* this.quoted(start + 1)
      else if (character === '[' || character === '{') yield* this.flow(start + 1)
      else this.plain()
      this.skip(blanks)
      if (!this.skip(colon)) {
        const isPlain = !`"'[{`.includes(character)
        this.toNextLine()
        if (isPlain) yield* this.deeperThan(own < 0 ? column - 1 : own)
        return
      }
      own = column
    }
  }

  private plain(): void {
    plainEnd.lastIndex = this.at
    this.at = plainEnd.exec(this.text)!.index
  }

  private *blockScalar(parent: number): Steps<void> {
    this.toNextLine()
    yield* this.deeperThan(parent)
  }

  /** Skips blank lines, and lines that are deeper. */
  private *deeperThan(column: number): Steps<void> {
    while (this.at < this.text.length) {
      if (this.pace.isOver()) yield
      const end = this.text.indexOf('\n', this.at)
      const line = this.text.slice(this.at, end < 0 ? undefined : end)
      const depth = line.search(/[^ ]/)
      if (line.trim() !== '' && depth <= column) return
      this.toNextLine()
    }
  }

  private *quoted(depth: number): Steps<void> {
    const quote = this.text[this.at++]
    const mark = quote === "'" ? /'|\n/g : /["\\\n]/g
    for (;;) {
      if (this.pace.isOver()) yield
      mark.lastIndex = this.at
      const found = mark.exec(this.text)
      if (found === null) {
        this.at = this.text.length
        return
      }
      this.at = found.index + 1
      if (found[0] === '\n') this.flowLine(depth)
      else if (found[0] === '\\') {
        // the line break after a backslash is read as such
        if (this.text[this.at] === '\n' || this.text[this.at] === '\r') continue
        if (this.text[this.at] === "'") this.changes.push({ at: found.index })
        this.at++
      } else if (quote === "'" && this.text[this.at] === "'") this.at++
      else return
    }
  }

  private *flow(depth: number): Steps<void> {
    let open = 0
    /** Whether a node may begin here: a quote within a plain scalar is one of its characters. */
    let isStart = true
    let last = this.at
    for (;;) {
      if (this.pace.isOver()) yield
      flowMark.lastIndex = this.at
      const found = flowMark.exec(this.text)
      if (found === null) {
        this.at = this.text.length
        return
      }
      const { index } = found
      const between = this.text.slice(last, index)
      if (!between.split(/[ \t\r\n]/).every((word) => word === '' || /^[!&]/.test(word))) isStart = false
      this.at = index + 1
      switch (found[0]) {
        case '[':
        case '{':
          open++
          isStart = true
          break
        case ']':
        case '}':
          if (--open === 0) return
          isStart = false
          break
        case ',':
          isStart = true
          break
        case ':':
          isStart = between.trim() === '' || /[ \t\r\n,[\]{}]/.test(this.text[this.at] ?? ' ')
          break
        case '#':
          if (index === 0 || /[ \t\r\n]/.test(this.text[index - 1]!)) this.at = this.endOfLine()
          break
        case '\n':
          this.flowLine(depth)
          break
        default:
          if (!isStart) break
          this.at = index
          yield* this.quoted(depth)
          isStart = false
      }
      last = this.at
    }
  }

  /** Notes the line that begins here where it is not deep enough. */
  private flowLine(depth: number): void {
    this.lineStart = this.at
    let end = this.at
    while (this.text[end] === ' ') end++
    const column = end - this.at
    if (column >= depth || end >= this.text.length || /[\r\n]/.test(this.text[end]!)) return
    this.changes.push({ at: this.at, blanks: depth - column })
    this.missing += depth - column
  }

  /** @returns whether there is something to skip */
  private skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.at
    const [found = ''] = pattern.exec(this.text) ?? []
    this.at += found.length
    return found !== ''
  }

  private get column(): number {
    return this.at - this.lineStart
  }

  private isLineOver(): boolean {
    const character = this.text[this.at]
    return character === undefined || character === '\n' || character === '\r' || character === '#'
  }

  private endOfLine(): number {
    const end = this.text.indexOf('\n', this.at)
    return end < 0 ? this.text.length : end
  }

  private toNextLine(): void {
    this.at = this.endOfLine() + 1
  }
}
