/**
 * Label selectors in a query: `a=b, c!=d, e in (f, g), h notin (i), j, !k, l>1, m<2` (apimachinery's pkg/labels).
 * Errors are kube-apiserver's texts. The words `in` and `notin` may also be keys and values.
 */
import type { FieldError } from '../../api/field.ts'
import { FieldPath, invalidValue, messageOf } from '../../api/field.ts'
import { labelKeyErrors, labelValueErrors } from '../../api/label-syntax.ts'
import { badRequest } from '../../api/status.ts'
import type { LabelOperator, LabelRequirement } from './selection.ts'
import { parseInt64 } from '../../go/int.ts'

/** @throws StatusError 400 with the parser's text alone */
export function parseLabelSelector(text: string): LabelRequirement[] {
  const tokens = new Tokens(text)
  const requirements: LabelRequirement[] = []
  for (;;) {
    const start = tokens.peek('value')
    if (start.kind === 'end') break
    if (start.kind !== 'word' && start.kind !== '!')
      throw badRequest(`found '${start.text}', expected: !, identifier, or 'end of string'`)
    requirements.push(parseRequirement(tokens))
    const next = tokens.take('value')
    if (next.kind === 'end') break
    if (next.kind !== ',') throw badRequest(`found '${next.text}', expected: ',' or 'end of string'`)
    const after = tokens.peek('value')
    if (after.kind !== 'word' && after.kind !== '!')
      throw badRequest(`found '${after.text}', expected: identifier after ','`)
  }
  return requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

/**
 * The requirements of a validated meta/v1 LabelSelector. An absent selector selects nothing, an empty one everything.
 */
export function labelSelectorRequirements(selector: LabelSelector): LabelRequirement[] {
  return [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]): LabelRequirement => ({
      key,
      operator: 'In',
      values: [value],
    })),
    ...(selector.matchExpressions ?? []).map(({ key, operator, values }): LabelRequirement => ({
      key,
      operator,
      values: values ?? [],
    })),
  ]
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: Exclude<LabelOperator, 'Gt' | 'Lt'>
    readonly values?: readonly string[]
  }[]
}

/** Operators between a key and its values. */
const binaryOperators: Readonly<Record<string, LabelOperator>> = {
  in: 'In',
  notin: 'NotIn',
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  '>': 'Gt',
  '<': 'Lt',
}
const BINARY_OPERATORS = 'in, notin, =, ==, !=, gt, lt'

function parseRequirement(tokens: Tokens): LabelRequirement {
  let token = tokens.take('value')
  const negated = token.kind === '!'
  if (negated) token = tokens.take('value')
  if (token.kind !== 'word') throw unparsable(`found '${token.text}', expected: identifier`)
  const key = token.text
  const keyErrors = labelKeyErrors(key)
  if (keyErrors.length > 0) throw unparsable(messageOf([invalidValue(FieldPath.root, key, keyErrors.join('; '))]))
  if (negated) return { key, operator: 'DoesNotExist', values: [] }
  const next = tokens.peek('value')
  if (next.kind === 'end' || next.kind === ',') return { key, operator: 'Exists', values: [] }

  const symbol = tokens.take('operator')
  const operator = Object.hasOwn(binaryOperators, symbol.kind) ? binaryOperators[symbol.kind] : undefined
  if (operator === undefined) throw unparsable(`found '${symbol.text}', expected: ${BINARY_OPERATORS}`)
  const listed = symbol.kind === 'in' || symbol.kind === 'notin'
  const values = [...new Set(listed ? parseValues(tokens) : [parseExactValue(tokens)])].sort()
  const errors = valueErrors(key, operator, values)
  if (errors.length > 0) throw unparsable(messageOf(errors))
  return { key, operator, values }
}

function valueErrors(key: string, operator: LabelOperator, values: readonly string[]): FieldError[] {
  const at = FieldPath.root.child('values')
  const notIntegers = values.flatMap((value, index) =>
    (operator === 'Gt' || operator === 'Lt') && parseInt64(value) === undefined
      ? [invalidValue(at.index(index), value, "for 'Gt', 'Lt' operators, the value must be an integer")]
      : [],
  )
  const malformed = values.flatMap((value, index) => {
    const wrong = labelValueErrors(value)
    return wrong.length === 0 ? [] : [invalidValue(at.index(index).key(key), value, wrong.join('; '))]
  })
  return [...notIntegers, ...malformed]
}

/** `(a, b)`. An absent value is empty: `()`, `(,a)`, `(a,,b)`. */
function parseValues(tokens: Tokens): string[] {
  const open = tokens.take('value')
  if (open.kind !== '(') throw unparsable(`found '${open.text}' expected: '('`)
  const first = tokens.peek('value')
  if (first.kind === ')') {
    tokens.take('value')
    return ['']
  }
  if (first.kind !== 'word' && first.kind !== ',')
    throw unparsable(`found '${first.text}', expected: ',', ')' or identifier`)
  const values: string[] = []
  for (;;) {
    const token = tokens.take('value')
    const next = tokens.peek('value')
    if (token.kind === 'word') {
      values.push(token.text)
      if (next.kind !== ',' && next.kind !== ')') throw unparsable(`found '${next.text}', expected: ',' or ')'`)
    } else if (token.kind === ',') {
      if (values.length === 0 || next.kind === ')' || next.kind === ',') values.push('')
    } else throw unparsable(`found '${token.text}', expected: ',', or identifier`)
    if (next.kind === ')') {
      tokens.take('value')
      return values
    }
  }
}

function parseExactValue(tokens: Tokens): string {
  const next = tokens.peek('value')
  if (next.kind === 'end' || next.kind === ',') return ''
  const token = tokens.take('value')
  if (token.kind !== 'word') throw unparsable(`found '${token.text}', expected: identifier`)
  return token.text
}

const unparsable = (why: string) => badRequest(`unable to parse requirement: ${why}`)

type TokenKind = 'word' | 'end' | 'in' | 'notin' | '(' | ')' | ',' | '!' | '=' | '==' | '!=' | '<' | '>'
interface Token {
  readonly kind: TokenKind
  readonly text: string
}

/** Where a value or key may be, `in` and `notin` are plain words. */
type Place = 'value' | 'operator'

class Tokens {
  private readonly tokens: readonly Token[]
  private position = 0

  constructor(text: string) {
    this.tokens = [...tokenize(text)]
  }

  peek(place: Place): Token {
    const token = this.tokens[this.position] ?? END
    return place === 'value' && (token.kind === 'in' || token.kind === 'notin') ? { ...token, kind: 'word' } : token
  }

  take(place: Place): Token {
    const token = this.peek(place)
    this.position++
    return token
  }
}

const END: Token = { kind: 'end', text: '' }
// A NUL ends a word. Between words it ends the whole selector, because kube-apiserver's lexer takes it for the end of
// its input.
const token = /[ \t\r\n]*(?:(==|!=|[=!(),<>])\0?|([^ \t\r\n=!(),<>\0]+)\0?|\0)/y

function* tokenize(text: string): Generator<Token> {
  token.lastIndex = 0
  for (let match; (match = token.exec(text)) !== null;) {
    const [, symbol, word] = match
    // the pattern matches only these kinds
    if (symbol !== undefined) yield { kind: symbol as TokenKind, text: symbol }
    else if (word === 'in' || word === 'notin') yield { kind: word, text: word }
    else if (word !== undefined) yield { kind: 'word', text: word }
    else return
  }
}
