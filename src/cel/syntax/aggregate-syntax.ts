/** Parses list, map and message literals. Their fields, elements and entries may be optional (`?e`). */
import type { Expression, MapEntry, StructField } from './ast.ts'
import type { Builder } from './builder.ts'
import {
  atColon,
  atElementOrEnd,
  atEntryOrEnd,
  atExpression,
  atField,
  atFieldOrEnd,
  atOptionalExpression,
  commaOrBrace,
  commaOrBracket,
  commaOrEnd,
  end,
} from './grammar.ts'
import type { Token, TokenType } from './lexer.ts'
import type { Expected, RuleName, TokenReader } from './recovery.ts'

/** The parser's rules for everything that is no aggregate literal. */
export interface ExpressionParser {
  expression(follow: Expected): Expression
  leaf(rule: 'expr'): Expression | undefined
  rule(name: RuleName, follow: Expected, body: () => Expression): Expression
  optionalMark(unsupported: string): boolean
  escapedName(): Token | undefined
  fieldName(token: Token | undefined): string | undefined
}

export class AggregateParser {
  constructor(
    private readonly parser: ExpressionParser,
    private readonly tokens: TokenReader,
    private readonly builder: Builder,
  ) {}

  /** @param count how many tokens the type name has */
  messageLiteral(count: number): Expression {
    let type = ''
    for (let i = 0; i < count; i++) type += this.tokens.take().text
    const id = this.builder.at(this.tokens.take().offset)
    this.tokens.sync(atFieldOrEnd)
    const fields: StructField[] = []
    if (atField.tokens.has(this.tokens.look().type))
      this.tokens.rule('fieldInitializerList', commaOrBrace, () => {
        do {
          if (fields.length > 0) this.tokens.take()
          this.field(fields)
        } while (this.tokens.is("','") && atField.tokens.has(this.tokens.look(2).type))
      })
    this.trailingComma("'}'")
    return this.builder.structAt(id, type, fields)
  }

  private field(fields: StructField[]): void {
    let optional = false
    const token = this.tokens.rule('optField', atColon, () => {
      this.tokens.sync(atField)
      optional = this.parser.optionalMark("unsupported syntax '?'")
      return this.tokens.rule('escapeIdent', end, () => this.parser.escapedName())
    })
    const colon = this.tokens.match("':'", atExpression)
    const value = this.parser.expression(commaOrEnd)
    const name = this.parser.fieldName(token)
    if (name !== undefined && colon !== undefined)
      fields.push({ id: this.builder.at(colon.offset), name, value, optional })
  }

  listLiteral(): Expression {
    const id = this.builder.at(this.tokens.take().offset)
    this.tokens.sync(atElementOrEnd)
    const elements: Expression[] = []
    const optional = new Set<number>()
    if (atOptionalExpression.tokens.has(this.tokens.look().type))
      this.tokens.rule('listInit', commaOrBracket, () => {
        do {
          if (elements.length > 0) this.tokens.take()
          const [element, isOptional] = this.optionalExpression(commaOrEnd)
          if (isOptional) optional.add(elements.length)
          elements.push(element)
        } while (this.tokens.is("','") && atOptionalExpression.tokens.has(this.tokens.look(2).type))
      })
    this.trailingComma("']'")
    return this.builder.listAt(id, elements, optional)
  }

  mapLiteral(): Expression {
    const id = this.builder.at(this.tokens.take().offset)
    this.tokens.sync(atEntryOrEnd)
    const entries: MapEntry[] = []
    if (atOptionalExpression.tokens.has(this.tokens.look().type))
      this.tokens.rule('mapInitializerList', commaOrBrace, () => {
        let first = true
        do {
          if (!first) this.tokens.take()
          first = false
          const [key, optional] = this.optionalExpression(atColon)
          const colon = this.tokens.match("':'", atExpression)
          const value = this.parser.expression(commaOrEnd)
          if (colon !== undefined) entries.push({ id: this.builder.at(colon.offset), key, value, optional })
        } while (this.tokens.is("','") && atOptionalExpression.tokens.has(this.tokens.look(2).type))
      })
    this.trailingComma("'}'")
    return this.builder.mapAt(id, entries)
  }

  private optionalExpression(follow: Expected): [Expression, boolean] {
    const leaf = this.parser.leaf('expr')
    if (leaf !== undefined) return [leaf, false]
    let optional = false
    const expression = this.parser.rule('optExpr', follow, () => {
      this.tokens.sync(atOptionalExpression)
      optional = this.parser.optionalMark("unsupported syntax '?'")
      return this.parser.expression(end)
    })
    return [expression, optional]
  }

  private trailingComma(closing: TokenType): void {
    this.tokens.sync(closing === "']'" ? commaOrBracket : commaOrBrace)
    if (this.tokens.is("','")) this.tokens.take()
    this.tokens.match(closing, end)
  }
}
