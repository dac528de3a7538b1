/**
 * Syntax errors and error recovery as in cel-go's parser, which ANTLR generates. At certain points of a rule the parser
 * compares the next token with the expected ones. It deletes or inserts a single token if that helps. Otherwise it
 * skips to a token that may follow one of the active rules. An `Expected` value holds the tokens with which the rest of
 * the rule may begin.
 */
import type { Token, Tokens, TokenType } from './lexer.ts'
import { tokenNames } from './lexer.ts'

/** Tokens that may come next. `end`: the rule may also end here. */
export interface Expected {
  readonly tokens: ReadonlySet<TokenType>
  readonly end: boolean
}

export const expected = (tokens: Iterable<TokenType>, end = false): Expected => ({ tokens: new Set(tokens), end })

/** Ends the rule in which it is thrown. `rule` reports it and continues. */
export class RuleFailure {
  constructor(
    readonly message: string,
    readonly at: Token,
  ) {}
}

/** Ends the parse. The parser reports `message`, if there is one, without a position. */
export class ParseAborted {
  constructor(readonly message?: string) {}
}

const MAX_REPORTS = 100
const MAX_RECOVERIES = 30
const MAX_SKIPPED = 256
const MAX_DEPTH = 250
export const TOO_DEEP = `expression recursion limit exceeded: ${MAX_DEPTH}`

/** The initial nesting depth of each rule. */
const noDepths = {
  start: 0,
  expr: 0,
  conditionalOr: 0,
  conditionalAnd: 0,
  relation: 0,
  calc: 0,
  unary: 0,
  member: 0,
  primary: 0,
  literal: 0,
  exprList: 0,
  listInit: 0,
  mapInitializerList: 0,
  fieldInitializerList: 0,
  optField: 0,
  optExpr: 0,
  escapeIdent: 0,
}
export type RuleName = keyof typeof noDepths

/** How far a parse has come within the tokens. It holds nothing of the active rules. */
export interface ReaderState {
  readonly at: number
  readonly seen: number
  readonly recovering: boolean
  readonly reports: number
  readonly recoveries: number
  readonly consumed: number
  readonly lastFailure: { readonly consumed: number; readonly places: readonly string[] } | undefined
}

export class TokenReader {
  /** Index of the current token. */
  private at = 0
  /** The number of rules that were entered. */
  entered = 0
  /** The number of tokens that the parser has looked at. The faults in front of them are reported. */
  private seen = 0
  /** For each active rule, the tokens that its caller expects behind it. */
  private readonly follows: Expected[] = []
  private readonly depths = { ...noDepths }
  /** The number of rules that have reached the depth limit. */
  private full = 0
  private recovering = false
  private reports = 0
  private recoveries = 0
  private consumed = 0
  private lastFailure: { readonly consumed: number; readonly places: Set<string> } | undefined

  constructor(
    private readonly text: Tokens,
    private readonly report: (offset: number | undefined, message: string) => void,
  ) {}

  get state(): ReaderState {
    const { at, seen, recovering, reports, recoveries, consumed, lastFailure } = this
    const failure = lastFailure && { consumed: lastFailure.consumed, places: [...lastFailure.places] }
    return { at, seen, recovering, reports, recoveries, consumed, lastFailure: failure }
  }

  /** Goes to where an earlier parse of the same text was, in the same rules. */
  restore({ at, seen, recovering, reports, recoveries, consumed, lastFailure }: ReaderState): void {
    this.at = at
    this.seen = seen
    this.recovering = recovering
    this.reports = reports
    this.recoveries = recoveries
    this.consumed = consumed
    this.lastFailure = lastFailure && { consumed: lastFailure.consumed, places: new Set(lastFailure.places) }
  }

  /** The token at lookahead `n`; 1 is the current one. */
  look(n = 1): Token {
    const { tokens } = this.text
    const index = Math.min(this.at + n, tokens.length) - 1
    while (this.seen <= index) this.reportFaults(this.seen++)
    return tokens[index]!
  }

  private reportFaults(index: number): void {
    for (const { offset, message } of this.text.faults.get(index) ?? [])
      this.reportAt({ type: '<EOF>', text: '', offset }, message)
  }

  is(type: TokenType, n = 1): boolean {
    return this.look(n).type === type
  }

  consume(): Token {
    const token = this.look()
    if (token.type !== '<EOF>') {
      this.at++
      this.consumed++
    }
    return token
  }

  /** Consumes the current token, which the caller has checked. */
  take(): Token {
    this.matched()
    return this.consume()
  }

  /** Runs a rule. If it fails, reports the failure and skips to a token at which parsing can continue. */
  rule<T>(name: RuleName, follow: Expected, body: () => T): T | undefined {
    this.enter(name)
    this.follows.push(follow)
    try {
      return body()
    } catch (failure) {
      if (!(failure instanceof RuleFailure)) throw failure
      this.reportFailure(failure)
      this.recover(name)
      return undefined
    } finally {
      this.follows.pop()
      this.leave(name)
    }
  }

  /** Counts the depth of a rule. A left-recursive rule enters once more for each of its operators. */
  enter(name: RuleName): void {
    this.entered++
    if (this.depths[name] === MAX_DEPTH) throw new ParseAborted(TOO_DEEP)
    if (++this.depths[name] === MAX_DEPTH) this.full++
  }

  leave(name: RuleName, times = 1): void {
    if (times > 0 && this.depths[name] === MAX_DEPTH) this.full--
    this.depths[name] -= times
  }

  /** Whether every rule can be entered once more. */
  get hasRoom(): boolean {
    return this.full === 0
  }

  /** @returns the token; undefined if it was missing and the parser inserted it @throws RuleFailure */
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

  /** Called at the beginning of an alternative or an optional part. @throws RuleFailure */
  sync(here: Expected): void {
    if (this.recovering || here.end || here.tokens.has(this.look().type)) return
    if (!this.deleteToken(here)) throw this.mismatch(here)
  }

  /** Called after each iteration of a loop. */
  syncLoop(here: Expected): void {
    if (this.recovering || here.end || here.tokens.has(this.look().type)) return
    this.notify(`extraneous input ${shown(this.look())} expecting ${namesOf(this.inContext(here))}`)
    this.skipTo(new Set([...this.inContext(here), ...this.followers()]))
  }

  /** No alternative matches the tokens up to lookahead `n`. */
  noAlternative(n: number): RuleFailure {
    const first = this.look()
    const last = this.look(n)
    const end = last.type === '<EOF>' ? last.offset : last.offset + [...last.text].length
    const input = first.type === '<EOF>' ? '<EOF>' : this.text.readable(first.offset, end)
    const message = `no viable alternative at input ${quoted(input)}`
    const reserved = /at input '.(true|false|null)'/.exec(message)
    return new RuleFailure(reserved ? `mismatched input '${reserved[1]}' expecting IDENTIFIER` : message, last)
  }

  private mismatch(here: Expected): RuleFailure {
    const token = this.look()
    return new RuleFailure(`mismatched input ${shown(token)} expecting ${namesOf(this.inContext(here))}`, token)
  }

  /** Deletes the current token if the one behind it is expected here. */
  private deleteToken(here: Expected): boolean {
    if (!this.inContext(here).has(this.look(2).type)) return false
    if (!this.recovering)
      this.notify(`extraneous input ${shown(this.look())} expecting ${namesOf(this.inContext(here))}`)
    this.consume()
    this.matched()
    return true
  }

  /** The tokens that may come here, given the active rules. */
  private inContext(here: Expected): ReadonlySet<TokenType> {
    const tokens = new Set(here.tokens)
    let open = here.end
    for (let i = this.follows.length - 1; open && i >= 0; i--) {
      const follow = this.follows[i]!
      for (const token of follow.tokens) tokens.add(token)
      open = follow.end
    }
    return tokens
  }

  /** The tokens that may follow any of the active rules. */
  private followers(): ReadonlySet<TokenType> {
    return new Set(this.follows.flatMap(({ tokens }) => [...tokens]))
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

  private recover(place: string): void {
    this.countRecovery()
    // a second failure of the same rule at the same token would repeat forever
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
