/**
 * Parses JSONPath like client-go (util/jsonpath), for the columns of custom resources: `.spec.x`, `['a']`, `[0]`,
 * `[1:3]`, `[*]`, `..x`, `[?(@.a=="b")]`, unions.
 */
import { trimmedOf } from '../../base/trim.ts'
import { append } from '../../base/append.ts'
import { ownValue } from '../../base/own.ts'
import { isDigit, isLetter } from '../../base/unicode.ts'
import type { Json } from '../../api/object.ts'

export class JsonPathError extends Error {
  override readonly name = 'JsonPathError'
}

export type Node =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'field'; readonly name: string }
  | {
      readonly kind: 'slice'
      readonly from?: number
      readonly to?: number
      readonly derived: boolean
      readonly step?: number
    }
  | { readonly kind: 'filter'; readonly left: Path; readonly operator: string; readonly right: Path }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' }
  | { readonly kind: 'union'; readonly paths: readonly Path[] }
  | { readonly kind: 'identifier'; readonly name: string }

export type Path = readonly Node[]

/** A template: a sequence of texts and expressions in braces. */
export interface JsonPath {
  readonly parts: readonly Path[]
}

/** Go's %#U. */
const codeText = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')} '${character}'`

/** @throws {JsonPathError} */
export function parseJsonPath(template: string): JsonPath {
  return { parts: new Parser(template).template() }
}

const isLetterOrDigit = (character: string): boolean => character === '_' || isLetter(character) || isDigit(character)
/** The end of the text, '', is a terminator, too. */
const isTerminator = (character: string): boolean => character === '' || ' \t\r\n.,[]$@{}'.includes(character)

class Parser {
  private at = 0
  private readonly text: readonly string[]

  constructor(text: string) {
    this.text = [...text]
  }

  template(): Path[] {
    const parts: Path[] = []
    let plain = ''
    while (this.peek() !== '') {
      if (this.peek() !== '{') plain += this.next()
      else {
        if (plain !== '') parts.push([{ kind: 'literal', value: plain }])
        plain = ''
        this.at++
        parts.push(this.action())
      }
    }
    if (plain !== '') parts.push([{ kind: 'literal', value: plain }])
    return parts
  }

  private peek(ahead = 0): string {
    return this.text[this.at + ahead] ?? ''
  }

  private next(): string {
    return this.text[this.at++] ?? ''
  }

  private sees(text: string): boolean {
    return [...text].every((character, index) => this.peek(index) === character)
  }

  private action(): Path {
    const path: Node[] = []
    for (;;) {
      if (this.sees('}')) {
        this.at++
        return path
      }
      if (this.sees('[?(')) path.push(this.filter())
      else if (this.sees('..')) {
        if (path.at(-1)?.kind === 'recursive') throw new JsonPathError('invalid multiple recursive descent')
        this.at += 2
        path.push({ kind: 'recursive' })
        if (isLetterOrDigit(this.peek())) path.push(this.field())
      } else this.step(path)
    }
  }

  private step(path: Node[]): void {
    const character = this.next()
    if (character === '' || character === '\n' || character === '\r') throw new JsonPathError('unclosed action')
    if (character === ' ' || character === '@' || character === '$') return
    if (character === '[') append(path, this.array())
    else if (character === '"' || character === "'") path.push({ kind: 'literal', value: this.quoted(character) })
    else if (character === '.') path.push(this.field())
    else if (character === '+' || character === '-' || isDigit(character)) {
      this.at--
      path.push({ kind: 'literal', value: this.number() })
    } else if (isLetterOrDigit(character)) {
      this.at--
      path.push(this.identifier())
    } else throw new JsonPathError(`unrecognized character in action: ${codeText(character)}`)
  }

  private identifier(): Node {
    let name = ''
    while (!isTerminator(this.peek())) name += this.next()
    return name === 'true' || name === 'false'
      ? { kind: 'literal', value: name === 'true' }
      : { kind: 'identifier', name }
  }

  private field(): Node {
    let name = ''
    while (!isTerminator(this.peek())) {
      const character = this.next()
      name += character === '\\' ? this.next() : character
    }
    return name === '*' ? { kind: 'wildcard' } : { kind: 'field', name: name.replaceAll('\\', '') }
  }

  private number(): number {
    let text = ''
    if (this.peek() === '+' || this.peek() === '-') text += this.next()
    while (this.peek() === '.' || isDigit(this.peek())) text += this.next()
    if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text)) throw new JsonPathError(`cannot parse number ${text}`)
    return Number(text)
  }

  private array(): Node[] {
    let text = ''
    for (;;) {
      const character = this.next()
      if (character === '' || character === '\n') throw new JsonPathError('unterminated array')
      if (character === ']') break
      text += character
    }
    if (text === '*') text = ':'
    const members = text.split(',')
    if (members.length > 1)
      return [{ kind: 'union', paths: members.map((member) => expression(`[${trimmedOf(member, ' ')}]`)) }]
    const key = /^'([^']*)'$/.exec(text)
    return key === null ? [slice(text)] : [...expression(`.${key[1]!}`)]
  }

  private filter(): Node {
    this.at += '[?('.length
    let text = ''
    let quote: string | undefined
    let closed = false
    for (;;) {
      const character = this.next()
      if (character === '' || character === '\n') throw new JsonPathError('unterminated filter')
      if (character === '"' || character === "'") {
        if (quote === undefined) quote = character
        else if (character === quote && !text.endsWith('\\')) closed = true
      }
      if (character === ')' && (quote === undefined || closed)) break
      text += character
    }
    if (this.next() !== ']') throw new JsonPathError('unclosed array expect ]')
    // pattern: any text behind an operator matches, so that the search never backtracks
    const parts = /^([^!<>=]+)([!<>=]+)(.+?)$/s.exec(text)
    if (parts === null) return { kind: 'filter', left: expression(text), operator: 'exists', right: [] }
    const [, left = '', operator = '', right = ''] = parts
    return { kind: 'filter', left: expression(left), operator, right: expression(right) }
  }

  private quoted(quote: string): string {
    let text = ''
    for (;;) {
      const character = this.next()
      if (character === '' || character === '\n') throw new JsonPathError('unterminated quoted string')
      if (character === quote && !text.endsWith('\\')) return unescape(text)
      text += character
    }
  }
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
}

function unescape(text: string): string {
  return text.replace(/\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([\s\S])|$)/g, (_, byte, unit, other) => {
    const code: string | undefined = byte ?? unit
    if (code !== undefined) return String.fromCharCode(parseInt(code, 16))
    const known = ownValue(escapes, String(other))
    if (known === undefined) throw new JsonPathError('invalid syntax')
    return known
  })
}

/** Parses the first expression of a text, and ignores others. */
const expression = (text: string): Path => new Parser(`{${text}}`).template()[0] ?? []

function slice(text: string): Node {
  const parts = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text)
  if (parts === null) throw new JsonPathError(`invalid array index ${text}`)
  const [, first = '', second, third] = parts
  const from = index(first)
  const step = third === undefined ? undefined : index(third.slice(1))
  const rest = { ...(from === undefined ? {} : { from }), ...(step === undefined ? {} : { step }) }
  if (second === undefined) return { kind: 'slice', ...rest, to: (from ?? 0) + 1, derived: true }
  const to = index(second.slice(1))
  return { kind: 'slice', ...rest, ...(to === undefined ? {} : { to }), derived: false }
}

function index(text: string): number | undefined {
  if (text === '') return undefined
  if (text === '-') throw new JsonPathError('array index - is not a number')
  return Number(text)
}
