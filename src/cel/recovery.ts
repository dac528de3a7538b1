/**
 * How cel-go's parser words and survives syntax errors. Its generated parser synchronises with the input at certain
 * places of a rule, deletes or supplies a single token where that helps, and otherwise skips to what may follow one of
 * the rules under way. Places are described by the tokens that the rest of the rule may begin with.
 */
import type { Lexer, Token, TokenType } from './lexer.ts'
import { tokenNames } from './lexer.ts'

/** Tokens that may come next; `end`: the rule may also be over. */
export interface Expected {
  readonly tokens: ReadonlySet<TokenType>
  readonly end: boolean
}

export const expected = (tokens: Iterable<TokenType>, end = false): Expected => ({ tokens: new Set(tokens), end })

/** Ends the rule that it is thrown in, after it was reported. */
export class RuleFailure {
  constructor(
    readonly message: string,
    readonly at: Token,
  ) {}
}

/** Ends the whole parse; `message` is reported without a place, where there is one. */
export class ParseAborted {
  constructor(readonly message?: string) {}
}

const MAX_REPORTS = 100
const MAX_RECOVERIES = 30
const MAX_SKIPPED = 256
const MAX_DEPTH = 250
export const TOO_DEEP = `expression recursion limit exceeded: ${MAX_DEPTH}`

interface Rule {
  readonly name: string
  /** What the caller expects behind it. */
  readonly follow: Expected
}

export class TokenReader {
  private readonly ahead: Token[] = []
  private readonly rules: Rule[] = []
  private readonly depths = new Map<string, number>()
  private recovering = false
  private reports = 0
  private recoveries = 0
  private consumed = 0
  private lastFailure: { readonly consumed: number; readonly places: Set<string> } | undefined

  constructor(
    private readonly lexer: Lexer,
    private readonly report: (offset: number | undefined, message: string) => void,
  ) {}

  /** The token `n` places ahead; 1 is the current one. */
  look(n = 1): Token {
    while (this.ahead.length < n) this.ahead.push(this.lexer.next())
    return this.ahead[n - 1]!
  }

  is(type: TokenType, n = 1): boolean {
    return this.look(n).type === type
  }

  consume(): Token {
    const token = this.look()
    if (token.type !== '<EOF>') {
      this.ahead.shift()
      this.consumed++
    }
    return token
  }

  /** Runs a rule; what fails in it is reported, and parsing goes on behind it. */
  rule<T>(name: string, follow: Expected, body: () => T): T | undefined {
    this.enter(name)
    this.rules.push({ name, follow })
    try {
      return body()
    } catch (failure) {
      if (!(failure instanceof RuleFailure)) throw failure
      this.reportFailure(failure)
      this.recover(name)
      return undefined
    } finally {
      this.rules.pop()
      this.leave(name)
    }
  }

  /** Left-recursive rules count each of their operators as an entry. */
  enter(name: string): void {
    const depth = (this.depths.get(name) ?? 0) + 1
    if (depth > MAX_DEPTH) throw new ParseAborted(TOO_DEEP)
    this.depths.set(name, depth)
  }

  leave(name: string, times = 1): void {
    this.depths.set(name, (this.depths.get(name) ?? 0) - times)
  }

  /** The token, or undefined where a missing one was supplied. @throws RuleFailure */
  match(type: TokenType, after: Expected): Token | undefined {
    if (this.is(type)) {
      this.matched()
      return this.consume()
    }
    this.countRecovery()
    const here = expected([type])
    if (this.deleteToken(here)) return this.consume()
    if (this.inContext(after).has(this.look().type)) {
      if (!this.recovering) this.notify(`missing ${namesOf(here.tokens)} at ${shown(this.look())}`)
      return undefined
    }
    throw this.mismatch(here)
  }

  matched(): void {
    this.recovering = false
    this.lastFailure = undefined
  }

  /** At the beginning of a choice or an optional part. @throws RuleFailure */
  sync(here: Expected): void {
    if (this.recovering || here.end || here.tokens.has(this.look().type)) return
    if (!this.deleteToken(here)) throw this.mismatch(here)
  }

  /** Behind a turn of a loop. */
  syncLoop(here: Expected): void {
    if (this.recovering || here.end || here.tokens.has(this.look().type)) return
    this.notify(`extraneous input ${shown(this.look())} expecting ${namesOf(this.inContext(here))}`)
    this.skipTo(new Set([...this.inContext(here), ...this.followers()]))
  }

  /** No alternative takes the tokens up to the one `n` places ahead. */
  noAlternative(n: number): RuleFailure {
    const first = this.look()
    const last = this.look(n)
    const end = last.type === '<EOF>' ? last.offset : last.offset + [...last.text].length
    const input = first.type === '<EOF>' ? '<EOF>' : this.lexer.readable(first.offset, end)
    const message = `no viable alternative at input ${quoted(input)}`
    const reserved = /at input '.(true|false|null)'/.exec(message)
    return new RuleFailure(reserved ? `mismatched input '${reserved[1]}' expecting IDENTIFIER` : message, last)
  }

  private mismatch(here: Expected): RuleFailure {
    const token = this.look()
    return new RuleFailure(`mismatched input ${shown(token)} expecting ${namesOf(this.inContext(here))}`, token)
  }

  /** Where the token after the current one fits, the current one is left out. */
  private deleteToken(here: Expected): boolean {
    if (!this.inContext(here).has(this.look(2).type)) return false
    if (!this.recovering)
      this.notify(`extraneous input ${shown(this.look())} expecting ${namesOf(this.inContext(here))}`)
    this.consume()
    this.matched()
    return true
  }

  /** What may come here, given the rules under way. */
  private inContext(here: Expected): ReadonlySet<TokenType> {
    const tokens = new Set(here.tokens)
    let open = here.end
    for (let i = this.rules.length - 1; open && i >= 0; i--) {
      const { follow } = this.rules[i]!
      for (const token of follow.tokens) tokens.add(token)
      open = follow.end
    }
    return tokens
  }

  /** What may follow any of the rules under way. */
  private followers(): ReadonlySet<TokenType> {
    return new Set(this.rules.flatMap(({ follow }) => [...follow.tokens]))
  }

  private reportFailure({ message, at }: RuleFailure): void {
    if (!this.recovering) this.notify(message, at)
  }

  private notify(message: string, at = this.look()): void {
    this.recovering = true
    this.reportAt(at, message)
  }

  private reportAt(at: Token, message: string): void {
    if (this.reports >= MAX_REPORTS) {
      this.report(at.offset, `Syntax error: More than ${MAX_REPORTS} syntax errors`)
      throw new ParseAborted()
    }
    this.reports++
    this.report(at.offset, `Syntax error: ${message}`)
  }

  /** A character that no token has counts as a syntax error, too. */
  reportCharacter(offset: number, message: string): void {
    this.reportAt({ type: '<EOF>', text: '', offset }, message)
  }

  private recover(place: string): void {
    this.countRecovery()
    // a second failure at the same token and place would never get on
    if (this.lastFailure?.consumed === this.consumed && this.lastFailure.places.has(place)) this.consume()
    const places = this.lastFailure?.places ?? new Set()
    this.lastFailure = { consumed: this.consumed, places: places.add(place) }
    this.skipTo(this.followers())
  }

  private countRecovery(): void {
    if (this.recoveries++ < MAX_RECOVERIES) return
    this.reportAt(this.look(), `error recovery attempt limit exceeded: ${MAX_RECOVERIES}`)
    throw new ParseAborted()
  }

  private skipTo(tokens: ReadonlySet<TokenType>): void {
    for (let skipped = 0; !this.is('<EOF>') && !tokens.has(this.look().type); skipped++) {
      if (skipped >= MAX_SKIPPED)
        throw new ParseAborted(`error recovery token lookahead limit exceeded: ${MAX_SKIPPED}`)
      this.consume()
    }
  }
}

const quoted = (text: string): string =>
  `'${text.replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`

const shown = (token: Token): string => quoted(token.text)

function namesOf(tokens: ReadonlySet<TokenType>): string {
  const names = tokenNames.filter((name) => tokens.has(name))
  return names.length === 1 ? names[0]! : `{${names.join(', ')}}`
}
