/**
 * Writes YAML answers like Kubernetes (sigs.k8s.io/yaml over JSON): sorted names, block style, two spaces, lists at the
 * indentation of their name, long text folded at 80 columns, quotes only where a plain scalar has another meaning.
 */
import type { Json, JsonObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { forAsLong, goesInParts, kept } from '../../base/parts.ts'
import { goFloat } from '../../go/float.ts'
import { namesOf, noteOrders } from '../protobuf/map-orders.ts'
import type { KeyOrder, Orders } from '../protobuf/map-orders.ts'
import { compareKeys } from './key-order.ts'
import { escape, INDENT, isBreak, isPrintable, isSimpleKey, isWord, literalHints, simple, styleOf } from './styles.ts'

const WIDTH = 80

const keyOrder: KeyOrder = { sort: (names) => names.sort(compareKeys), compare: compareKeys }

/** Writes a whole document with its final newline and without undefined members. */
export function yamlText(value: Json): string {
  const orders: Orders = kept(value, () => new Map())
  if (goesInParts()) noteOrders(value, orders, keyOrder)
  const writer = kept(value, () => new YamlWriter(value, orders))
  forAsLong(() => writer.step())
  return writer.text
}

const MAX_UINT64 = 2 ** 64

function numberText(value: number | bigint): string {
  if (typeof value === 'bigint' || (Number.isInteger(value) && Math.abs(value) < MAX_UINT64))
    return String(BigInt(value))
  return goFloat(value)
}

type Context = 'root' | 'element' | 'value' | 'key'

/** A list or map whose end is not written yet. */
interface Open {
  readonly value: readonly Json[] | JsonObject
  /** undefined: a list */
  readonly names: readonly string[] | undefined
  readonly length: number
  next: number
  /** The indentation around the list or map. */
  readonly outside: number
}

/** Writes a part of a long text, or its end. @returns the weight of the part (base/parts.ts), or false at the end */
type Rest = () => number | false

/** Characters of a long text that one step writes. */
const CHARACTERS = 4096

/** The writer joins this many pieces of text. */
const PIECES = 1024

/** Writes one document. Its states are those of kube-apiserver's emitter, because they decide about line breaks. */
class YamlWriter {
  /** The joined pieces. The engine takes long to send a string of a million pieces. */
  private flat = ''
  private pieces: string[] = []
  private readonly open: (Open | Rest)[] = []
  private indent = -1
  private column = 0
  private isWhitespace = true
  private isIndention = true

  constructor(
    value: Json,
    private readonly orders: Orders,
  ) {
    this.node(value, 'root')
  }

  get text(): string {
    this.join()
    return this.flat
  }

  private join(): void {
    this.flat += this.pieces.join('')
    this.pieces = []
  }

  private add(text: string): void {
    if (this.pieces.push(text) === PIECES) this.join()
  }

  /**
   * Writes one element or member, a part of a long text, or the end of a list or map.
   * @returns the weight of the step (base/parts.ts), or false at the end of the document
   */
  step(): number | false {
    const open = this.open.at(-1)
    if (open === undefined) {
      this.newLine()
      return false
    }
    if (typeof open === 'function') {
      const done = open()
      if (done === false) this.open.splice(this.open.indexOf(open), 1)
      return done === false ? 1 : done
    }
    const { value, names, length } = open
    if (open.next === length) {
      this.indent = open.outside
      this.open.pop()
      return 1
    }
    const at = open.next++
    this.newLine()
    if (names !== undefined) this.member(names[at]!, ownValue(value as JsonObject, names[at]!)!)
    else {
      this.indicator('-', true, false, true)
      this.node((value as readonly Json[])[at]!, 'element')
    }
    return 1
  }

  /** Writes a scalar, or the beginning of a list or map. */
  private node(value: Json, context: Context): void {
    if (typeof value === 'object' && value !== null) {
      if (Array.isArray(value)) this.list(value, context)
      else this.map(value)
      return
    }
    if (typeof value === 'string') this.string(value, context)
    else this.plain(typeof value === 'number' || typeof value === 'bigint' ? numberText(value) : String(value), false)
  }

  private list(list: readonly Json[], context: Context): void {
    if (list.length === 0) return this.indicator('[]', true, false, false)
    // a list that is the value of a name has the indentation of the name
    this.begin(list, undefined, context === 'value' && !this.isIndention)
  }

  private map(map: JsonObject): void {
    const names = this.orders.get(map) ?? namesOf(map).sort(compareKeys)
    if (names.length === 0) return this.indicator('{}', true, false, false)
    this.begin(map, names, false)
  }

  private begin(value: Open['value'], names: Open['names'], sameLevel: boolean): void {
    const length = names?.length ?? (value as readonly Json[]).length // without names it is a list
    this.open.push({ value, names, length, next: 0, outside: this.indent })
    if (this.indent < 0) this.indent = 0
    else if (!sameLevel) this.indent += INDENT
  }

  private member(name: string, value: Json): void {
    if (isSimpleKey(name)) {
      this.string(name, 'key')
      this.indicator(':', false, false, false)
      return this.node(value, 'value')
    }
    this.open.push(() => {
      this.newLine()
      this.indicator(':', true, false, true)
      this.node(value, 'value')
      return false
    })
    this.indicator('?', true, false, true)
    this.string(name, 'value')
  }

  private string(text: string, context: Context): void {
    if (isWord(text)) {
      if (!this.isWhitespace) this.put(' ')
      this.put(text)
      return this.written()
    }
    const before = this.indent
    this.indent = this.indent < 0 ? INDENT : this.indent + INDENT
    const style = styleOf(text, context === 'key')
    const breaks = context !== 'key'
    const end = (): void => void (this.indent = before)
    if (style === 'plain') this.plain(text, breaks, end)
    else if (style === 'single') this.single(text, breaks, end)
    else if (style === 'double') this.double(text, breaks, end)
    else this.literal(text, end)
  }

  /** Writes a text by characters, a long one in steps. @param end runs after the last character */
  private characters(text: string, write: (character: string, at: number, isLast: boolean) => void, end: () => void) {
    let at = 0
    const some = (most: number): number | false => {
      const last = Math.min(at + most, text.length)
      while (at < last) {
        const character = String.fromCodePoint(text.codePointAt(at)!)
        write(character, at, at + character.length === text.length)
        at += character.length
      }
      if (at < text.length) return most / 64
      end()
      return false
    }
    if (text.length <= CHARACTERS) some(CHARACTERS)
    else this.open.push(() => some(CHARACTERS))
  }

  private put(text: string): void {
    this.add(text)
    this.column += text.length
    for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) this.column -= pairs(text, i)
  }

  private lineBreak(): void {
    this.add('\n')
    this.column = 0
  }

  /** Begins a new line at the indentation, unless the current line is there and empty. */
  private newLine(): void {
    const indent = Math.max(this.indent, 0)
    if (!this.isIndention || this.column > indent || (this.column === indent && !this.isWhitespace)) this.lineBreak()
    if (this.column < indent) this.put(' '.repeat(indent - this.column))
    this.isWhitespace = true
    this.isIndention = true
  }

  private indicator(text: string, needsSpace: boolean, isWhitespace: boolean, isIndention: boolean): void {
    if (needsSpace && !this.isWhitespace) this.put(' ')
    this.put(text)
    this.isWhitespace = isWhitespace
    this.isIndention = this.isIndention && isIndention
  }

  private written(): void {
    this.isWhitespace = false
    this.isIndention = false
  }

  private plain(text: string, breaks: boolean, end = nothing): void {
    if (!this.isWhitespace && text !== '') this.put(' ')
    this.folded(
      text,
      breaks,
      (_, isLast) => !isLast,
      (character) => character,
      () => {
        this.written()
        end()
      },
    )
  }

  private single(text: string, breaks: boolean, end: () => void): void {
    this.indicator("'", true, false, false)
    const inside = (at: number, isLast: boolean) => at > 0 && !isLast
    this.folded(
      text,
      breaks,
      inside,
      (character) => (character === "'" ? "''" : character),
      () => this.quoted("'", end),
    )
  }

  private quoted(quote: string, end: () => void): void {
    this.indicator(quote, false, false, false)
    this.written()
    end()
  }

  /** Writes a text, in which single spaces beyond the width become line breaks. */
  private folded(
    text: string,
    breaks: boolean,
    mayBreak: (at: number, isLast: boolean) => boolean,
    written: (character: string) => string,
    end: () => void,
  ): void {
    if (!/[ \r\n\x85\u2028\u2029']/.test(text)) {
      this.put(text)
      if (text !== '') this.isIndention = false
      return end()
    }
    let afterSpace = false
    let afterBreak = false
    const write = (character: string, at: number, isLast: boolean): void => {
      if (character === ' ') {
        const fits = !(breaks && !afterSpace && this.column > WIDTH && text[at + 1] !== ' ')
        if (fits || !mayBreak(at, isLast)) this.put(' ')
        else this.newLine()
        afterSpace = true
      } else if (isBreak(character)) {
        if (!afterBreak && character === '\n') this.lineBreak()
        this.breakAs(character)
        this.isIndention = true
        afterBreak = true
      } else {
        if (afterBreak) this.newLine()
        this.put(written(character))
        this.isIndention = false
        afterSpace = false
        afterBreak = false
      }
    }
    this.characters(text, write, end)
  }

  private breakAs(character: string): void {
    if (character === '\n') this.lineBreak()
    else {
      this.add(character)
      this.column = 0
    }
  }

  private double(text: string, breaks: boolean, end: () => void): void {
    this.indicator('"', true, false, false)
    if (simple.test(text)) {
      this.put(text)
      return this.quoted('"', end)
    }
    let afterSpace = false
    const write = (character: string, at: number, isLast: boolean): void => {
      if (character !== ' ') {
        this.put(
          isPrintable(character) && !isBreak(character) && !'"\\'.includes(character) ? character : escape(character),
        )
        afterSpace = false
        return
      }
      if (breaks && !afterSpace && this.column > WIDTH && at > 0 && !isLast) {
        this.newLine()
        if (text[at + 1] === ' ') this.put('\\')
      } else this.put(' ')
      afterSpace = true
    }
    this.characters(text, write, () => this.quoted('"', end))
  }

  private literal(text: string, end: () => void): void {
    this.indicator(`|${literalHints(text)}`, true, false, false)
    this.lineBreak()
    this.isIndention = true
    this.isWhitespace = true
    let afterBreak = true
    const write = (character: string): void => {
      if (isBreak(character)) {
        this.breakAs(character)
        this.isIndention = true
        afterBreak = true
      } else {
        if (afterBreak) this.newLine()
        this.put(character)
        this.isIndention = false
        afterBreak = false
      }
    }
    this.characters(text, write, end)
  }
}

const nothing = (): void => {}

/** 1 where the next unit is a low surrogate, which belongs to the same character. */
const pairs = (text: string, at: number): number => ((text.charCodeAt(at + 1) & 0xfc00) === 0xdc00 ? 1 : 0)
