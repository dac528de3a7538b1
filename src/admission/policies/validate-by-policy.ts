/**
 * Evaluates a validating policy for one request, with one object of parameters (apiserver's plugin/policy/validating).
 */
import type { AuditAnnotation, ValidatingAdmissionPolicySpec, Validation } from '../../api/admissionregistration/v1.ts'
import { byteLength } from '../../base/utf8.ts'
import type { Value } from '../../cel/values/value.ts'
import { runtimeType, runtimeTypeName } from '../../cel/values/runtime-types.ts'
import { RUNTIME_BUDGET } from '../../expressions/environments.ts'
import type { CompiledPolicy } from './compiled-policy.ts'
import type { Evaluated, Subject } from './evaluation.ts'
import { Evaluation, OutOfBudget } from './evaluation.ts'
import { conditionsMatch } from './match-conditions.ts'

/** One for each validation, or a single one for an error of the whole evaluation. */
export type PolicyDecision =
  /** `ignored`: an error that the failurePolicy ignores. */
  | { readonly action: 'admit'; readonly ignored?: string }
  | { readonly action: 'deny'; readonly message: string; readonly reason?: string | undefined }

export type AuditValue =
  | { readonly key: string; readonly value: string; readonly error?: undefined }
  /** The error denies the request. */
  | { readonly error: string }

export interface Verdict {
  readonly decisions: readonly PolicyDecision[]
  readonly auditAnnotations: readonly AuditValue[]
}

export async function validateByPolicy(
  spec: ValidatingAdmissionPolicySpec,
  compiled: CompiledPolicy,
  subject: Subject,
  owner?: Parameters<typeof conditionsMatch>[4],
): Promise<Verdict> {
  const { failurePolicy, validations = [], auditAnnotations = [] } = spec
  const failed = (message: string): PolicyDecision =>
    failurePolicy === 'Ignore' ? { action: 'admit', ignored: message } : { action: 'deny', message }
  const failedAltogether = (message: string): Verdict => ({ decisions: [failed(message)], auditAnnotations: [] })

  if (compiled.matchConditions.length > 0) {
    const matches = await conditionsMatch(compiled.matchConditions, compiled.variables, subject, failurePolicy, owner)
    if (matches === false) return { decisions: [], auditAnnotations: [] }
    if (matches !== true) return failedAltogether(matches.error)
  }

  const evaluation = new Evaluation(subject, compiled.variables, RUNTIME_BUDGET)
  const results = await allOf(
    compiled.validations.map(({ expression }) => expression),
    () => evaluation,
  )
  if (results instanceof OutOfBudget) return failedAltogether(results.message)

  const unauthorized = (remaining: number) => (): Evaluation => {
    const { authorizer: _, ...without } = subject
    return new Evaluation(without, compiled.variables, remaining)
  }
  const messages = await allOf(
    compiled.validations.map(({ messageExpression }) => messageExpression),
    unauthorized(evaluation.remaining),
  )
  const decisions = validations.map((validation, at): PolicyDecision => {
    const result = results[at]!
    if (result === undefined) return { action: 'admit' }
    if (result.error !== undefined) return failed(result.error)
    if (messages instanceof OutOfBudget) return failed(`failed messageExpression: ${messages.message}`)
    if (result.value === true) return { action: 'admit' }
    return { action: 'deny', message: messageOf(validation, messages[at]), reason: validation.reason }
  })

  const values = await allOf(
    compiled.auditAnnotations.map(({ expression }) => expression),
    unauthorized(RUNTIME_BUDGET),
  )
  if (values instanceof OutOfBudget) return failedAltogether(values.message)
  const annotations = auditAnnotations.map((annotation, at) => auditValue(annotation, values[at]!, failurePolicy))
  return { decisions, auditAnnotations: annotations.filter((value) => value !== undefined) }
}

type Expressions = readonly (Parameters<Evaluation['run']>[0] | undefined)[]
type Results = readonly (Evaluated | undefined)[] | OutOfBudget

/**
 * The results of the expressions; undefined for absent ones.
 * @param evaluation is called if there is an expression. Most policies have no expressions of messages or annotations.
 */
function allOf(expressions: Expressions, evaluation: () => Evaluation): Results | Promise<Results> {
  return expressions.some((one) => one !== undefined) ? evaluated(expressions, evaluation()) : []
}

async function evaluated(expressions: Expressions, evaluation: Evaluation): Promise<Results> {
  const results: (Evaluated | undefined)[] = []
  try {
    for (const expression of expressions) {
      const result = expression && evaluation.run(expression)
      results.push(result instanceof Promise ? await result : result)
    }
  } catch (error) {
    if (error instanceof OutOfBudget) return error
    throw error
  }
  return results
}

/** Bytes. */
const MAX_MESSAGE = 5 * 1024

function messageOf({ message = '', expression = '' }: Validation, made: Evaluated | undefined): string {
  const text = made?.error === undefined && typeof made?.value === 'string' ? made.value.trim() : ''
  if (text !== '' && !text.includes('\n') && byteLength(text) <= MAX_MESSAGE) return text
  return message.trim() || `failed expression: ${expression.trim()}`
}

/** Undefined where the expression sets no annotation. */
function auditValue(
  { key = '', valueExpression = '' }: AuditAnnotation,
  made: Evaluated,
  failurePolicy: string | undefined,
): AuditValue | undefined {
  if (made.error !== undefined) return failurePolicy === 'Ignore' ? undefined : { error: made.error }
  const { value } = made
  if (value === null) return undefined
  if (typeof value === 'string') return value.trim() === '' ? undefined : { key, value: value.trim() }
  const type = typeName(value)
  return {
    error: `valueExpression '${valueExpression}' resulted in unsupported return type: ${type}. Return type must be either string or null.`,
  }
}

const typeName = (value: Value): string => runtimeTypeName(runtimeType(value))
