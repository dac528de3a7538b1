/**
 * Expressions of authentication and authorization configurations (apiserver's pkg/authentication/cel and
 * pkg/authorization/cel). They are about the claims of a token, about the user to which the claims were mapped, or
 * about a SubjectAccessReview.
 */
import type { CompileExpression, Expression, ExpressionRefused, ExpressionUse } from '../authentication/expression.ts'
import { ExpressionFailed } from '../authentication/expression.ts'
import type { Expression as Node } from '../cel/syntax/ast.ts'
import { compile } from '../cel/compile.ts'
import type { Environment } from '../cel/environment.ts'
import { CostExceeded } from '../cel/evaluation/frame.ts'
import type { JsonLike } from '../cel/values/json-value.ts'
import { asDouble, valueOfJson } from '../cel/values/json-value.ts'
import type { Program } from '../cel/evaluation/program.ts'
import { ProgramError, programOf } from '../cel/evaluation/program.ts'
import type { Value } from '../cel/values/value.ts'
import { CelError, ListValue, MapValue } from '../cel/values/value.ts'
import { resultTypeText } from './admission-expressions.ts'
import { accessReviewEnvironment, claimsEnvironment, PER_CALL_LIMIT, userEnvironment } from './environments.ts'
import { unescapeField } from './field-names.ts'

interface Use {
  readonly variable: 'claims' | 'user' | 'request'
  environment(): Environment
  readonly isBool: boolean
  /** Whether expressions can select a field that is no identifier by its escaped name. */
  readonly unescapes: boolean
}

const uses: Readonly<Record<ExpressionUse, Use>> = {
  'claims to a value': { variable: 'claims', environment: claimsEnvironment, isBool: false, unescapes: true },
  'claims to a bool': { variable: 'claims', environment: claimsEnvironment, isBool: true, unescapes: true },
  'user to a bool': { variable: 'user', environment: userEnvironment, isBool: true, unescapes: true },
  'access review to a bool': {
    variable: 'request',
    environment: accessReviewEnvironment,
    isBool: true,
    unescapes: false,
  },
}

export const compileIdentityExpression: CompileExpression = (text, use) => {
  const { environment, isBool, variable, unescapes } = uses[use]
  const { expression, issues } = compile(text, environment())
  if (expression === undefined) return { problem: `compilation failed: ${issues}` }
  if (isBool && expression.type.kind !== 'bool') {
    const got = variable === 'request' ? ` but got ${resultTypeText(expression.type)}` : ''
    return { problem: `must evaluate to bool${got}` }
  }
  let program: Program
  try {
    program = programOf(expression, environment())
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error
    return { problem: `program instantiation failed: ${error.message}`, isInternal: true }
  }
  const { root } = expression
  return {
    text,
    selects: (operand, field) => selects(root, operand, field),
    evaluate: (subject) => run(text, program, variable, unescapes ? unescaped(subject) : valueOfJson(subject)),
  } satisfies Expression | ExpressionRefused
}

function run(text: string, program: Program, variable: string, subject: Value): Value {
  const failed = (why: string): ExpressionFailed =>
    new ExpressionFailed(
      variable === 'request'
        ? `cel evaluation error: expression '${text}' resulted in error: ${why}`
        : `expression '${text}' resulted in error: ${why}`,
    )
  try {
    const { value } = program.run((name) => (name === variable ? subject : undefined), PER_CALL_LIMIT)
    if (value instanceof CelError) throw failed(value.message)
    return value
  } catch (error) {
    throw error instanceof CostExceeded ? failed(error.message) : error
  }
}

/**
 * The value of JSON with numbers as doubles. Names with `.` and `-` are also found by their escaped form, at every
 * depth.
 */
function unescaped(json: JsonLike): Value {
  return wrapped(valueOfJson(json, asDouble))
}

function wrapped(value: Value): Value {
  if (value instanceof MapValue) return new UnescapedMap(value)
  return value instanceof ListValue ? new UnescapedList(value) : value
}

class UnescapedMap extends MapValue {
  constructor(private readonly map: MapValue) {
    super()
  }

  get size(): number {
    return this.map.size
  }

  get(key: Value): Value | undefined {
    const name = typeof key === 'string' ? (unescapeField(key) ?? key) : key
    const value = this.map.get(name)
    return value === undefined ? undefined : wrapped(value)
  }

  keys(): Iterable<Value> {
    return this.map.keys()
  }
}

class UnescapedList extends ListValue {
  constructor(private readonly list: ListValue) {
    super()
  }

  get size(): number {
    return this.list.size
  }

  at(index: number): Value {
    return wrapped(this.list.at(index))
  }
}

/** Whether the expression contains `operand.field` or `operand.?field`. */
function selects(node: Node, operand: string, field: string): boolean {
  const isOperand = (one: Node | undefined): boolean => one?.kind === 'identifier' && one.name === operand
  const within = (...nodes: readonly (Node | undefined)[]): boolean =>
    nodes.some((one) => one !== undefined && selects(one, operand, field))
  switch (node.kind) {
    case 'literal':
    case 'identifier':
      return false
    case 'select':
      return (isOperand(node.operand) && node.field === field) || within(node.operand)
    case 'call': {
      const [first, second] = node.args
      const isOptional = node.function === '_?._' && isOperand(first)
      if (isOptional && second?.kind === 'literal' && second.value === field) return true
      return within(...node.args, node.target)
    }
    case 'list':
      return within(...node.elements)
    case 'map':
      return node.entries.some(({ key, value }) => within(key, value))
    case 'struct':
      return node.fields.some(({ value }) => within(value))
    case 'comprehension':
      return within(node.range, node.initial, node.condition, node.step, node.result)
  }
}
