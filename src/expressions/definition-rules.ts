/**
 * Compiles the rules of a CustomResourceDefinition and estimates their cost (apiextensions' CELSchemaContext). The size
 * limits of the lists and maps around a rule determine how often it may run in one object. If one of them has no limit,
 * the number is how often its smallest value fits into a request.
 */
import type { JSONSchemaProps, ValidationRule } from '../api/apiextensions/v1.ts'
import type { FieldError, FieldPath } from '../api/field.ts'
import { forbiddenField, internalFieldError, invalidValue } from '../api/field.ts'
import type { JsonObject } from '../api/object.ts'
import { eachPart, kept, undivided } from '../base/parts.ts'
import { MAX_COST } from '../cel/estimate.ts'
import { internalRule } from '../validation/apiextensions/internal-form.ts'
import type { RuleScope } from './rule-scope.ts'
import { structuralOf } from '../schema/from-openapi.ts'
import type { Structural } from '../schema/structural.ts'
import type { CompiledRule, MaybeCompiled } from './schema-rules.ts'
import { compileRules, weightOfRule } from './schema-rules.ts'
import { shapeOf } from './schema-facts.ts'
import { declaredTypeOf, maxCardinality } from './schema-types.ts'

/** The cost limit of one rule, over all values for which it may run. */
const RULE_LIMIT = 10_000_000
/** The cost limit of all rules of a schema. */
const SCHEMA_LIMIT = 100_000_000
/** How many rules the error names if all rules together are too expensive. */
const MAX_NAMED = 4

const ADVICE =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'

export interface DefinitionRules {
  readonly root: RuleScope
  /** The errors of single rules, in the order of their paths. */
  readonly errors: readonly FieldError[]
  /** The errors if all rules together are too expensive. */
  totalErrors(at: FieldPath): readonly FieldError[]
}

/** @param isUnchanged the update keeps the version's schema, so no rule is refused for its own cost */
export function definitionRules(schema: JSONSchemaProps, isUnchanged: boolean): DefinitionRules {
  const rules = new SchemaRules(isUnchanged)
  // a schema is JSON, although its interface has no index signature
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

/**
 * Whether expressions see the values of a schema. Where the schema around it has rules, or one further out,
 * kube-apiserver takes the type from there. It finds none for the items of what is no list, nor for the values of what
 * is no map.
 */
type Sight = 'outside of rules' | 'seen' | 'hidden' | 'without a type'

/** Where a schema stands in the one around it. */
type Step = 'property' | 'value' | 'item'

class Scope implements RuleScope {
  private ownSight: Sight | undefined

  constructor(
    private readonly all: SchemaRules,
    private readonly schema: JSONSchemaProps,
    private readonly structural: Structural,
    private readonly isRoot: boolean,
    /** The most values that an object can have at this node. Undefined: unlimited. */
    private readonly cardinality: number | undefined,
    /**
     * The path of a list around this node whose elements have no keys, or of an object of an unknown map type. Values
     * below it have no old value.
     */
    private readonly uncorrelated?: FieldPath,
    private readonly around?: { readonly scope: Scope; readonly step: Step },
  ) {}

  private get sight(): Sight {
    return (this.ownSight ??= this.findSight())
  }

  private findSight(): Sight {
    const { around } = this
    const outer = around?.scope.sight ?? 'outside of rules'
    if (outer === 'hidden') return 'hidden'
    if (outer === 'seen' && around !== undefined && around.step !== 'property') {
      const { is } = shapeOf(around.scope.structural)
      if (is !== (around.step === 'item' ? 'list' : 'map')) return 'without a type'
    }
    const hasRules = (this.schema['x-kubernetes-validations'] ?? []).length > 0
    if (outer === 'outside of rules' && !hasRules) return 'outside of rules'
    return declaredTypeOf(this.structural, '', this.isRoot) === undefined ? 'hidden' : 'seen'
  }

  property(schema: JSONSchemaProps, name: string, at: FieldPath): RuleScope {
    const { structural } = this
    const mapType = this.schema['x-kubernetes-map-type']
    // kube-apiserver expects nothing of a map type that it does not know
    const isCorrelated = mapType === undefined || mapType === 'granular' || mapType === 'atomic'
    return this.below(
      schema,
      'property',
      structural.shape === 'struct' ? structural.field(name)?.type : undefined,
      isCorrelated ? undefined : at,
    )
  }

  values(schema: JSONSchemaProps): RuleScope {
    const { structural } = this
    return this.below(schema, 'value', structural.shape === 'map' ? structural.value : undefined)
  }

  items(schema: JSONSchemaProps, at: FieldPath): RuleScope {
    const { structural } = this
    const isCorrelated = this.schema['x-kubernetes-list-type'] === 'map'
    return this.below(
      schema,
      'item',
      structural.shape === 'list' ? structural.element : undefined,
      isCorrelated ? undefined : at,
    )
  }

  /** @param structural undefined: the parent's type does not contain the schema, so it is converted on its own */
  private below(
    schema: JSONSchemaProps,
    step: Step,
    structural: Structural | undefined,
    uncorrelated?: FieldPath,
  ): RuleScope {
    const factor = elementsOf(this.schema)
    const { cardinality } = this
    return new Scope(
      this.all,
      schema,
      structural ?? structuralOf(schema as unknown as JsonObject),
      schema['x-kubernetes-embedded-resource'] === true,
      cardinality === undefined || factor === undefined ? undefined : Math.min(cardinality * factor, MAX_COST),
      this.uncorrelated ?? uncorrelated,
      { scope: this, step },
    )
  }

  check(at: FieldPath): void {
    const sources = this.schema['x-kubernetes-validations'] ?? []
    const here = at.child('x-kubernetes-validations')
    const { rules, times } = kept(sources, () => {
      const { sight } = this
      const compiled = sight === 'seen' ? compileRules(sources, this.structural, this.isRoot) : undefined
      if (compiled === undefined) this.tellUntyped(here, sight)
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

  private tellUntyped(at: FieldPath, sight: Sight): void {
    const why =
      sight === 'without a type'
        ? 'failed to convert to declType for CEL validation rules'
        : 'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations'
    this.all.tell(internalFieldError(at, why))
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

/** The most values that a value can have at a node directly below its own. Undefined: unlimited. */
function elementsOf(schema: JSONSchemaProps): number | undefined {
  const limit = (size: number | bigint | undefined): number | undefined =>
    size === undefined ? undefined : Math.max(0, Number(size))
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

/** One fraction digit. As in Go, a value halfway between two digits is rounded to the even one. */
const tenths = (value: number): string => (value % 1 === 0.25 ? (value - 0.05).toFixed(1) : value.toFixed(1))
