/**
 * Evaluates expressions about one request, one after the other within one budget (apiserver's plugin/cel activation).
 */
import type { Json, JsonObject, KubeObject } from '../../api/object.ts'
import type { JsonLike } from '../../cel/values/json-value.ts'
import { valueOfJson } from '../../cel/values/json-value.ts'
import { STOP } from '../../cel/evaluation/frame.ts'
import type { Program, Result, Started } from '../../cel/evaluation/program.ts'
import type { Value } from '../../cel/values/value.ts'
import { CelError, MapValue } from '../../cel/values/value.ts'
import { goQuote } from '../../go/quote.ts'
import type { AdmissionExpression, CompiledVariable } from '../../expressions/admission-expressions.ts'
import { PER_CALL_LIMIT } from '../../expressions/environments.ts'
import { AuthorizerValue, resourceCheck } from '../../expressions/library/authorizer.ts'
import type { Attributes } from '../attributes.ts'
import type { Decisions } from './decisions.ts'
import { Undecided } from './decisions.ts'
import { atOnce, isDear, isTurnDue, step, turn } from './evaluation-turns.ts'

/** The values of the variables in an expression. */
export interface Subject {
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
  readonly params: KubeObject | undefined
  readonly request: JsonObject
  /** `request` for match conditions, with the resource of the request itself. */
  readonly requestOfConditions: JsonObject
  readonly namespaceObject: JsonObject | undefined
  /** Absent where expressions may not use it. */
  readonly authorizer?: Authorizer
}

export interface Authorizer {
  readonly value: Value
  readonly requestResource: Value
}

export function authorizerOf(
  { user, resource, subresource, namespace, name }: Attributes,
  decisions: Decisions,
): Authorizer {
  const value = new AuthorizerValue(user, decisions.authorize)
  const { group, resource: named } = resource
  return { value, requestResource: resourceCheck(value, { group, resource: named, subresource, namespace, name }) }
}

/** The budget is spent: no further expression runs. */
export class OutOfBudget extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run')
  }
}

export type Evaluated = { readonly value: Value; readonly error?: undefined } | { readonly error: string }

export class Evaluation {
  /** Made on first use, because most policies have none. */
  private variables: Variables | undefined
  private readonly known = new Map<string, Value | undefined>()

  /** @param remaining cost units that all expressions together may spend */
  constructor(
    private readonly subject: Subject,
    private readonly declared: readonly CompiledVariable[],
    public remaining: number,
  ) {}

  /**
   * A promise only where the expression needs turns or decisions: a request may run hundreds that do not.
   * @throws OutOfBudget
   */
  run(expression: AdmissionExpression): Evaluated | Promise<Evaluated> {
    if (expression.program === undefined) return { error: `compilation error: ${expression.problem}` }
    const result = this.decided(expression.program)
    return result instanceof Promise
      ? result.then((ended) => this.charged(expression, ended))
      : this.charged(expression, result)
  }

  private charged(expression: AdmissionExpression, { value, cost }: Result): Evaluated {
    const all = cost + (this.variables?.spent ?? 0)
    if (this.variables !== undefined) this.variables.spent = 0
    if (all > this.remaining) throw new OutOfBudget()
    this.remaining -= all
    return value instanceof CelError
      ? { error: `expression '${expression.text}' resulted in error: ${value.message}` }
      : { value }
  }

  /** Runs at once if it is cheap, else in steps. */
  private decided(program: Program): Result | Promise<Result> {
    if (isTurnDue()) return this.decidedLater(program)
    try {
      return atOnce(program, this.lookUp)
    } catch (error) {
      return this.decidedLater(program, error)
    }
  }

  /**
   * The repeated attempts end, because each authorizer decision has a cost and the budget allows only a few.
   * @param problem the error of an attempt at once
   */
  private async decidedLater(program: Program, problem?: unknown): Promise<Result> {
    if (isTurnDue()) await turn()
    let started: Started | undefined
    for (let error = problem; ;) {
      if (error instanceof Undecided) await error.decide()
      else if (error !== undefined) {
        if (started !== undefined || !isDear(error)) throw error
        started = program.start(this.lookUp, PER_CALL_LIMIT)
      }
      error = undefined
      try {
        if (started === undefined) return atOnce(program, this.lookUp)
        const result = step(started)
        if (result !== undefined) return result
        await turn()
      } catch (caught) {
        error = caught
      }
    }
  }

  private readonly lookUp = (name: string): Value | undefined => {
    if (name === 'variables')
      return (this.variables ??= new Variables(this.declared, this.lookUp, () => this.remaining))
    if (!this.known.has(name)) this.known.set(name, valueNamed(this.subject, name))
    return this.known.get(name)
  }
}

function valueNamed(subject: Subject, name: string): Value | undefined {
  switch (name) {
    case 'object':
    case 'oldObject':
    case 'params':
    case 'request':
    case 'namespaceObject':
      return valueOfObject(subject[name])
    case 'authorizer':
      return subject.authorizer?.value
    case 'authorizer.requestResource':
      return subject.authorizer?.requestResource
    default:
      return undefined
  }
}

// objects of the API are JSON; a member that is undefined is not there
const valueOfObject = (object: KubeObject | JsonObject | undefined): Value =>
  valueOfJson((object ?? null) as unknown as Json as JsonLike)

/** `variables`: each one is evaluated once, on its first use. */
class Variables extends MapValue {
  /** Cost units since the last reset. */
  spent = 0
  private readonly values = new Map<string, Value>()
  /** Dear variables whose evaluation has begun. */
  private readonly started = new Map<string, Started>()
  private readonly byName: ReadonlyMap<string, AdmissionExpression>

  constructor(
    variables: readonly CompiledVariable[],
    private readonly lookUp: (name: string) => Value | undefined,
    private readonly remaining: () => number,
  ) {
    super()
    this.byName = new Map(variables.map(({ name, expression }) => [name, expression]))
  }

  get size(): number {
    return this.byName.size
  }

  keys(): Iterable<Value> {
    return this.byName.keys()
  }

  get(name: Value): Value | undefined {
    if (typeof name !== 'string') return undefined
    const expression = this.byName.get(name)
    if (expression === undefined) return undefined
    let value = this.values.get(name)
    if (value === undefined) this.values.set(name, (value = this.evaluate(name, expression)))
    return value
  }

  private evaluate(name: string, expression: AdmissionExpression): Value {
    const quoted = goQuote(name)
    if (expression.program === undefined)
      return new CelError(`composited variable ${quoted} fails to compile: ${expression.problem}`)
    const { value, cost } = this.resultOf(name, expression.program)
    this.started.delete(name)
    this.spent += cost
    if (this.spent > this.remaining()) throw new OutOfBudget()
    return value instanceof CelError
      ? new CelError(`composited variable ${quoted} fails to evaluate: ${value.message}`)
      : value
  }

  /** @throws STOP where the variable needs another turn: the expression that uses it continues later */
  private resultOf(name: string, program: Program): Result {
    let started = this.started.get(name)
    if (started === undefined) {
      if (isTurnDue()) throw STOP
      try {
        return atOnce(program, this.lookUp)
      } catch (error) {
        if (!isDear(error)) throw error
        this.started.set(name, (started = program.start(this.lookUp, PER_CALL_LIMIT)))
      }
    }
    const result = step(started)
    if (result === undefined) throw STOP
    return result
  }
}
