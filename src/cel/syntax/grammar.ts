/** The tokens with which rules of CEL's grammar begin, and the tokens that may follow. */
import type { TokenType } from './lexer.ts'
import type { Expected, RuleName } from './recovery.ts'
import { expected } from './recovery.ts'

export const EOF: TokenType = '<EOF>'
const primaryTokens: readonly TokenType[] = [
  "'['", "'{'", "'('", "'.'", "'-'", "'true'", "'false'", "'null'",
  'NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES', 'IDENTIFIER',
] // prettier-ignore
const expressionTokens: readonly TokenType[] = [...primaryTokens, "'!'"]
export const primaryStart: ReadonlySet<TokenType> = new Set(primaryTokens)
export const expressionStart: ReadonlySet<TokenType> = new Set(expressionTokens)
export const relationOperators: ReadonlySet<TokenType> = new Set([
  "'<'",
  "'<='",
  "'>='",
  "'>'",
  "'=='",
  "'!='",
  "'in'",
] as const)
export const factorOperators: ReadonlySet<TokenType> = new Set(["'*'", "'/'", "'%'"] as const)
export const termOperators: ReadonlySet<TokenType> = new Set(["'+'", "'-'"] as const)

export const end = expected([], true)
export const atExpression = expected(expressionTokens)
export const atPrimary = expected(primaryTokens)
export const atOptionalExpression = expected(["'?'", ...expressionTokens])
export const atField = expected(["'?'", 'IDENTIFIER', 'ESC_IDENTIFIER'])
export const atName = expected(['IDENTIFIER', 'ESC_IDENTIFIER'])
export const afterRelation = expected(relationOperators, true)
export const afterCalc = expected([...factorOperators, ...termOperators], true)
export const afterMember = expected(["'.'", "'['"], true)
const commaOr = (...tokens: TokenType[]): Expected => expected(["','", ...tokens])
export const commaOrEnd = expected(["','"], true)
const only = (type: TokenType): Expected => expected([type])
export const argumentsOrEnd = expected([...expressionTokens, "')'"])

export const operatorNames: Readonly<Partial<Record<TokenType, string>>> = {
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

/** Reserved words (cel-spec). Fields may have these names, but variables and functions may not. */
export const reserved: ReadonlySet<string> = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
)

export const beforeQuestion = expected(["'?'"], true)
export const beforeOr = expected(["'||'"], true)
export const beforeAnd = expected(["'&&'"], true)
export const commaOrBrace = commaOr("'}'")
export const commaOrBracket = commaOr("']'")
export const atFieldOrEnd = commaOr(...atField.tokens, "'}'")
export const atElementOrEnd = commaOr(...atOptionalExpression.tokens, "']'")
export const atEntryOrEnd = commaOr(...atOptionalExpression.tokens, "'}'")
export const atEnd = only(EOF)
export const atNegated = expected(["'!'", ...primaryTokens])
export const atColon = only("':'")
export const atParenthesis = only("')'")
export const atBracket = only("']'")

/** Tokens that are a whole expression, such as a name or a number. */
export const leafTypes: ReadonlySet<TokenType> = new Set([
  'IDENTIFIER',
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  "'true'",
  "'false'",
  "'null'",
] as const)

/** If one of these tokens follows a leaf, the leaf is all that the rule and the rules within it match. */
const behindExpression: readonly TokenType[] = ["','", "')'", "']'", "'}'", "':'", EOF]
const behindTerm: readonly TokenType[] = [...behindExpression, "'||'", "'?'"]
const behindFactor: readonly TokenType[] = [...behindTerm, "'&&'"]
const behindOperand: readonly TokenType[] = [...behindFactor, ...relationOperators]
export const leafEnds = {
  expr: new Set(behindExpression),
  conditionalAnd: new Set(behindTerm),
  relation: new Set(behindFactor),
  calc: new Set(behindOperand),
  unary: new Set([...behindOperand, ...factorOperators, ...termOperators]),
} satisfies Partial<Record<RuleName, ReadonlySet<TokenType>>>
export type LeafRule = keyof typeof leafEnds
