/**
 * YAML answers as Kubernetes writes them (sigs.k8s.io/yaml over JSON): names sorted, block style, two spaces, lists at
 * the indentation of their name, long text folded at 80 columns, quotes only where a scalar would be misread.
 */
import { byteLength } from '../api/utf8.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { ownValue } from '../api/own.ts'
import { goFloat } from '../go/float.ts'
import { isDigit, isLetter } from '../api/unicode.ts'
import { resolveScalar } from './yaml-scalar.ts'

const INDENT = 2
const WIDTH = 80
const MAX_SIMPLE_KEY = 128

/** A whole document, with its final newline. Members that are undefined are left out. */
export function yamlText(value: Json): string {
  const writer = new YamlWriter()
  writer.node(value, 'root')
  writer.finish()
  return writer.text
}

const MAX_UINT64 = 2 ** 64

function numberText(value: number | bigint): string {
  if (typeof value === 'bigint' || (Number.isInteger(value) && Math.abs(value) < MAX_UINT64))
    return String(BigInt(value))
  return goFloat(value)
}

type Context = 'root' | 'element' | 'value' | 'key'

/** One run over one document; follows the state of kube-apiserver's emitter, which decides where lines break. */
class YamlWriter {
  text = ''
  private indent = -1
  private column = 0
  private isWhitespace = true
  private isIndention = true

  finish(): void {
    this.newLine()
  }

  node(value: Json, context: Context): void {
    if (typeof value === 'object' && value !== null) {
      if (Array.isArray(value)) this.list(value, context)
      else this.map(value, context)
      return
    }
    if (typeof value === 'string') this.string(value, context)
    else this.plain(typeof value === 'number' || typeof value === 'bigint' ? numberText(value) : String(value), false)
  }

  private list(list: readonly Json[], context: Context): void {
    if (list.length === 0) return this.indicator('[]', true, false, false)
    // a list that is the value of a name stands at the name's own indentation
    this.indented(context === 'value' && !this.isIndention, () => {
      for (const element of list) {
        this.newLine()
        this.indicator('-', true, false, true)
        this.node(element, 'element')
      }
    })
  }

  private map(map: JsonObject, _: Context): void {
    const names = Object.keys(map).filter((name) => map[name] !== undefined)
    if (names.length === 0) return this.indicator('{}', true, false, false)
    this.indented(false, () => {
      for (const name of names.sort(compareKeys)) {
        this.newLine()
        this.member(name, ownValue(map, name)!)
      }
    })
  }

  private member(name: string, value: Json): void {
    if (isSimpleKey(name)) {
      this.string(name, 'key')
      this.indicator(':', false, false, false)
    } else {
      this.indicator('?', true, false, true)
      this.string(name, 'value')
      this.newLine()
      this.indicator(':', true, false, true)
    }
    this.node(value, 'value')
  }

  private indented(sameLevel: boolean, write: () => void): void {
    const before = this.indent
    if (this.indent < 0) this.indent = 0
    else if (!sameLevel) this.indent += INDENT
    write()
    this.indent = before
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
    if (style === 'plain') this.plain(text, breaks)
    else if (style === 'single') this.single(text, breaks)
    else if (style === 'double') this.double(text, breaks)
    else this.literal(text)
    this.indent = before
  }

  private put(text: string): void {
    this.text += text
    this.column += text.length
    for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) this.column -= pairs(text, i)
  }

  private lineBreak(): void {
    this.text += '\n'
    this.column = 0
  }

  /** To the indentation of a new line, unless that is where the line is. */
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

  private plain(text: string, breaks: boolean): void {
    if (!this.isWhitespace && text !== '') this.put(' ')
    this.folded(
      text,
      breaks,
      (_, isLast) => !isLast,
      (character) => character,
    )
    this.written()
  }

  private single(text: string, breaks: boolean): void {
    this.indicator("'", true, false, false)
    const inside = (at: number, isLast: boolean) => at > 0 && !isLast
    this.folded(text, breaks, inside, (character) => (character === "'" ? "''" : character))
    this.indicator("'", false, false, false)
    this.written()
  }

  /** Text whose lone spaces beyond the width become line breaks. */
  private folded(
    text: string,
    breaks: boolean,
    mayBreak: (at: number, isLast: boolean) => boolean,
    written: (character: string) => string,
  ): void {
    if (!/[ \r\n\x85\u2028\u2029']/.test(text)) {
      this.put(text)
      if (text !== '') this.isIndention = false
      return
    }
    const characters = [...text]
    let afterSpace = false
    let afterBreak = false
    characters.forEach((character, i) => {
      if (character === ' ') {
        const fits = !(breaks && !afterSpace && this.column > WIDTH && characters[i + 1] !== ' ')
        if (fits || !mayBreak(i, i === characters.length - 1)) this.put(' ')
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
    })
  }

  private breakAs(character: string): void {
    if (character === '\n') this.lineBreak()
    else {
      this.text += character
      this.column = 0
    }
  }

  private double(text: string, breaks: boolean): void {
    this.indicator('"', true, false, false)
    if (simple.test(text)) {
      this.put(text)
      this.indicator('"', false, false, false)
      return this.written()
    }
    const characters = [...text]
    let afterSpace = false
    characters.forEach((character, i) => {
      if (character !== ' ') {
        this.put(
          isPrintable(character) && !isBreak(character) && !'"\\'.includes(character) ? character : escape(character),
        )
        afterSpace = false
        return
      }
      const inside = i > 0 && i < characters.length - 1
      if (breaks && !afterSpace && this.column > WIDTH && inside) {
        this.newLine()
        if (characters[i + 1] === ' ') this.put('\\')
      } else this.put(' ')
      afterSpace = true
    })
    this.indicator('"', false, false, false)
    this.written()
  }

  private literal(text: string): void {
    this.indicator(`|${literalHints(text)}`, true, false, false)
    this.lineBreak()
    this.isIndention = true
    this.isWhitespace = true
    let afterBreak = true
    for (const character of text) {
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
  }
}

/** Words that mean nothing but themselves, as most texts are: they begin with a letter or a slash. */
const word = /^[A-Za-z/](?:[\w./@:-]*[\w./-])?$/
const isWord = (text: string): boolean =>
  text.length <= MAX_SIMPLE_KEY && word.test(text) && resolveScalar(text).tag === '!!str'

/** ASCII without a space, a quote and a backslash. */
const simple = /^[\x21\x23-\x5b\x5d-\x7e]*$/

/** 1 where a high surrogate and a low one are one character. */
const pairs = (text: string, at: number): number => ((text.charCodeAt(at + 1) & 0xfc00) === 0xdc00 ? 1 : 0)

/** Indentation, where the text itself begins with a space, and what becomes of the line breaks at its end. */
function literalHints(text: string): string {
  const indent = /^[ \r\n\x85\u2028\u2029]/.test(text) ? String(INDENT) : ''
  if (!isBreak(text.at(-1)!)) return `${indent}-`
  return indent + (text.length === 1 || isBreak(text.at(-2)!) ? '+' : '')
}

const isBreak = (character: string) => /^[\r\n\x85\u2028\u2029]$/.test(character)

/** As kube-apiserver's library has it: no tabs, and nothing beyond the basic plane. */
const isPrintable = (character: string) => /^[\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]$/.test(character)

/** A character that is not, wherever it stands. */
const unprintable = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/

const named: Readonly<Record<string, string>> = {
  '\0': '0',
  '\x07': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '\x1b': 'e',
  '"': '"',
  '\\': '\\',
  '\x85': 'N',
  '\xa0': '_',
  '\u2028': 'L',
  '\u2029': 'P',
}

function escape(character: string): string {
  const known = ownValue(named, character)
  if (known !== undefined) return `\\${known}`
  const code = character.codePointAt(0)!
  const hex = code.toString(16).toUpperCase()
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}

const isSimpleKey = (name: string) => !/[\r\n\x85\u2028\u2029]/.test(name) && byteLength(name) <= MAX_SIMPLE_KEY

const sexagesimal = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

function styleOf(text: string, isKey: boolean): 'plain' | 'single' | 'double' | 'literal' {
  const canBe = stylesAllowed(text)
  if (text.includes('\n')) return canBe.literal && !isKey ? 'literal' : 'double'
  if (resolveScalar(text).tag !== '!!str' || sexagesimal.test(text)) return 'double'
  const isMultiline = /[\r\x85\u2028\u2029]/.test(text)
  if (isKey && isMultiline) return 'double'
  if (canBe.plain) return 'plain'
  return canBe.single ? 'single' : 'double'
}

/** Which styles would give the text back. */
function stylesAllowed(text: string): { plain: boolean; single: boolean; literal: boolean } {
  const isSpecial = unprintable.test(text) || / [\r\n\x85\u2028\u2029]/.test(text)
  const breakThenSpace = /[\r\n\x85\u2028\u2029] /.test(text)
  const atEdge = /^[ \r\n\x85\u2028\u2029]|[ \r\n\x85\u2028\u2029]$/.test(text)
  const looksLikeSyntax =
    /^(?:---|\.\.\.)/.test(text) ||
    /^[#,[\]{}&*!|>'"%@`]/.test(text) ||
    /^[?:-](?:[ \t\n]|$)/.test(text) ||
    /:(?:[ \t\r\n\x85\u2028\u2029]|$)/.test(text) ||
    /[ \t\r\n\x85\u2028\u2029]#/.test(text)
  const isMultiline = /[\r\n\x85\u2028\u2029]/.test(text)
  return {
    plain: !isSpecial && !breakThenSpace && !atEdge && !looksLikeSyntax && !isMultiline,
    single: !isSpecial && !breakThenSpace,
    literal: !isSpecial && !text.endsWith(' '),
  }
}

const codeOf = (character: string) => character.codePointAt(0)!

/** Names in the order of kube-apiserver's library: numbers inside of them by value, letters after everything else. */
function compareKeys(a: string, b: string): number {
  const quick = compareLetters(a, b)
  if (quick !== undefined) return quick
  const [x, y] = [[...a], [...b]]
  for (let i = 0; i < x.length && i < y.length; i++) {
    if (x[i] === y[i]) continue
    const [xIsLetter, yIsLetter] = [isLetter(x[i]!), isLetter(y[i]!)]
    if (xIsLetter && yIsLetter) return codeOf(x[i]!) - codeOf(y[i]!)
    if (xIsLetter || yIsLetter) return yIsLetter ? -1 : 1
    return compareNumbers(x, y, i)
  }
  return x.length - y.length
}

/** Where the first difference is between ASCII letters, or one name begins with the other. */
function compareLetters(a: string, b: string): number | undefined {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === length) return a.length - b.length
  return isAsciiLetter(a.charCodeAt(at)) && isAsciiLetter(b.charCodeAt(at))
    ? a.charCodeAt(at) - b.charCodeAt(at)
    : undefined
}

const isAsciiLetter = (code: number): boolean => (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)

/** From the first difference on, both may go on with digits. */
function compareNumbers(x: readonly string[], y: readonly string[], at: number): number {
  let start = 0
  if (x[at] === '0' || y[at] === '0')
    for (let j = at - 1; j >= 0 && isDigit(x[j]!); j--)
      if (x[j] !== '0') {
        start = 1
        break
      }
  const [xNumber, xEnd] = numberAt(x, at, start)
  const [yNumber, yEnd] = numberAt(y, at, start)
  if (xNumber !== yNumber) return xNumber - yNumber
  return xEnd !== yEnd ? xEnd - yEnd : codeOf(x[at]!) - codeOf(y[at]!)
}

function numberAt(characters: readonly string[], at: number, start: number): [value: number, end: number] {
  let value = start
  let end = at
  for (; isDigit(characters[end] ?? ''); end++) value = value * 10 + codeOf(characters[end]!) - 48
  return [value, end]
}
