/** Compiles the rules of one schema node (x-kubernetes-validations), with their errors and their estimated cost. */
import { timed } from './expression-times.ts'
import type { ValidationRule } from '../api/apiextensions/v1.ts'
import { lazy } from '../base/lazy.ts'
import { forAsLong, PART } from '../base/parts.ts'
import type { Steps } from '../base/slices.ts'
import { atOnce } from '../base/slices.ts'
import type { Expression } from '../cel/syntax/ast.ts'
import type { CheckedExpression } from '../cel/checker/checker.ts'
import { compileInSteps } from '../cel/compile.ts'
import type { Environment } from '../cel/environment.ts'
import { estimateInSteps } from '../cel/estimate.ts'
import type { Program } from '../cel/evaluation/program.ts'
import { ProgramError, programInSteps } from '../cel/evaluation/program.ts'
import { childrenOf } from '../cel/checker/validators.ts'
import type { Structural } from '../schema/structural.ts'
import { weightOfExpressions } from '../validation/errors-of.ts'
import { ruleEnvironment } from './environments.ts'
import type { SchemaNode } from './schema-types.ts'
import { declaredTypeOf, sizesOf } from './schema-types.ts'

export interface CompiledExpression {
  readonly program: Program
  /** The maximum cost for the sizes that the schema allows. */
  readonly maxCost: number
}

/** A compiled expression, or the reason why it does not compile. */
export type MaybeCompiled = CompiledExpression | { readonly program?: undefined; readonly problem: string }

export interface CompiledRule {
  readonly source: ValidationRule
  /** A transition rule. Without an old value it does not run, unless it sets optionalOldSelf. */
  readonly usesOldSelf: boolean
  readonly rule: MaybeCompiled
  /** Absent if the rule has no messageExpression, or if the rule itself does not compile. */
  readonly message?: MaybeCompiled
}

/** A rule that is compiled on first use. */
export interface Rule {
  readonly source: ValidationRule
  readonly isCompiled: boolean
  readonly compiled: CompiledRule
  /** Like `compiled`, for a walk in parts (base/parts.ts). Compiling a long rule takes several parts. */
  compileInParts(): CompiledRule
}

export interface CompiledRules {
  readonly node: SchemaNode
  readonly rules: readonly Rule[]
  /** Whether a messageExpression contains `oldSelf`, which then has a value only if a rule of the same node uses it. */
  readonly hasMessageOfOld: boolean
}

/**
 * The name of the type of `self` in messages. kube-apiserver generates a name with a number for each definition, so
 * that no rule relies on it.
 */
const SELF_TYPE = 'selfType1'

/**
 * @param isRoot whether the schema is that of an API object or of an embedded resource
 * @returns undefined if expressions cannot see values of the schema
 */
export function compileRules(
  rules: readonly ValidationRule[],
  schema: Structural,
  isRoot: boolean,
): CompiledRules | undefined {
  const declared = declaredTypeOf(schema, SELF_TYPE, isRoot)
  if (declared === undefined) return undefined
  const always = lazy(() => ruleEnvironment(declared, false))
  const optional = lazy(() => ruleEnvironment(declared, true))
  return {
    node: declared.node,
    rules: rules.map((rule) => new LazyRule(rule, rule.optionalOldSelf === true ? optional : always, declared.node)),
    hasMessageOfOld: rules.some(({ messageExpression = '' }) => messageExpression.includes('oldSelf')),
  }
}

class LazyRule implements Rule {
  private made: CompiledRule | undefined
  private steps: Steps<CompiledRule> | undefined

  constructor(
    readonly source: ValidationRule,
    private readonly environment: () => Environment,
    private readonly node: SchemaNode,
  ) {}

  get isCompiled(): boolean {
    return this.made !== undefined
  }

  get compiled(): CompiledRule {
    return (this.made ??= timed('compilation', () => atOnce(this.begun())))
  }

  compileInParts(): CompiledRule {
    const { rule = '', messageExpression = '' } = this.source
    if (rule.length + messageExpression.length < LONG) return this.compiled
    forAsLong(() => {
      if (this.made !== undefined) return false
      const { done, value } = this.begun().next(true)
      if (done === true) this.made = value
      return PART
    })
    return this.compiled
  }

  private begun(): Steps<CompiledRule> {
    return (this.steps ??= compileRule(this.source, this.environment(), this.node))
  }
}

/** Compiling an expression of this many characters takes some milliseconds. */
const LONG = 8 * 1024

/** The weight of a rule in a loop that compiles it (base/parts.ts). */
export const weightOfRule = ({ source: { rule = '', messageExpression = '' } }: Rule): number =>
  weightOfExpressions(rule, messageExpression)

function* compileRule(source: ValidationRule, environment: Environment, node: SchemaNode): Steps<CompiledRule> {
  const { rule: text = '', messageExpression = '' } = source
  const { expression, ...rule } = yield* compileExpression(text, environment, node, RULE)
  const usesOldSelf = expression !== undefined && names(expression.root, 'oldSelf')
  if (rule.program === undefined || messageExpression === '') return { source, usesOldSelf, rule }
  const { expression: _, ...message } = yield* compileExpression(messageExpression, environment, node, MESSAGE)
  return { source, usesOldSelf, rule, message }
}

interface Kind {
  readonly type: 'bool' | 'string'
  readonly prefix: string
  readonly wrongType: string
  readonly program: string
}

const RULE: Kind = {
  type: 'bool',
  prefix: '',
  wrongType: 'cel expression must evaluate to a bool',
  program: 'program instantiation',
}
const MESSAGE: Kind = {
  type: 'string',
  prefix: 'messageExpression ',
  wrongType: 'messageExpression must evaluate to a string',
  program: 'messageExpression instantiation',
}

function* compileExpression(
  text: string,
  environment: Environment,
  node: SchemaNode,
  kind: Kind,
): Steps<MaybeCompiled & { readonly expression?: CheckedExpression }> {
  const { expression, issues } = yield* compileInSteps(text, environment)
  if (expression === undefined) return { problem: `${kind.prefix}compilation failed: ${issues}` }
  if (expression.type.kind !== kind.type) return { problem: kind.wrongType }
  try {
    yield
    const program = yield* programInSteps(expression, environment)
    yield
    return { program, maxCost: (yield* estimateInSteps(expression, sizesOf(node))).max, expression }
  } catch (error) {
    if (error instanceof ProgramError) return { problem: `${kind.program} failed: ${error.message}`, expression }
    throw error
  }
}

const names = (node: Expression, variable: string): boolean =>
  (node.kind === 'identifier' && node.name === variable) || childrenOf(node).some((child) => names(child, variable))
