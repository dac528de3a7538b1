/**
 * Whether the rules of a CustomResourceDefinition compile and what they may cost (apiextensions' CELSchemaContext). How
 * often a rule may run in one object follows from the sizes of the lists and maps around it, or, where one of these has no
 * limit, from how often its smallest value fits into a request.
 */
import type { JSONSchemaProps, ValidationRule } from '../api/apiextensions/v1.ts'
import type { FieldError, FieldPath } from '../api/field.ts'
import { forbiddenField, internalFieldError, invalidValue } from '../api/field.ts'
import type { JsonObject } from '../api/object.ts'
import { eachPart, kept, undivided } from '../api/parts.ts'
import { MAX_COST } from '../cel/estimate.ts'
import { internalRule } from '../validation/apiextensions/internal-form.ts'
import type { RuleScope } from './rule-scope.ts'
import { structuralOf } from '../schema/from-openapi.ts'
import type { Structural } from '../schema/structural.ts'
import type { CompiledRule, MaybeCompiled } from './schema-rules.ts'
import { compileRules, weightOfRule } from './schema-rules.ts'
import { maxCardinality } from './schema-types.ts'

/** The limit of one rule, for all values for which it may run. */
const RULE_LIMIT = 10_000_000
/** The limit of all rules of a schema. */
const SCHEMA_LIMIT = 100_000_000
/** Rules that are named where all together are too expensive. */
const MAX_NAMED = 4

const ADVICE =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'

export interface DefinitionRules {
  readonly root: RuleScope
  /** Errors of single rules, in the order of their places. */
  readonly errors: readonly FieldError[]
  /** Errors of all rules together. */
  totalErrors(at: FieldPath): readonly FieldError[]
}

/** @param isUnchanged the version's schema is that of before: no rule is refused for its own cost */
export function definitionRules(schema: JSONSchemaProps, isUnchanged: boolean): DefinitionRules {
  const rules = new SchemaRules(isUnchanged)
  // a schema is JSON, but its interface does not say so
  return { root: new Scope(rules, schema, structuralOf(schema as unknown as JsonObject), true, 1), ...rules.answers }
}

class SchemaRules {
  private readonly errors: FieldError[] = []
  private total = 0
  private expensive: { readonly at: FieldPath; readonly cost: number }[] = []

  constructor(private readonly isUnchanged: boolean) {}

  get answers(): Omit<DefinitionRules, 'root'> {
    return { errors: this.errors, totalErrors: (at) => this.totalErrors(at) }
  }

  tell(error: FieldError): void {
    this.errors.push(error)
  }

  spend(what: string, cost: number, at: FieldPath): void {
    if (!this.isUnchanged && cost > RULE_LIMIT) this.tell(forbiddenField(at, costText(what, cost, RULE_LIMIT)))
    this.total = Math.min(this.total + cost, MAX_COST)
    if (cost < SCHEMA_LIMIT / 100) return
    this.expensive = [...this.expensive, { at, cost }].sort((a, b) => b.cost - a.cost).slice(0, MAX_NAMED)
  }

  private totalErrors(at: FieldPath): readonly FieldError[] {
    if (this.total <= SCHEMA_LIMIT) return []
    const why = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    return [
      ...this.expensive.map((rule) => forbiddenField(rule.at, why)),
      forbiddenField(at, costText(what, this.total, SCHEMA_LIMIT)),
    ]
  }
}

class Scope implements RuleScope {
  constructor(
    private readonly all: SchemaRules,
    private readonly schema: JSONSchemaProps,
    private readonly structural: Structural,
    private readonly isRoot: boolean,
    /** How many values there may be here; undefined: any number. */
    private readonly cardinality: number | undefined,
    /** Below a list whose elements have no identity, values have no old ones. */
    private readonly uncorrelated?: FieldPath,
  ) {}

  property(schema: JSONSchemaProps, name: string): RuleScope {
    const { structural } = this
    return this.below(schema, structural.shape === 'struct' ? structural.field(name)?.type : undefined)
  }

  values(schema: JSONSchemaProps): RuleScope {
    const { structural } = this
    return this.below(schema, structural.shape === 'map' ? structural.value : undefined)
  }

  items(schema: JSONSchemaProps, at: FieldPath): RuleScope {
    const { structural } = this
    const isCorrelated = this.schema['x-kubernetes-list-type'] === 'map'
    return this.below(
      schema,
      structural.shape === 'list' ? structural.element : undefined,
      isCorrelated ? undefined : at,
    )
  }

  /** @param structural undefined: the type around does not know the schema, which is read for itself */
  private below(schema: JSONSchemaProps, structural: Structural | undefined, uncorrelated?: FieldPath): RuleScope {
    const factor = elementsOf(this.schema)
    const { cardinality } = this
    return new Scope(
      this.all,
      schema,
      structural ?? structuralOf(schema as unknown as JsonObject),
      schema['x-kubernetes-embedded-resource'] === true,
      cardinality === undefined || factor === undefined ? undefined : Math.min(cardinality * factor, MAX_COST),
      this.uncorrelated ?? uncorrelated,
    )
  }

  check(at: FieldPath): void {
    const sources = this.schema['x-kubernetes-validations'] ?? []
    const here = at.child('x-kubernetes-validations')
    const { rules, times } = kept(sources, () => {
      const compiled = compileRules(sources, this.structural, this.isRoot)
      if (compiled === undefined) this.tellUntyped(here)
      return {
        rules: compiled?.rules ?? [],
        times: this.cardinality ?? (compiled === undefined ? 0 : maxCardinality(compiled.node)),
      }
    })
    eachPart(
      rules,
      (rule, index) => {
        const compiled = rule.compileInParts()
        undivided(() => this.checkRule(compiled, here.index(index), times))
      },
      weightOfRule,
    )
  }

  private tellUntyped(at: FieldPath): void {
    const why = 'unable to convert structural schema to CEL declarations'
    this.all.tell(
      internalFieldError(
        at,
        `internal error: failed to construct type information for x-kubernetes-validations rules: ${why}`,
      ),
    )
  }

  private checkRule({ source, rule, message, usesOldSelf }: CompiledRule, at: FieldPath, times: number): void {
    const { all } = this
    all.spend('estimated rule cost', Math.min(costOf(rule) * times, MAX_COST), at.child('rule'))
    this.tellProblem(rule, source, at.child('rule'))
    if (message !== undefined) {
      this.tellProblem(message, source, at.child('messageExpression'))
      if (message.program !== undefined)
        all.spend('estimated messageExpression cost', message.maxCost, at.child('messageExpression'))
    }
    if (usesOldSelf && this.uncorrelated !== undefined)
      all.tell(
        invalidValue(
          at.child('rule'),
          source.rule ?? '',
          `oldSelf cannot be used on the uncorrelatable portion of the schema within ${this.uncorrelated.toString()}`,
        ),
      )
    if (!usesOldSelf && source.optionalOldSelf !== undefined)
      all.tell(
        invalidValue(
          at.child('optionalOldSelf'),
          source.optionalOldSelf,
          'may not be set if oldSelf is not used in rule',
        ),
      )
  }

  private tellProblem(compiled: MaybeCompiled, source: ValidationRule, at: FieldPath): void {
    if (compiled.program === undefined) this.all.tell(invalidValue(at, internalRule(source), compiled.problem))
  }
}

const costOf = (compiled: MaybeCompiled): number => (compiled.program === undefined ? 0 : compiled.maxCost)

/** How many values below it a value may have for each place in its schema; undefined: any number. */
function elementsOf(schema: JSONSchemaProps): number | undefined {
  const limit = (size: number | undefined): number | undefined => (size === undefined ? undefined : Math.max(0, size))
  if (schema.type === 'array') return limit(schema.maxItems)
  const { additionalProperties: values } = schema
  const isMap = schema.type === 'object' && values !== undefined && values !== null
  return isMap ? limit(schema.maxProperties) : 1
}

function costText(what: string, cost: number, limit: number): string {
  const factor = cost / limit
  const times = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${tenths(factor)}x`
  return `${what} exceeds budget by factor of ${times} ${ADVICE}`
}

/** As Go, it rounds a value halfway between two figures to the even one. */
const tenths = (value: number): string => (value % 1 === 0.25 ? (value - 0.05).toFixed(1) : value.toFixed(1))
