/**
 * Parses a text into a syntax tree and expands macros. Grammar, error messages and positions are cel-go's. Each method
 * is a rule of the grammar. An `Expected` value holds the tokens with which the rest of a rule may begin (recovery.ts).
 */
import { AggregateParser } from './aggregate-syntax.ts'
import type { Expression } from './ast.ts'
import type { Macro } from '../declarations.ts'
import { Builder, placeholder } from './builder.ts'
import * as grammar from './grammar.ts'
import type { LeafRule } from './grammar.ts'
import type { Token, Tokens, TokenType } from './lexer.ts'
import { literalOf } from './literals.ts'
import { MacroCalls } from './macro-calls.ts'
import type { ParsedParts } from './parsed-parts.ts'
import { PARSE_STOP, Position } from './parsed-parts.ts'
import type { Expected, RuleName } from './recovery.ts'
import { ParseAborted, TokenReader, TOO_DEEP } from './recovery.ts'

export interface ParserOptions {
  readonly macros: readonly Macro[]
  /** Enables `a.?b`, `a[?b]`, `[?a]` and `{?k: v}`. */
  readonly optionalSyntax: boolean
}

export class Parser {
  readonly builder = new Builder()
  /** Issues are reported to it. */
  readonly position: Position
  private readonly tokens: TokenReader
  private readonly macros: MacroCalls
  private readonly aggregates: AggregateParser

  constructor(
    tokens: Tokens,
    private readonly options: ParserOptions,
    /** Undefined: the text is parsed at once. */
    private readonly parts: ParsedParts | undefined,
  ) {
    const report = (offset: number | undefined, message: string): void => this.report(offset, message)
    this.tokens = new TokenReader(tokens, report)
    this.position = new Position(this.tokens, this.builder)
    this.macros = new MacroCalls(options.macros, this.builder, report)
    this.aggregates = new AggregateParser(this, this.tokens, this.builder)
  }

  /** @throws PARSE_STOP, after which it is called again, and MacroError */
  start(): Expression | undefined {
    this.parts?.begin(this.position)
    try {
      return this.tokens.rule('start', grammar.end, () => {
        const root = this.expression(grammar.atEnd)
        this.tokens.match(grammar.EOF, grammar.end)
        return root
      })
    } catch (error) {
      // V8's stack can overflow before the depth limit is reached. The client gets the same error.
      if (error === PARSE_STOP) throw error
      if (error instanceof RangeError) this.report(undefined, TOO_DEEP)
      else if (!(error instanceof ParseAborted)) throw error
      else if (error.message !== undefined) this.report(undefined, error.message)
      return undefined
    }
  }

  private report(offset: number | undefined, message: string): void {
    this.position.issues.push({ offset, message })
  }

  /** A part of the text, of which any number may follow one another. */
  private part(parse: () => Expression): Expression {
    return this.parts === undefined ? parse() : this.parts.parse(parse, this.position)
  }

  /** The expression of a rule. If the rule failed, a placeholder, so that parsing continues around it. */
  rule(name: RuleName, follow: Expected, body: () => Expression): Expression {
    const { offset } = this.tokens.look()
    return this.tokens.rule(name, follow, body) ?? placeholder(this.builder.at(offset))
  }

  /**
   * A fast path for a single name or literal. The rule and the rules within it would return the same node, and most of
   * a long expression consists of leaves. Undefined: the rule must run.
   */
  leaf(rule: LeafRule): Expression | undefined {
    const { type, text, offset } = this.tokens.look()
    if (!grammar.leafTypes.has(type) || !grammar.leafEnds[rule].has(this.tokens.look(2).type)) return undefined
    if (!this.tokens.hasRoom) return undefined
    if (type !== 'IDENTIFIER') return this.literal()
    if (grammar.reserved.has(text)) return undefined
    this.tokens.take()
    return this.builder.identifierAt(this.builder.at(offset), text)
  }

  expression(follow: Expected): Expression {
    return this.leaf('expr') ?? this.part(() => this.rule('expr', follow, () => this.conditional()))
  }

  private conditional(): Expression {
    const condition = this.or(grammar.beforeQuestion)
    if (!this.tokens.is("'?'")) return condition
    const id = this.builder.at(this.tokens.take().offset)
    const then = this.or(grammar.atColon)
    this.tokens.match("':'", grammar.atExpression)
    return this.builder.callAt(id, '_?_:_', [condition, then, this.expression(grammar.end)])
  }

  private or(follow: Expected): Expression {
    return this.rule('conditionalOr', follow, () => this.chain('_||_', "'||'", () => this.and()))
  }

  private and(): Expression {
    return (
      this.leaf('conditionalAnd') ??
      this.rule('conditionalAnd', grammar.beforeOr, () =>
        this.chain('_&&_', "'&&'", () => this.leaf('relation') ?? this.part(() => this.relation(grammar.beforeAnd))),
      )
    )
  }

  private chain(name: string, operator: TokenType, term: () => Expression): Expression {
    const terms = [term()]
    const ids: number[] = []
    while (this.tokens.is(operator)) {
      ids.push(this.builder.at(this.tokens.take().offset))
      terms.push(term())
    }
    return this.builder.balanced(name, ids, terms)
  }

  private relation(follow: Expected, precedence = 0): Expression {
    return (
      this.leaf('relation') ??
      this.leftRecursive('relation', follow, (more) => {
        let left = this.calc(grammar.afterRelation)
        while (precedence <= 1 && grammar.relationOperators.has(this.tokens.look().type)) {
          more()
          left = this.binary(left, () => this.relation(grammar.afterRelation, 2))
        }
        return left
      })
    )
  }

  private calc(follow: Expected, precedence = 0): Expression {
    return (
      this.leaf('calc') ??
      this.leftRecursive('calc', follow, (more) => {
        let left = this.unary(grammar.afterCalc)
        for (;;) {
          const { type } = this.tokens.look()
          const binds = grammar.factorOperators.has(type) ? 2 : grammar.termOperators.has(type) ? 1 : -1
          if (binds < precedence) return left
          more()
          left = this.binary(left, () => this.calc(grammar.afterCalc, binds + 1))
        }
      })
    )
  }

  private leftRecursive(name: RuleName, follow: Expected, body: (more: () => void) => Expression): Expression {
    let entries = 0
    const more = (): void => {
      this.tokens.enter(name)
      entries++
    }
    try {
      return this.rule(name, follow, () => body(more))
    } finally {
      this.tokens.leave(name, entries)
    }
  }

  private binary(left: Expression, right: () => Expression): Expression {
    const operator = this.tokens.take()
    const id = this.builder.at(operator.offset)
    return this.builder.callAt(id, grammar.operatorNames[operator.type]!, [left, right()])
  }

  private unary(follow: Expected): Expression {
    const leaf = this.leaf('unary')
    if (leaf !== undefined) return leaf
    return this.rule('unary', follow, () => {
      this.tokens.sync(grammar.atExpression)
      if (this.tokens.is("'!'")) return this.repeated("'!'", '!_', grammar.atNegated)
      if (this.isNegation()) return this.repeated("'-'", '-_', grammar.atPrimary)
      if (!grammar.expressionStart.has(this.tokens.look().type)) throw this.tokens.noAlternative(1)
      return this.member(grammar.end)
    })
  }

  /** A minus before a number belongs to the number. */
  private isNegation(): boolean {
    if (!this.tokens.is("'-'")) return false
    if (!grammar.primaryStart.has(this.tokens.look(2).type)) throw this.tokens.noAlternative(2)
    return !this.tokens.is('NUM_INT', 2) && !this.tokens.is('NUM_FLOAT', 2)
  }

  private repeated(operator: TokenType, name: string, behind: Expected): Expression {
    const first = this.tokens.look()
    let count = 0
    do {
      this.tokens.match(operator, behind)
      count++
      this.tokens.syncLoop(behind)
      if (operator === "'-'" && this.tokens.is(operator) && !grammar.primaryStart.has(this.tokens.look(2).type))
        throw this.tokens.noAlternative(2)
    } while (this.tokens.is(operator))
    const target = this.member(grammar.end)
    return count % 2 === 0 ? target : this.builder.callAt(this.builder.at(first.offset), name, [target])
  }

  private member(follow: Expected): Expression {
    return this.leftRecursive('member', follow, (more) => {
      let target = this.primary(grammar.afterMember)
      for (;;) {
        if (this.tokens.is("'['")) {
          more()
          target = this.index(target)
        } else if (this.tokens.is("'.'")) {
          const isCall = this.isMemberCall()
          more()
          target = isCall ? this.memberCall(target) : this.select(target)
        } else return target
      }
    })
  }

  private isMemberCall(): boolean {
    if (this.tokens.is('IDENTIFIER', 2)) return this.tokens.is("'('", 3)
    if (!this.tokens.is("'?'", 2) && !this.tokens.is('ESC_IDENTIFIER', 2)) throw this.tokens.noAlternative(2)
    return false
  }

  private index(target: Expression): Expression {
    const id = this.builder.at(this.tokens.take().offset)
    this.tokens.sync(grammar.atOptionalExpression)
    const optional = this.optionalMark("unsupported syntax '[?'")
    const index = this.expression(grammar.atBracket)
    this.tokens.match("']'", grammar.afterMember)
    return this.macros.call(id, optional ? '_[?_]' : '_[_]', undefined, [target, index])
  }

  private select(target: Expression): Expression {
    const dot = this.tokens.take()
    this.tokens.sync(grammar.atField)
    const optional = this.optionalMark("unsupported syntax '.?'")
    const { offset } = this.tokens.look()
    const name = this.tokens.rule('escapeIdent', grammar.afterMember, () => this.escapedName())
    if (name === undefined) this.report(offset, 'unsupported ident kind')
    if (name === undefined) return placeholder(this.builder.at(dot.offset))
    // like cel-go, it goes on without a name, and so a macro has its field
    const field = this.fieldName(name) ?? ''
    const id = this.builder.at(dot.offset)
    if (!optional) return this.builder.selectAt(id, target, field)
    return this.builder.callAt(id, '_?._', [target, this.builder.literalAt(this.builder.at(name.offset), field)])
  }

  escapedName(): Token | undefined {
    this.tokens.sync(grammar.atName)
    const { type } = this.tokens.look()
    if (type !== 'IDENTIFIER' && type !== 'ESC_IDENTIFIER') throw this.tokens.noAlternative(1)
    return this.tokens.take()
  }

  /** The environments of Kubernetes disable names in backquotes, a newer syntax of CEL. */
  fieldName(token: Token | undefined): string | undefined {
    if (token?.type !== 'ESC_IDENTIFIER') return token?.text
    this.report(token.offset, "unsupported syntax: '`'")
    return undefined
  }

  private memberCall(target: Expression): Expression {
    this.tokens.take()
    const name = this.tokens.take().text
    const open = this.tokens.take()
    const id = this.builder.at(open.offset)
    return this.macros.call(id, name, target, this.callArguments())
  }

  private callArguments(): readonly Expression[] {
    this.tokens.sync(grammar.argumentsOrEnd)
    const args = grammar.expressionStart.has(this.tokens.look().type) ? this.list(grammar.atParenthesis) : []
    this.tokens.match("')'", grammar.afterMember)
    return args
  }

  private list(follow: Expected): readonly Expression[] {
    const items: Expression[] = []
    this.tokens.rule('exprList', follow, () => {
      items.push(this.expression(grammar.commaOrEnd))
      while (this.tokens.is("','")) {
        this.tokens.take()
        items.push(this.expression(grammar.commaOrEnd))
      }
    })
    return items
  }

  private primary(follow: Expected): Expression {
    return this.rule('primary', follow, () => {
      this.tokens.sync(grammar.atPrimary)
      switch (this.tokens.look().type) {
        case "'('":
          return this.nested()
        case "'['":
          return this.aggregates.listLiteral()
        case "'{'":
          return this.aggregates.mapLiteral()
        case "'.'":
        case 'IDENTIFIER':
          return this.named()
        default:
          if (!grammar.primaryStart.has(this.tokens.look().type)) throw this.tokens.noAlternative(1)
          return this.rule('literal', grammar.end, () => this.literal())
      }
    })
  }

  private nested(): Expression {
    this.tokens.take()
    const inner = this.expression(grammar.atParenthesis)
    this.tokens.match("')'", grammar.end)
    return inner
  }

  /** An identifier, a function call or a message literal. */
  private named(): Expression {
    const first = this.tokens.look()
    const dot = first.type === "'.'" ? 1 : 0
    if (dot === 1 && !this.tokens.is('IDENTIFIER', 2)) throw this.tokens.noAlternative(2)
    let last = dot + 1
    while (this.tokens.is("'.'", last + 1) && this.tokens.is('IDENTIFIER', last + 2)) last += 2
    if (this.tokens.is("'{'", last + 1)) return this.aggregates.messageLiteral(last)
    if (dot === 1) this.tokens.take()
    const identifier = this.tokens.take()
    const isCall = this.tokens.is("'('")
    const open = isCall ? this.tokens.take() : undefined
    const args = isCall ? this.callArguments() : []
    if (grammar.reserved.has(identifier.text)) {
      this.report(first.offset, `reserved identifier: ${identifier.text}`)
      return placeholder(this.builder.at(first.offset))
    }
    const name = (dot === 1 ? '.' : '') + identifier.text
    if (open === undefined) return this.builder.identifierAt(this.builder.at(identifier.offset), name)
    return this.macros.call(this.builder.at(open.offset), name, undefined, args)
  }

  private literal(): Expression {
    const first = this.tokens.look()
    const negative = first.type === "'-'"
    if (negative && !this.tokens.is('NUM_INT', 2) && !this.tokens.is('NUM_FLOAT', 2)) throw this.tokens.noAlternative(2)
    if (negative) this.tokens.take()
    const token = this.tokens.take()
    const literal = literalOf(token.type, (negative ? '-' : '') + token.text)
    const id = this.builder.at(first.offset)
    if ('value' in literal) return this.builder.literalAt(id, literal.value)
    this.report(first.offset, literal.problem)
    return placeholder(id)
  }

  optionalMark(unsupported: string): boolean {
    if (!this.tokens.is("'?'")) return false
    const mark = this.tokens.take()
    if (!this.options.optionalSyntax) this.report(mark.offset, unsupported)
    return true
  }
}
