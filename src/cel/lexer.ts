/**
 * Text to tokens, by the lexical rules of CEL's grammar: the longest match counts. What no rule takes is reported with
 * the characters that were read up to where the last rule gave up, and the lexer goes on behind them.
 */

/** In the order in which error texts list them. */
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
  /** In code points. */
  readonly offset: number
}

export type Report = (offset: number, message: string) => void

const keywords: ReadonlyMap<string, TokenType> = new Map([
  ['in', "'in'"],
  ['true', "'true'"],
  ['false', "'false'"],
  ['null', "'null'"],
])

/** Two characters before one: the longer operator counts. */
const operators = ['==', '!=', '<=', '>=', '&&', '||', ...'<>[]{}().,-!?:+*/%'] as const

const isDigit = (char: string | undefined): boolean => char !== undefined && char >= '0' && char <= '9'
const isHex = (char: string | undefined): boolean => char !== undefined && /^[0-9a-fA-F]$/.test(char)
const isOctal = (char: string | undefined): boolean => char !== undefined && char >= '0' && char <= '7'
const isLetter = (char: string | undefined): boolean => char !== undefined && /^[A-Za-z_]$/.test(char)
const isSpace = (char: string | undefined): boolean => char !== undefined && '\t \r\n\f'.includes(char)

/** Where a rule ended, or the place of the character that it could not take. */
type Match = { readonly end: number } | { readonly failedAt: number }

export class Lexer {
  private position = 0
  /** Offsets of characters that no rule takes. */
  private readonly unreadable = new Set<number>()
  private readonly chars: readonly string[]

  constructor(
    private readonly text: string,
    private readonly report: Report,
  ) {
    this.chars = [...text]
  }

  /** The same as `slice`, without what is of no token. */
  readable(begin: number, end: number): string {
    return this.chars
      .slice(begin, end)
      .filter((_, index) => !this.unreadable.has(begin + index))
      .join('')
  }

  /** The text of code points from `begin` up to and without `end`. */
  slice(begin: number, end: number): string {
    // where each code point is one unit, which is nearly always
    if (this.chars.length === this.text.length) return this.text.slice(begin, end)
    return this.chars.slice(begin, end).join('')
  }

  next(): Token {
    for (;;) {
      this.skipHidden()
      const begin = this.position
      if (begin >= this.chars.length) return { type: '<EOF>', text: '<EOF>', offset: begin }
      const taken = this.take(begin)
      if ('type' in taken) {
        this.position = taken.end
        return { type: taken.type, text: this.slice(begin, taken.end), offset: begin }
      }
      this.report(begin, `token recognition error at: '${this.slice(begin, taken.failedAt + 1)}'`)
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
    for (const operator of operators)
      if (operator[0] === char && (operator.length === 1 || operator[1] === this.chars[begin + 1]))
        // every operator has a token of its name
        return { type: `'${operator}'` as TokenType, end: begin + operator.length }
    return { failedAt: char === '=' || char === '&' || char === '|' ? begin + 1 : begin }
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

  /** `r'…'`, `b'…'`, `br'…'`. Unterminated ones are an identifier and what follows. */
  private prefixedString(begin: number): { type: TokenType; end: number } | undefined {
    const prefix = /^(?:[bB][rR]?|[rR])(?=["'])/.exec(this.slice(begin, begin + 3))?.[0]
    if (prefix === undefined) return undefined
    const match = this.quoted(begin + prefix.length, /[rR]/.test(prefix))
    if (!('end' in match)) return undefined
    return { type: /^[bB]/.test(prefix) ? 'BYTES' : 'STRING', end: match.end }
  }

  /** @param begin of the opening quote */
  private quoted(begin: number, raw: boolean): Match {
    const quote = this.chars[begin]!
    if (this.chars[begin + 1] === quote && this.chars[begin + 2] === quote) {
      const triple = this.upTo(begin + 3, quote.repeat(3), raw)
      // what is not closed by three is an empty string, and a quote
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

  /** @param at behind the backslash */
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

function withUnsignedMark(chars: readonly string[], end: number): { type: TokenType; end: number } {
  return chars[end] === 'u' || chars[end] === 'U' ? { type: 'NUM_UINT', end: end + 1 } : { type: 'NUM_INT', end }
}

const typed = (type: TokenType, match: Match): { type: TokenType; end: number } | { failedAt: number } =>
  'end' in match ? { type, end: match.end } : match
