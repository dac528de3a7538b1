/**
 * Splits a text into tokens by the lexical rules of CEL's grammar. The longest match wins. If no rule matches, the
 * lexer reports the characters up to the one at which the last rule failed, and continues behind them.
 */
import type { Steps } from '../../base/slices.ts'

/** The tokens in the order in which error messages list them. */
export const tokenNames = [
  '<EOF>',
  "'=='",
  "'!='",
  "'in'",
  "'<'",
  "'<='",
  "'>='",
  "'>'",
  "'&&'",
  "'||'",
  "'['",
  "']'",
  "'{'",
  "'}'",
  "'('",
  "')'",
  "'.'",
  "','",
  "'-'",
  "'!'",
  "'?'",
  "':'",
  "'+'",
  "'*'",
  "'/'",
  "'%'",
  "'true'",
  "'false'",
  "'null'",
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
  'ESC_IDENTIFIER',
] as const
export type TokenType = (typeof tokenNames)[number]

export interface Token {
  readonly type: TokenType
  readonly text: string
  /** The position in code points. */
  readonly offset: number
}

/** Characters that belong to no token. */
export interface Fault {
  readonly offset: number
  readonly message: string
}

/** All tokens of a text. The last one is `<EOF>`. */
export interface Tokens {
  readonly tokens: readonly Token[]
  /** Index of a token → the faults in front of it. */
  readonly faults: ReadonlyMap<number, readonly Fault[]>
  /** The text from `begin` to before `end`, in code points, without characters that belong to no token. */
  readable(begin: number, end: number): string
}

/** Characters that the lexer reads before it yields to other requests. */
const PART = 8 * 1024

export function* tokensInSteps(text: string): Steps<Tokens> {
  const lexer = new Lexer(text)
  const tokens: Token[] = []
  let next = PART
  for (;;) {
    const token = lexer.next(tokens.length)
    tokens.push(token)
    if (token.type === '<EOF>') break
    if (token.offset < next) continue
    next = token.offset + PART
    yield
  }
  return { tokens, faults: lexer.faults, readable: (begin, end) => lexer.readable(begin, end) }
}

const keywords: ReadonlyMap<string, TokenType> = new Map([
  ['in', "'in'"],
  ['true', "'true'"],
  ['false', "'false'"],
  ['null', "'null'"],
])

const longOperators: ReadonlySet<string> = new Set(['==', '!=', '<=', '>=', '&&', '||'])
const operators: ReadonlySet<string> = new Set('<>[]{}().,-!?:+*/%')
/** Characters that begin an operator of two characters and are no operator alone. */
const beginnings: ReadonlySet<string> = new Set('=&|')

const isBetween = (char: string | undefined, first: string, last: string): boolean =>
  char !== undefined && char >= first && char <= last
const isDigit = (char: string | undefined): boolean => isBetween(char, '0', '9')
const isHex = (char: string | undefined): boolean =>
  isDigit(char) || isBetween(char, 'a', 'f') || isBetween(char, 'A', 'F')
const isOctal = (char: string | undefined): boolean => isBetween(char, '0', '7')
const isLetter = (char: string | undefined): boolean =>
  isBetween(char, 'a', 'z') || isBetween(char, 'A', 'Z') || char === '_'
const isSpace = (char: string | undefined): boolean =>
  char === ' ' || char === '\n' || char === '\t' || char === '\r' || char === '\f'

/** The end of a match, or the position of the character at which the rule failed. */
type Match = { readonly end: number } | { readonly failedAt: number }

/** Finds surrogates: the text has characters of two UTF-16 units. */
const WIDE = /[\ud800-\udfff]/

class Lexer {
  readonly faults = new Map<number, Fault[]>()
  private position = 0
  /** Offsets of characters that belong to no token. */
  private readonly unreadable = new Set<number>()
  private readonly chars: { readonly [index: number]: string; readonly length: number }

  constructor(text: string) {
    this.chars = WIDE.test(text) ? [...text] : text
  }

  readable(begin: number, end: number): string {
    let text = ''
    for (let at = begin; at < Math.min(end, this.chars.length); at++)
      if (!this.unreadable.has(at)) text += this.chars[at]!
    return text
  }

  private slice(begin: number, end: number): string {
    const { chars } = this
    return typeof chars === 'string' ? chars.slice(begin, end) : (chars as readonly string[]).slice(begin, end).join('')
  }

  /** @param index the index that the token will have */
  next(index: number): Token {
    for (;;) {
      this.skipHidden()
      const begin = this.position
      if (begin >= this.chars.length) return { type: '<EOF>', text: '<EOF>', offset: begin }
      const taken = this.take(begin)
      if ('type' in taken) {
        this.position = taken.end
        return { type: taken.type, text: this.slice(begin, taken.end), offset: begin }
      }
      const message = `token recognition error at: '${this.slice(begin, taken.failedAt + 1)}'`
      const before = this.faults.get(index) ?? []
      this.faults.set(index, before)
      before.push({ offset: begin, message })
      const behind = Math.min(taken.failedAt + 1, this.chars.length)
      for (let at = begin; at < behind; at++) this.unreadable.add(at)
      this.position = behind
    }
  }

  private skipHidden(): void {
    const { chars } = this
    for (;;) {
      if (isSpace(chars[this.position])) this.position++
      else if (chars[this.position] === '/' && chars[this.position + 1] === '/')
        while (this.position < chars.length && chars[this.position] !== '\n') this.position++
      else return
    }
  }

  private take(begin: number): { type: TokenType; end: number } | { failedAt: number } {
    const char = this.chars[begin]
    if (isDigit(char) || (char === '.' && isDigit(this.chars[begin + 1]))) return this.number(begin)
    if (isLetter(char)) return this.prefixedString(begin) ?? this.word(begin)
    if (char === '"' || char === "'") return typed('STRING', this.quoted(begin, false))
    if (char === '`') return typed('ESC_IDENTIFIER', this.escapedIdentifier(begin))
    const two = this.slice(begin, begin + 2)
    // the name of an operator's token is the operator in quotes
    if (longOperators.has(two)) return { type: `'${two}'` as TokenType, end: begin + 2 }
    if (operators.has(char!)) return { type: `'${char}'` as TokenType, end: begin + 1 }
    return { failedAt: beginnings.has(char!) ? begin + 1 : begin }
  }

  private number(begin: number): { type: TokenType; end: number } {
    const { chars } = this
    if (chars[begin] === '0' && chars[begin + 1] === 'x' && isHex(chars[begin + 2])) {
      let end = begin + 2
      while (isHex(chars[end])) end++
      return withUnsignedMark(chars, end)
    }
    const whole = this.digits(begin)
    let end = whole
    let type: TokenType = 'NUM_INT'
    if (chars[end] === '.' && isDigit(chars[end + 1])) {
      type = 'NUM_FLOAT'
      end = this.digits(end + 1)
    }
    const exponent = this.exponent(end)
    if (exponent !== undefined) return { type: 'NUM_FLOAT', end: exponent }
    return type === 'NUM_INT' ? withUnsignedMark(chars, end) : { type, end }
  }

  private digits(from: number): number {
    let end = from
    while (isDigit(this.chars[end])) end++
    return end
  }

  private exponent(from: number): number | undefined {
    const { chars } = this
    if (chars[from] !== 'e' && chars[from] !== 'E') return undefined
    const digits = chars[from + 1] === '+' || chars[from + 1] === '-' ? from + 2 : from + 1
    return isDigit(chars[digits]) ? this.digits(digits) : undefined
  }

  private word(begin: number): { type: TokenType; end: number } {
    let end = begin
    while (isLetter(this.chars[end]) || isDigit(this.chars[end])) end++
    return { type: keywords.get(this.slice(begin, end)) ?? 'IDENTIFIER', end }
  }

  /** `r'…'`, `b'…'`, `br'…'`. If the string is not terminated, its prefix is read as an identifier. */
  private prefixedString(begin: number): { type: TokenType; end: number } | undefined {
    if (!'bBrR'.includes(this.chars[begin]!)) return undefined
    const prefix = /^(?:[bB][rR]?|[rR])(?=["'])/.exec(this.slice(begin, begin + 3))?.[0]
    if (prefix === undefined) return undefined
    const match = this.quoted(begin + prefix.length, /[rR]/.test(prefix))
    if (!('end' in match)) return undefined
    return { type: /^[bB]/.test(prefix) ? 'BYTES' : 'STRING', end: match.end }
  }

  /** @param begin position of the opening quote */
  private quoted(begin: number, raw: boolean): Match {
    const quote = this.chars[begin]!
    if (this.chars[begin + 1] === quote && this.chars[begin + 2] === quote) {
      const triple = this.upTo(begin + 3, quote.repeat(3), raw)
      // without three closing quotes the first two are an empty string
      return 'end' in triple ? triple : { end: begin + 2 }
    }
    return this.upTo(begin + 1, quote, raw)
  }

  private upTo(from: number, closing: string, raw: boolean): Match {
    const { chars } = this
    const oneLine = closing.length === 1
    for (let at = from; at < chars.length; at++) {
      const char = chars[at]
      if (char === closing[0] && this.slice(at, at + closing.length) === closing) return { end: at + closing.length }
      if (oneLine && (char === '\n' || char === '\r')) return { failedAt: at }
      if (char !== '\\' || raw) continue
      const escape = this.escape(at + 1)
      if ('failedAt' in escape) return escape
      at = escape.end - 1
    }
    return { failedAt: chars.length }
  }

  /** @param at position behind the backslash */
  private escape(at: number): Match {
    const { chars } = this
    const char = chars[at]
    if (char === undefined) return { failedAt: at }
    if ('abfnrtv"\'\\?`'.includes(char)) return { end: at + 1 }
    const [count, fits] =
      char === 'x' || char === 'X'
        ? ([2, isHex] as const)
        : char === 'u'
          ? ([4, isHex] as const)
          : char === 'U'
            ? ([8, isHex] as const)
            : char >= '0' && char <= '3'
              ? ([2, isOctal] as const)
              : ([0, undefined] as const)
    if (fits === undefined) return { failedAt: at }
    for (let i = 1; i <= count; i++) if (!fits(chars[at + i])) return { failedAt: at + i }
    return { end: at + 1 + count }
  }

  private escapedIdentifier(begin: number): Match {
    let end = begin + 1
    while (isLetter(this.chars[end]) || isDigit(this.chars[end]) || './- '.includes(this.chars[end] ?? '\n')) end++
    if (end === begin + 1 || this.chars[end] !== '`') return { failedAt: end }
    return { end: end + 1 }
  }
}

function withUnsignedMark(chars: { readonly [index: number]: string }, end: number): { type: TokenType; end: number } {
  return chars[end] === 'u' || chars[end] === 'U' ? { type: 'NUM_UINT', end: end + 1 } : { type: 'NUM_INT', end }
}

const typed = (type: TokenType, match: Match): { type: TokenType; end: number } | { failedAt: number } =>
  'end' in match ? { type, end: match.end } : match
