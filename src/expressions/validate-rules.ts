/**
 * Values against the rules of their schema (apiextensions' schema/cel Validator), in the order: the rules of a place,
 * then those below it. All rules of an object together spend no more than RUNTIME_BUDGET; when it is spent the rest is not
 * run and the object is refused.
 */
import type { ValidationRule } from '../api/apiextensions/v1.ts'
import type { FieldError } from '../api/field.ts'
import { goQuote } from '../go/quote.ts'
import {
  duplicate,
  duplicateOmitted,
  FieldPath,
  forbiddenField,
  invalidOmitted,
  invalidValue,
  required,
} from '../api/field.ts'
import type { Json } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue } from '../api/own.ts'
import type { Result, Variables } from '../cel/program.ts'
import { CostExceeded } from '../cel/program.ts'
import { CelError, Optional } from '../cel/value.ts'
import { pathProblem } from '../validation/apiextensions/schema-path.ts'
import { Correlated, correlatedItems } from './correlation.ts'
import { PER_CALL_LIMIT, RUNTIME_BUDGET } from './environments.ts'
import type { RuleTree } from './rule-tree.ts'
import { timed } from './expression-times.ts'
import type { CompiledExpression, CompiledRule, CompiledRules } from './schema-rules.ts'
import type { SchemaNode } from './schema-types.ts'
import { valueOf } from './schema-values.ts'

/** Bytes of the longest message that an expression may make. */
const MAX_MESSAGE_BYTES = 5 * 1024

export interface RuleProblems {
  readonly errors: readonly FieldError[]
  /** About what was wrong before and did not change. */
  readonly warnings: readonly FieldError[]
  /** Below 0: what is left to do was not done. */
  readonly remaining: number
}

export interface RuleValidation {
  readonly at?: FieldPath
  /** Of an update. */
  readonly old?: Json | undefined
  /** Whether rules only warn of what did not change. */
  readonly ratchets?: boolean
  readonly budget?: number
}

export function validateByRules(
  tree: RuleTree,
  value: Json,
  { at = FieldPath.root, old, ratchets = false, budget = RUNTIME_BUDGET }: RuleValidation = {},
): RuleProblems {
  const validation = new Validation(budget)
  const correlated = ratchets && old !== undefined ? new Correlated(value, old, tree.schema) : undefined
  try {
    validation.visit(tree, value, old, at, { here: correlated, isRoot: true })
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    return { ...validation, remaining: -1 }
  }
  return validation
}

/** The old value at a place, or at the nearest place above that has one. */
interface Place {
  readonly here?: Correlated | undefined
  readonly above?: Correlated | undefined
  readonly isRoot?: boolean
}

/** Ends the validation. The error that caused it is reported. */
class BudgetSpent extends Error {}

const NO_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run'

class Validation {
  readonly errors: FieldError[] = []
  readonly warnings: FieldError[] = []

  constructor(public remaining: number) {}

  visit(tree: RuleTree, value: Json, old: Json | undefined, at: FieldPath, place: Place): void {
    if (value === null) return
    if (tree.rules !== undefined) this.checkRules(tree, value, old ?? undefined, at, place)
    if (Array.isArray(value)) this.visitItems(tree, value, old, at, place)
    else if (isJsonObject(value)) {
      const before = isJsonObject(old) ? old : {}
      for (const name of Object.keys(value).sort()) {
        const below = tree.values ?? tree.properties.get(name)
        if (below === undefined) continue
        const here = tree.values === undefined ? at.child(name) : at.key(name)
        this.visit(below, value[name]!, ownValue(before, name), here, keyPlace(place, name))
      }
    }
  }

  private visitItems(tree: RuleTree, items: readonly Json[], old: Json | undefined, at: FieldPath, place: Place): void {
    const { items: below } = tree
    if (below === undefined) return
    const oldItem = correlatedItems(tree.schema, Array.isArray(old) ? old : [])
    items.forEach((item, index) => {
      const inside = place.here === undefined ? place : { here: place.here.index(index), above: place.here }
      this.visit(below, item, oldItem(item), at.index(index), inside)
    })
  }

  private checkRules(tree: RuleTree, value: Json, old: Json | undefined, at: FieldPath, place: Place): void {
    const compiled = tree.rules!()
    timed('evaluation', () => this.evaluateRules(tree, compiled, value, old, at, place))
  }

  private evaluateRules(
    tree: RuleTree,
    compiled: CompiledRules | undefined,
    value: Json,
    old: Json | undefined,
    at: FieldPath,
    place: Place,
  ): void {
    const whole = (detail: string): FieldError => invalidValue(at, tree.type, detail)
    if (compiled === undefined) {
      const why = 'failed to convert to declType for CEL validation rules'
      this.errors.push(whole(`rule compiler initialization error: ${why}`))
      return
    }
    if (this.remaining <= 0) this.end(whole(NO_BUDGET))
    const { node, rules } = compiled
    const hasOld = rules.some(({ usesOldSelf }) => usesOldSelf) && old !== undefined
    const self = valueOf(value, node)
    const plain: Variables = (name) =>
      name === 'self' ? self : name === 'oldSelf' && hasOld ? valueOf(old, node) : undefined
    for (const rule of rules) {
      const { source, usesOldSelf } = rule
      if (rule.rule.program === undefined) {
        this.errors.push(whole(`rule compile error: ${rule.rule.problem}`))
        continue
      }
      if (usesOldSelf && old === undefined && !source.optionalOldSelf) continue
      const variables = source.optionalOldSelf ? optionalOld(plain, node, old) : plain
      const result = this.run(rule.rule, variables)
      const problem = this.problemOf(result, source, whole)
      if (problem !== undefined) this.errors.push(problem)
      else if (result.value !== true) this.refuse(rule, tree, value, at, place, plain)
    }
  }

  /** Undefined where the rule came to a result. Ends where nothing is left to spend. */
  private problemOf(
    { value, cost, isOver }: Run,
    source: ValidationRule,
    whole: (detail: string) => FieldError,
  ): FieldError | undefined {
    if (cost > this.remaining) this.end(whole(NO_BUDGET))
    this.remaining -= cost
    const rule = ruleText(source)
    if (isOver)
      this.end(
        whole(
          `'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`,
        ),
      )
    if (!(value instanceof CelError)) return undefined
    return whole(
      value.message.startsWith('no such overload')
        ? `'${value.message}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`
        : `${value.message} evaluating rule: ${rule}`,
    )
  }

  private refuse(
    rule: CompiledRule,
    tree: RuleTree,
    value: Json,
    at: FieldPath,
    place: Place,
    variables: Variables,
  ): void {
    const { source, message } = rule
    const here = placeOf(source, tree, at)
    const tell = (error: FieldError): void => {
      const isOld = !rule.usesOldSelf && (place.here ?? place.above)?.isUnchanged === true
      ;(isOld ? this.warnings : this.errors).push(error)
    }
    const wrong = (why: string): never => {
      tell(invalidValue(here, tree.type, why))
      throw new BudgetSpent()
    }
    const made = message?.program === undefined ? undefined : this.message(message, source, variables, wrong)
    tell(errorOf(source, tree, value, here, made ?? defaultMessage(source)))
  }

  /** Undefined where the expression makes no message that can be shown. */
  private message(
    expression: CompiledExpression,
    { messageExpression = '' }: ValidationRule,
    variables: Variables,
    wrong: (why: string) => never,
  ): string | undefined {
    const { value, cost, isOver } = this.run(expression, variables)
    if (cost > this.remaining)
      wrong(
        'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
      )
    if (isOver)
      wrong(
        `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${goQuote(messageExpression)}`,
      )
    this.remaining -= cost
    if (typeof value !== 'string') return undefined
    const text = value.trim()
    return text === '' || text.includes('\n') || new TextEncoder().encode(text).length > MAX_MESSAGE_BYTES
      ? undefined
      : text
  }

  private run({ program }: CompiledExpression, variables: Variables): Run {
    try {
      return { ...program.run(variables, PER_CALL_LIMIT), isOver: false }
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error
      return { value: null, cost: error.cost, isOver: true }
    }
  }

  private end(error: FieldError): never {
    this.errors.push(error)
    throw new BudgetSpent()
  }
}

interface Run extends Result {
  readonly isOver: boolean
}

/** apiVersion and kind count as changed: both objects are read in one version, so that a change of them does not show. */
function keyPlace(place: Place, name: string): Place {
  if (place.here === undefined) return place
  if (place.isRoot && (name === 'apiVersion' || name === 'kind')) return {}
  return { here: place.here.key(name), above: place.here }
}

const optionalOld =
  (plain: Variables, node: SchemaNode, old: Json | undefined): Variables =>
  (name) =>
    name !== 'oldSelf' ? plain(name) : old === undefined ? Optional.none : new Optional(valueOf(old, node))

function placeOf({ fieldPath = '' }: ValidationRule, { json }: RuleTree, at: FieldPath): FieldPath {
  if (fieldPath === '') return at
  const found = pathProblem(json, fieldPath, true)
  return typeof found === 'string' ? at : at.child(found.path.toString())
}

const ruleText = ({ rule = '', message = '' }: ValidationRule): string => (message === '' ? rule : message).trim()

const defaultMessage = (source: ValidationRule): string =>
  source.message ? source.message.trim() : `failed rule: ${ruleText(source)}`

function errorOf(
  { reason }: ValidationRule,
  { type }: RuleTree,
  value: Json,
  at: FieldPath,
  detail: string,
): FieldError {
  const isOmitted = type === 'object' || type === 'array'
  switch (reason) {
    case 'FieldValueForbidden':
      return forbiddenField(at, detail)
    case 'FieldValueRequired':
      return required(at, detail)
    case 'FieldValueDuplicate':
      return isOmitted ? duplicateOmitted(at) : duplicate(at, value)
    default:
      return isOmitted ? invalidOmitted(at, detail) : invalidValue(at, value, detail)
  }
}
