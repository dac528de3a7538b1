/**
 * Text to a syntax tree, macros expanded, with cel-go's grammar, messages and places. Each method is a rule of the
 * grammar; `Expected` values say what the rest of the rule may begin with (see recovery.ts).
 */
import type { Constant, Expression, MapEntry, StructField, SyntaxTree } from './ast.ts'
import type { Macro } from './declarations.ts'
import { Builder, MacroError, placeholder } from './builder.ts'
import type { Issue } from './issues.ts'
import type { Token, TokenType } from './lexer.ts'
import { Lexer } from './lexer.ts'
import type { Literal } from './literals.ts'
import { bytesLiteral, doubleLiteral, intLiteral, stringLiteral, uintLiteral } from './literals.ts'
import type { Expected } from './recovery.ts'
import { expected, ParseAborted, TokenReader, TOO_DEEP } from './recovery.ts'

export interface Parsed {
  /** Undefined when there are issues. */
  readonly tree: SyntaxTree | undefined
  readonly issues: readonly Issue[]
}

export interface ParserOptions {
  readonly macros: readonly Macro[]
  /** `a.?b`, `a[?b]`, `[?a]`, `{?k: v}`. */
  readonly optionalSyntax: boolean
}

/** In code points. */
const MAX_SIZE = 100_000

export function parse(text: string, options: ParserOptions): Parsed {
  const issues: Issue[] = []
  const size = [...text].length
  if (size > MAX_SIZE)
    return {
      tree: undefined,
      issues: [issue(`expression code point size exceeds limit: size: ${size}, limit ${MAX_SIZE}`)],
    }
  const parser = new Parser(text, options, issues)
  let root
  try {
    root = parser.start()
  } catch (error) {
    // the bound on nodes, met outside of a macro
    if (!(error instanceof MacroError)) throw error
    return { tree: undefined, issues: [issue(error.message)] }
  }
  return { tree: issues.length === 0 && root !== undefined ? parser.builder.tree(text, root) : undefined, issues }
}

const issue = (message: string, offset?: number): Issue => ({ offset, message })

const EOF: TokenType = '<EOF>'
const primaryStart: readonly TokenType[] = [
  "'['", "'{'", "'('", "'.'", "'-'", "'true'", "'false'", "'null'",
  'NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES', 'IDENTIFIER',
] // prettier-ignore
const expressionStart: readonly TokenType[] = [...primaryStart, "'!'"]
const relationOperators: ReadonlySet<TokenType> = new Set([
  "'<'",
  "'<='",
  "'>='",
  "'>'",
  "'=='",
  "'!='",
  "'in'",
] as const)
const factorOperators: ReadonlySet<TokenType> = new Set(["'*'", "'/'", "'%'"] as const)
const termOperators: ReadonlySet<TokenType> = new Set(["'+'", "'-'"] as const)

const end = expected([], true)
const atExpression = expected(expressionStart)
const atPrimary = expected(primaryStart)
const atOptionalExpression = expected(["'?'", ...expressionStart])
const atField = expected(["'?'", 'IDENTIFIER', 'ESC_IDENTIFIER'])
const atName = expected(['IDENTIFIER', 'ESC_IDENTIFIER'])
const afterRelation = expected(relationOperators, true)
const afterCalc = expected([...factorOperators, ...termOperators], true)
const afterMember = expected(["'.'", "'['"], true)
const commaOr = (...tokens: TokenType[]): Expected => expected(["','", ...tokens])
const commaOrEnd = expected(["','"], true)
const only = (type: TokenType): Expected => expected([type])
const argumentsOrEnd = expected([...expressionStart, "')'"])

const operatorNames: Readonly<Partial<Record<TokenType, string>>> = {
  "'<'": '_<_',
  "'<='": '_<=_',
  "'>='": '_>=_',
  "'>'": '_>_',
  "'=='": '_==_',
  "'!='": '_!=_',
  "'in'": '@in',
  "'*'": '_*_',
  "'/'": '_/_',
  "'%'": '_%_',
  "'+'": '_+_',
  "'-'": '_-_',
}

/** Names of the languages that CEL is embedded in: fields may have them, variables and functions not. */
const reserved: ReadonlySet<string> = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
)

class Parser {
  readonly builder: Builder
  private readonly tokens: TokenReader

  constructor(
    text: string,
    private readonly options: ParserOptions,
    private readonly issues: Issue[],
  ) {
    this.builder = new Builder()
    const lexer = new Lexer(text, (offset, message) => this.tokens.reportCharacter(offset, message))
    this.tokens = new TokenReader(lexer, (offset, message) => this.report(offset, message))
  }

  start(): Expression | undefined {
    try {
      return this.tokens.rule('start', end, () => {
        const root = this.expression(only(EOF))
        this.tokens.match(EOF, end)
        return root
      })
    } catch (error) {
      // the engine's stack may end before the limit is reached: that is the same to who wrote the expression
      if (error instanceof RangeError) this.report(undefined, TOO_DEEP)
      else if (!(error instanceof ParseAborted)) throw error
      else if (error.message !== undefined) this.report(undefined, error.message)
      return undefined
    }
  }

  private report(offset: number | undefined, message: string): void {
    this.issues.push({ offset, message })
  }

  /** A rule's expression; a placeholder where it failed, so that what surrounds it is looked at all the same. */
  private rule(name: string, follow: Expected, body: () => Expression): Expression {
    const { offset } = this.tokens.look()
    return this.tokens.rule(name, follow, body) ?? placeholder(this.builder.at(offset))
  }

  private expression(follow: Expected): Expression {
    return this.rule('expr', follow, () => {
      const condition = this.or(expected(["'?'"], true))
      if (!this.tokens.is("'?'")) return condition
      const id = this.builder.at(this.tokens.consume().offset)
      this.tokens.matched()
      const then = this.or(only("':'"))
      this.tokens.match("':'", atExpression)
      return this.builder.callAt(id, '_?_:_', [condition, then, this.expression(end)])
    })
  }

  private or(follow: Expected): Expression {
    return this.rule('conditionalOr', follow, () =>
      this.chain('_||_', "'||'", () => this.and(expected(["'||'"], true))),
    )
  }

  private and(follow: Expected): Expression {
    return this.rule('conditionalAnd', follow, () =>
      this.chain('_&&_', "'&&'", () => this.relation(expected(["'&&'"], true))),
    )
  }

  private chain(name: string, operator: TokenType, term: () => Expression): Expression {
    const terms = [term()]
    const ids: number[] = []
    while (this.tokens.is(operator)) {
      ids.push(this.builder.at(this.tokens.consume().offset))
      this.tokens.matched()
      terms.push(term())
    }
    return this.builder.balanced(name, ids, terms)
  }

  private relation(follow: Expected, precedence = 0): Expression {
    return this.leftRecursive('relation', follow, (more) => {
      let left = this.calc(afterRelation)
      while (precedence <= 1 && relationOperators.has(this.tokens.look().type)) {
        more()
        left = this.binary(left, () => this.relation(afterRelation, 2))
      }
      return left
    })
  }

  private calc(follow: Expected, precedence = 0): Expression {
    return this.leftRecursive('calc', follow, (more) => {
      let left = this.unary(afterCalc)
      for (;;) {
        const { type } = this.tokens.look()
        const binds = factorOperators.has(type) ? 2 : termOperators.has(type) ? 1 : -1
        if (binds < precedence) return left
        more()
        left = this.binary(left, () => this.calc(afterCalc, binds + 1))
      }
    })
  }

  private leftRecursive(name: string, follow: Expected, body: (more: () => void) => Expression): Expression {
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
    const operator = this.tokens.consume()
    this.tokens.matched()
    const id = this.builder.at(operator.offset)
    return this.builder.callAt(id, operatorNames[operator.type]!, [left, right()])
  }

  private unary(follow: Expected): Expression {
    return this.rule('unary', follow, () => {
      this.tokens.sync(atExpression)
      if (this.tokens.is("'!'")) return this.repeated("'!'", '!_', expected(["'!'", ...primaryStart]))
      if (this.isNegation()) return this.repeated("'-'", '-_', atPrimary)
      if (!expressionStart.includes(this.tokens.look().type)) throw this.tokens.noAlternative(1)
      return this.member(end)
    })
  }

  /** A minus before a number belongs to the number. */
  private isNegation(): boolean {
    if (!this.tokens.is("'-'")) return false
    if (!primaryStart.includes(this.tokens.look(2).type)) throw this.tokens.noAlternative(2)
    return !this.tokens.is('NUM_INT', 2) && !this.tokens.is('NUM_FLOAT', 2)
  }

  private repeated(operator: TokenType, name: string, behind: Expected): Expression {
    const first = this.tokens.look()
    let count = 0
    do {
      this.tokens.match(operator, behind)
      count++
      this.tokens.syncLoop(behind)
      if (operator === "'-'" && this.tokens.is(operator) && !primaryStart.includes(this.tokens.look(2).type))
        throw this.tokens.noAlternative(2)
    } while (this.tokens.is(operator))
    const target = this.member(end)
    return count % 2 === 0 ? target : this.builder.callAt(this.builder.at(first.offset), name, [target])
  }

  private member(follow: Expected): Expression {
    return this.leftRecursive('member', follow, (more) => {
      let target = this.primary(afterMember)
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
    const id = this.builder.at(this.take().offset)
    this.tokens.sync(atOptionalExpression)
    const optional = this.optionalMark("unsupported syntax '[?'")
    const index = this.expression(only("']'"))
    this.tokens.match("']'", afterMember)
    return this.call(id, optional ? '_[?_]' : '_[_]', undefined, [target, index])
  }

  private select(target: Expression): Expression {
    const dot = this.take()
    this.tokens.sync(atField)
    const optional = this.optionalMark("unsupported syntax '.?'")
    const name = this.tokens.rule('escapeIdent', afterMember, () => this.escapedName())
    const field = this.fieldName(name)
    if (field === undefined) return placeholder(this.builder.at(dot.offset))
    const id = this.builder.at(dot.offset)
    if (!optional) return this.builder.selectAt(id, target, field)
    return this.builder.callAt(id, '_?._', [target, this.builder.literalAt(this.builder.at(name!.offset), field)])
  }

  private escapedName(): Token | undefined {
    this.tokens.sync(atName)
    const { type } = this.tokens.look()
    if (type !== 'IDENTIFIER' && type !== 'ESC_IDENTIFIER') throw this.tokens.noAlternative(1)
    return this.take()
  }

  /** Quoted names are a syntax of later releases, which the environments of Kubernetes leave off. */
  private fieldName(token: Token | undefined): string | undefined {
    if (token?.type !== 'ESC_IDENTIFIER') return token?.text
    this.report(token.offset, "unsupported syntax: '`'")
    return undefined
  }

  private memberCall(target: Expression): Expression {
    this.take()
    const name = this.take().text
    const open = this.take()
    const id = this.builder.at(open.offset)
    return this.call(id, name, target, this.callArguments())
  }

  private callArguments(): readonly Expression[] {
    this.tokens.sync(argumentsOrEnd)
    const args = expressionStart.includes(this.tokens.look().type) ? this.list(only("')'")) : []
    this.tokens.match("')'", afterMember)
    return args
  }

  private list(follow: Expected): readonly Expression[] {
    const items: Expression[] = []
    this.tokens.rule('exprList', follow, () => {
      items.push(this.expression(commaOrEnd))
      while (this.tokens.is("','")) {
        this.take()
        items.push(this.expression(commaOrEnd))
      }
    })
    return items
  }

  private primary(follow: Expected): Expression {
    return this.rule('primary', follow, () => {
      this.tokens.sync(atPrimary)
      switch (this.tokens.look().type) {
        case "'('":
          return this.nested()
        case "'['":
          return this.listLiteral()
        case "'{'":
          return this.mapLiteral()
        case "'.'":
        case 'IDENTIFIER':
          return this.named()
        default:
          if (!primaryStart.includes(this.tokens.look().type)) throw this.tokens.noAlternative(1)
          return this.rule('literal', end, () => this.literal())
      }
    })
  }

  private nested(): Expression {
    this.take()
    const inner = this.expression(only("')'"))
    this.tokens.match("')'", end)
    return inner
  }

  /** An identifier, a call, or the literal of a message. */
  private named(): Expression {
    const first = this.tokens.look()
    const dot = first.type === "'.'" ? 1 : 0
    if (dot === 1 && !this.tokens.is('IDENTIFIER', 2)) throw this.tokens.noAlternative(2)
    let last = dot + 1
    while (this.tokens.is("'.'", last + 1) && this.tokens.is('IDENTIFIER', last + 2)) last += 2
    if (this.tokens.is("'{'", last + 1)) return this.messageLiteral(last)
    if (dot === 1) this.take()
    const identifier = this.take()
    const isCall = this.tokens.is("'('")
    const open = isCall ? this.take() : undefined
    const args = isCall ? this.callArguments() : []
    if (reserved.has(identifier.text)) {
      this.report(first.offset, `reserved identifier: ${identifier.text}`)
      return placeholder(this.builder.at(first.offset))
    }
    const name = (dot === 1 ? '.' : '') + identifier.text
    if (open === undefined) return this.builder.identifierAt(this.builder.at(identifier.offset), name)
    return this.call(this.builder.at(open.offset), name, undefined, args)
  }

  /** @param count of the tokens of its name */
  private messageLiteral(count: number): Expression {
    let type = ''
    for (let i = 0; i < count; i++) type += this.take().text
    const id = this.builder.at(this.take().offset)
    this.tokens.sync(commaOr(...atField.tokens, "'}'"))
    const fields: StructField[] = []
    if (atField.tokens.has(this.tokens.look().type))
      this.tokens.rule('fieldInitializerList', commaOr("'}'"), () => {
        do {
          if (fields.length > 0) this.take()
          this.field(fields)
        } while (this.tokens.is("','") && atField.tokens.has(this.tokens.look(2).type))
      })
    this.trailingComma("'}'")
    return this.builder.structAt(id, type, fields)
  }

  private field(fields: StructField[]): void {
    let optional = false
    const token = this.tokens.rule('optField', only("':'"), () => {
      this.tokens.sync(atField)
      optional = this.optionalMark("unsupported syntax '?'")
      return this.tokens.rule('escapeIdent', end, () => this.escapedName())
    })
    const colon = this.tokens.match("':'", atExpression)
    const value = this.expression(commaOrEnd)
    const name = this.fieldName(token)
    if (name !== undefined && colon !== undefined)
      fields.push({ id: this.builder.at(colon.offset), name, value, optional })
  }

  private listLiteral(): Expression {
    const id = this.builder.at(this.take().offset)
    this.tokens.sync(commaOr(...atOptionalExpression.tokens, "']'"))
    const elements: Expression[] = []
    const optional = new Set<number>()
    if (atOptionalExpression.tokens.has(this.tokens.look().type))
      this.tokens.rule('listInit', commaOr("']'"), () => {
        do {
          if (elements.length > 0) this.take()
          const [element, isOptional] = this.optionalExpression(commaOrEnd)
          if (isOptional) optional.add(elements.length)
          elements.push(element)
        } while (this.tokens.is("','") && atOptionalExpression.tokens.has(this.tokens.look(2).type))
      })
    this.trailingComma("']'")
    return this.builder.listAt(id, elements, optional)
  }

  private mapLiteral(): Expression {
    const id = this.builder.at(this.take().offset)
    this.tokens.sync(commaOr(...atOptionalExpression.tokens, "'}'"))
    const entries: MapEntry[] = []
    if (atOptionalExpression.tokens.has(this.tokens.look().type))
      this.tokens.rule('mapInitializerList', commaOr("'}'"), () => {
        let first = true
        do {
          if (!first) this.take()
          first = false
          const [key, optional] = this.optionalExpression(only("':'"))
          const colon = this.tokens.match("':'", atExpression)
          const value = this.expression(commaOrEnd)
          if (colon !== undefined) entries.push({ id: this.builder.at(colon.offset), key, value, optional })
        } while (this.tokens.is("','") && atOptionalExpression.tokens.has(this.tokens.look(2).type))
      })
    this.trailingComma("'}'")
    return this.builder.mapAt(id, entries)
  }

  private optionalExpression(follow: Expected): [Expression, boolean] {
    let optional = false
    const expression = this.rule('optExpr', follow, () => {
      this.tokens.sync(atOptionalExpression)
      optional = this.optionalMark("unsupported syntax '?'")
      return this.expression(end)
    })
    return [expression, optional]
  }

  private trailingComma(closing: TokenType): void {
    this.tokens.sync(commaOr(closing))
    if (this.tokens.is("','")) this.take()
    this.tokens.match(closing, end)
  }

  private optionalMark(unsupported: string): boolean {
    if (!this.tokens.is("'?'")) return false
    const mark = this.take()
    if (!this.options.optionalSyntax) this.report(mark.offset, unsupported)
    return true
  }

  private literal(): Expression {
    const first = this.tokens.look()
    const negative = first.type === "'-'"
    if (negative && !this.tokens.is('NUM_INT', 2) && !this.tokens.is('NUM_FLOAT', 2)) throw this.tokens.noAlternative(2)
    if (negative) this.take()
    const token = this.take()
    const literal = valueOf(token.type, (negative ? '-' : '') + token.text)
    const id = this.builder.at(first.offset)
    if ('value' in literal) return this.builder.literalAt(id, literal.value)
    this.report(first.offset, literal.problem)
    return placeholder(id)
  }

  /** The current token, which is known to fit. */
  private take(): Token {
    this.tokens.matched()
    return this.tokens.consume()
  }

  private call(id: number, name: string, target: Expression | undefined, args: readonly Expression[]): Expression {
    const macro = this.options.macros.find(
      (one) =>
        one.function === name &&
        one.member === (target !== undefined) &&
        (one.argumentCount === undefined || one.argumentCount === args.length),
    )
    if (macro === undefined) return this.builder.callAt(id, name, args, target)
    try {
      const expanded = macro.expand(this.builder.factoryAt(id), target, args)
      if (expanded === undefined) return this.builder.callAt(id, name, args, target)
      this.builder.noteMacro(expanded, this.builder.callAt(id, name, args, target))
      return expanded
    } catch (error) {
      if (!(error instanceof MacroError)) throw error
      this.report(this.builder.offsetOf(error.node ?? id), error.message)
      return placeholder(id)
    }
  }
}

function valueOf(type: TokenType, text: string): Literal<Constant> {
  switch (type) {
    case 'NUM_INT':
      return intLiteral(text)
    case 'NUM_UINT':
      return uintLiteral(text)
    case 'NUM_FLOAT':
      return doubleLiteral(text)
    case 'STRING':
      return stringLiteral(text)
    case 'BYTES':
      return bytesLiteral(text)
    case "'true'":
      return { value: true }
    case "'false'":
      return { value: false }
    default:
      return { value: null }
  }
}
