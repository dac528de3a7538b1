/**
 * Validates values by the rules of their schema (apiextensions' schema/cel Validator). The rules of a node run before
 * the rules below it. All rules of an object share RUNTIME_BUDGET. When it is spent, the remaining rules do not run and
 * the object is refused.
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
import { sortedKeys } from '../base/name-order.ts'
import { ownValue } from '../base/own.ts'
import { eachName, eachPart, forAsLong, goesInParts, kept } from '../base/parts.ts'
import type { Variables } from '../cel/evaluation/frame.ts'
import { CostExceeded } from '../cel/evaluation/frame.ts'
import type { Result } from '../cel/evaluation/program.ts'
import { CelError, Optional } from '../cel/values/value.ts'
import { pathProblem } from '../validation/apiextensions/schema-path.ts'
import { Correlated, correlatedItems } from './correlation.ts'
import { PER_CALL_LIMIT, RUNTIME_BUDGET } from './environments.ts'
import type { RuleTree } from './rule-tree.ts'
import { noteTime, startTime, timed } from './expression-times.ts'
import type { CompiledExpression, CompiledRule, CompiledRules, Rule } from './schema-rules.ts'
import { weightOfRule } from './schema-rules.ts'
import type { SchemaNode } from './schema-types.ts'
import { valueInOptional, valueOf } from './schema-values.ts'

/** The most bytes of the message that a messageExpression returns. */
const MAX_MESSAGE_BYTES = 5 * 1024

export interface RuleProblems {
  readonly errors: readonly FieldError[]
  /** Errors about old values that did not change (ratcheting). */
  readonly warnings: readonly FieldError[]
  /** The budget that is left. Below 0: some rules did not run. */
  readonly remaining: number
}

export interface RuleValidation {
  readonly at?: FieldPath
  /** The old value, in an update. */
  readonly old?: Json | undefined
  /** Whether rules only warn about values that did not change (CRD validation ratcheting). */
  readonly ratchets?: boolean
  readonly budget?: number
}

/** Validates in parts if the caller's walk is in parts (base/parts.ts). Otherwise it runs without a pause. */
export function validateByRules(tree: RuleTree, value: Json, options: RuleValidation = {}): RuleProblems {
  const { budget = RUNTIME_BUDGET } = options
  return validated(
    kept(tree, () => new Validation(budget, Infinity)),
    tree,
    value,
    options,
  )
}

/**
 * Validates without a pause. Undefined: it would take long, because rules are expensive, many, or not compiled yet. The
 * caller then validates in parts.
 */
export function validateAtOnce(tree: RuleTree, value: Json, options: RuleValidation = {}): RuleProblems | undefined {
  try {
    return validated(new Validation(options.budget ?? RUNTIME_BUDGET, AT_ONCE), tree, value, options)
  } catch (error) {
    if (error !== DEAR) throw error
    return undefined
  }
}

function validated(
  validation: Validation,
  tree: RuleTree,
  value: Json,
  { at = FieldPath.root, old, ratchets = false }: RuleValidation,
): RuleProblems {
  const correlated =
    ratchets && old !== undefined ? kept(tree, () => new Correlated(value, old, tree.schema)) : undefined
  try {
    if (!validation.isOver) validation.visit(tree, value, old, at, { here: correlated, isRoot: true })
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    validation.isOver = true
  }
  const { errors, warnings, remaining, isOver } = validation
  return { errors, warnings, remaining: isOver ? -1 : remaining }
}

/** The cost of a validation without a pause: some milliseconds. */
const AT_ONCE = 50_000
/** The time to visit a value or a rule, in units of cost. */
const VISITED = 10
/** The time to compile a character of a rule, in units of cost. */
const COMPILED = 12

/** Ends a validation without a pause that would take long. */
const DEAR = new Error('assertion failed: a validation at once was given up that nobody does in parts')

/** The units of cost in one step of an evaluation, and the units that count as one item of a part (base/parts.ts). */
const STEP = 20_000
const UNITS_OF_ITEM = 10

/** The correlated old value at a path, or at the nearest path above that has one. */
interface Place {
  readonly here?: Correlated | undefined
  readonly above?: Correlated | undefined
  readonly isRoot?: boolean
}

/** Ends the validation after its cause has been reported. */
class BudgetSpent extends Error {}

const NO_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run'

class Validation {
  readonly errors: FieldError[] = []
  readonly warnings: FieldError[] = []

  /** The validation has ended early, so the remaining rules do not run. */
  isOver = false

  /** @param allowance units that may be spent without a pause */
  constructor(
    public remaining: number,
    private allowance: number,
  ) {}

  visit(tree: RuleTree, value: Json, old: Json | undefined, at: FieldPath, place: Place): void {
    if (value === null) return
    this.take(VISITED)
    if (tree.rules !== undefined) this.checkRules(tree, value, old ?? undefined, at, place)
    if (Array.isArray(value)) this.visitItems(tree, value, old, at, place)
    else if (isJsonObject(value)) {
      const before = isJsonObject(old) ? old : {}
      eachName(value, sortedKeys, (name) => {
        const below = tree.values ?? tree.properties.get(name)
        if (below === undefined) return
        const here = tree.values === undefined ? at.child(name) : at.key(name)
        this.visit(below, value[name]!, ownValue(before, name), here, keyPlace(place, name))
      })
    }
  }

  private visitItems(tree: RuleTree, items: readonly Json[], old: Json | undefined, at: FieldPath, place: Place): void {
    const { items: below } = tree
    if (below === undefined) return
    const oldItem = kept(items, () => correlatedItems(tree.schema, Array.isArray(old) ? old : []))
    eachPart(items, (item, index) => {
      const inside = place.here === undefined ? place : { here: place.here.index(index), above: place.here }
      this.visit(below, item, oldItem(item), at.index(index), inside)
    })
  }

  /** @throws DEAR */
  private take(units: number): void {
    this.allowance -= units
    if (this.allowance < 0) throw DEAR
  }

  private checkRules(tree: RuleTree, value: Json, old: Json | undefined, at: FieldPath, place: Place): void {
    const compiled = tree.rules!()
    if (!goesInParts()) {
      timed('evaluation', () => this.evaluateRules(tree, compiled, value, old, at, place))
      return
    }
    const began = kept(tree, () => startTime())
    this.evaluateRules(tree, compiled, value, old, at, place)
    kept(tree, () => noteTime('evaluation', began))
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
      kept(tree, () => this.errors.push(whole(`rule compiler initialization error: ${why}`)))
      return
    }
    kept(tree, () => {
      if (this.remaining <= 0) this.end(whole(NO_BUDGET))
    })
    const { node, rules, hasMessageOfOld } = compiled
    const hasOld = old !== undefined && (!hasMessageOfOld || someNamesOld(rules))
    const self = valueOf(value, node)
    const plain: Variables = (name) =>
      name === 'self' ? self : name === 'oldSelf' && hasOld ? valueOf(old, node) : undefined
    eachPart(
      rules,
      (lazyRule) => {
        this.take(VISITED + (lazyRule.isCompiled ? 0 : weightOfRule(lazyRule) * COMPILED))
        const rule = lazyRule.compileInParts()
        const { source, usesOldSelf } = rule
        if ((source.rule ?? '').trim() === '') return // validation of the definition requires one
        if (rule.rule.program === undefined) {
          this.errors.push(whole(`rule compile error: ${rule.rule.problem}`))
          return
        }
        if (usesOldSelf && old === undefined && !source.optionalOldSelf) return
        const variables = source.optionalOldSelf ? optionalOld(plain, node, old) : plain
        const result = this.run(rule.rule, variables)
        const problem = kept(rule, () => this.problemOf(result, source, whole))
        if (problem !== undefined) this.errors.push(problem)
        else if (result.value !== true) this.refuse(rule, tree, value, at, place, plain)
      },
      (lazyRule) => (lazyRule.isCompiled ? 1 : weightOfRule(lazyRule)),
    )
  }

  /** The error of a failed evaluation; undefined if it has a result. @throws BudgetSpent */
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

  /** The result of a messageExpression. Undefined: it cannot be used as a message. */
  private message(
    expression: CompiledExpression,
    { messageExpression = '' }: ValidationRule,
    variables: Variables,
    wrong: (why: string) => never,
  ): string | undefined {
    const { value, cost, isOver } = this.run(expression, variables)
    kept(expression, () => {
      if (cost > this.remaining)
        wrong(
          'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
        )
      if (isOver)
        wrong(
          `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${goQuote(messageExpression)}`,
        )
      this.remaining -= cost
    })
    if (typeof value !== 'string') return undefined
    const text = value.trim()
    return text === '' || text.includes('\n') || new TextEncoder().encode(text).length > MAX_MESSAGE_BYTES
      ? undefined
      : text
  }

  private run(expression: CompiledExpression, variables: Variables): Run {
    const limit = Math.min(PER_CALL_LIMIT, this.allowance)
    try {
      if (goesInParts()) return { ...inSteps(expression, variables), isOver: false }
      const result = expression.program.run(variables, limit)
      this.take(result.cost)
      return { ...result, isOver: false }
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error
      if (limit < PER_CALL_LIMIT) throw DEAR
      return { value: null, cost: error.cost, isOver: true }
    }
  }

  private end(error: FieldError): never {
    this.errors.push(error)
    throw new BudgetSpent()
  }
}

/** @throws CostExceeded */
function inSteps(expression: CompiledExpression, variables: Variables): Result {
  const started = kept(expression, () => expression.program.start(variables, PER_CALL_LIMIT))
  forAsLong(() => {
    if (started.result !== undefined) return false
    const cost = started.goOn(STEP)?.cost ?? STEP
    return 1 + Math.ceil(Math.min(STEP, cost) / UNITS_OF_ITEM)
  })
  return started.result!
}

function someNamesOld(rules: readonly Rule[]): boolean {
  const answer = kept(rules, () => ({ isYes: false }))
  eachPart(rules, ({ compiled }) => !(answer.isYes = compiled.usesOldSelf), weightOfRule)
  return answer.isYes
}

interface Run extends Result {
  readonly isOver: boolean
}

/** apiVersion and kind count as changed. Both objects have been converted to one version, which hides a change. */
function keyPlace(place: Place, name: string): Place {
  if (place.here === undefined) return place
  if (place.isRoot && (name === 'apiVersion' || name === 'kind')) return {}
  return { here: place.here.key(name), above: place.here }
}

const optionalOld =
  (plain: Variables, node: SchemaNode, old: Json | undefined): Variables =>
  (name) =>
    name !== 'oldSelf' ? plain(name) : old === undefined ? Optional.none : new Optional(valueInOptional(old, node))

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
