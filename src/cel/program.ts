/**
 * A checked expression as closures: nothing is looked up by name or type while it runs that was known before. Every step
 * adds what it costs to the frame, and a frame over its limit ends the evaluation (cel-go's cost tracking, with whose
 * figures the costs agree).
 */
import type { Call, Comprehension, Expression } from './ast.ts'
import type { CheckedExpression } from './checker.ts'
import { compiledPattern, isFound } from './patterns.ts'
import { listFrom, mapKey, ValueMap } from './collections.ts'
import type { Environment } from './environment.ts'
import type { FunctionDeclaration, Overload, Run } from './declarations.ts'
import { noSuchOverload } from './numbers.ts'
import { Attribute, relative, unusableKey } from './attribute.ts'
import { describe, goTypeName } from './describe.ts'
import type { Value } from './value.ts'
import { CostExceeded, Frame, STOP, Stops } from './frame.ts'
import type { Items, Variables } from './frame.ts'
import { calling, runOf } from './calls.ts'
import { metered, WorkExceeded } from './work.ts'
import { CelError, ListValue, MapValue, Optional, Uint } from './value.ts'

/** An expression cannot run, whatever its variables are: a literal in it does not convert. */
export class ProgramError extends Error {}

/** Evaluates a node; answers an error value instead of throwing. */
export type Step = (frame: Frame) => Value

export interface Result {
  readonly value: Value
  readonly cost: number
}

export interface Program {
  /** At once. @throws CostExceeded */
  run(variables: Variables, costLimit: number): Result
  /** In steps, for what may be dear. The value and the cost are those that it has at once. */
  start(variables: Variables, costLimit: number): Started
}

/** An evaluation under way. */
export interface Started {
  /** Once it has ended. */
  readonly result: Result | undefined
  /**
   * About so many units more. What is thrown by a variable ends the step, and the next one asks for it again.
   * @throws CostExceeded
   */
  goOn(units: number): Result | undefined
}

/** What is done for one unit of cost: as many characters as a traversal reads for it. */
const WORK_OF_COST = 10
/** Most evaluations do less, and cost what they cost in kube-apiserver. */
const FREE_WORK = 10_000

/** @throws ProgramError */
export function programOf(checked: CheckedExpression, environment: Environment): Program {
  const step = new Planner(checked, environment).plan(checked.root).evaluate
  return {
    run: (variables, costLimit) => evaluated(step, new Frame(variables, costLimit), costLimit),
    start: (variables, costLimit) => new InSteps(step, variables, costLimit),
  }
}

/** @throws CostExceeded, and what variables and stops throw */
function evaluated(step: Step, frame: Frame, costLimit: number): Result {
  try {
    const { made, done } = metered(FREE_WORK + costLimit * WORK_OF_COST, () => step(frame))
    return { value: made, cost: Math.max(frame.cost, Math.floor((done - FREE_WORK) / WORK_OF_COST)) }
  } catch (error) {
    if (error instanceof WorkExceeded) throw new CostExceeded(Math.max(frame.cost, costLimit + 1))
    // the stack is too small for values that nest so deep
    if (error instanceof RangeError) return { value: new CelError('evaluation nests too deep'), cost: frame.cost }
    throw error
  }
}

class InSteps implements Started {
  result: Result | undefined
  private readonly stops = new Stops()
  private readonly frame: Frame

  constructor(
    private readonly step: Step,
    variables: Variables,
    private readonly costLimit: number,
  ) {
    this.frame = new Frame(variables, costLimit, this.stops)
  }

  goOn(units: number): Result | undefined {
    if (this.result !== undefined) return this.result
    const { frame, stops } = this
    frame.cost = 0
    stops.begin(units, units * WORK_OF_COST)
    try {
      this.result = evaluated(this.step, frame, this.costLimit)
    } catch (error) {
      stops.undo(frame)
      if (error !== STOP) throw error
    }
    return this.result
  }
}

/** A planned node. */
export interface Planned {
  readonly evaluate: Step
  readonly attribute?: Attribute
  /** Known before anything runs. */
  readonly constant?: { readonly value: Value }
}

const constant = (value: Value): Planned => ({ evaluate: () => value, constant: { value } })
const conversions: ReadonlySet<string> = new Set(
  'bool bytes double duration dyn int string timestamp type uint'.split(' '),
)

class Planner {
  /** Slots of the variables of the folds around a node. */
  private readonly scopes: ReadonlyMap<string, Step>[] = []
  private slots = 0

  constructor(
    private readonly checked: CheckedExpression,
    private readonly environment: Environment,
  ) {}

  plan(node: Expression): Planned {
    switch (node.kind) {
      case 'literal':
        return constant(node.value)
      case 'identifier':
        return this.identifier(node.name)
      case 'select':
        return this.select(node)
      case 'call':
        return this.call(node)
      case 'list':
        return this.list(node)
      case 'map':
        return this.map(node)
      case 'struct':
        return this.struct(node)
      case 'comprehension':
        return this.fold(node)
    }
  }

  private identifier(name: string): Planned {
    for (let i = this.scopes.length - 1; i >= 0; i--) {
      const local = this.scopes[i]!.get(name)
      if (local !== undefined) return attributed(Attribute.of(local))
    }
    const named = this.environment.isVariable(name) ? undefined : this.environment.typeValue(name)
    if (named !== undefined) {
      const { types } = this.environment
      if (types.findStruct(name) !== undefined && types.isValue?.(name) === false)
        throw new ProgramError(`reference to undefined type: ${name}`)
      return constant(named)
    }
    return attributed(
      Attribute.of((frame) => {
        const value = frame.variables(name)
        return value === undefined ? new CelError(`no such attribute(s): ${name}`) : value
      }),
    )
  }

  private select(node: Expression & { kind: 'select' }): Planned {
    const operand = relative(this.plan(node.operand))
    return node.testOnly ? { evaluate: operand.presence(node.field) } : attributed(operand.field(node.field))
  }

  private call(node: Call): Planned {
    switch (node.function) {
      case '_&&_':
        return {
          evaluate: logic(
            node.args.map((argument) => this.plan(argument).evaluate),
            false,
          ),
        }
      case '_||_':
        return {
          evaluate: logic(
            node.args.map((argument) => this.plan(argument).evaluate),
            true,
          ),
        }
      case '_?_:_':
        return this.conditional(node)
      case '_[_]':
        return attributed(this.indexed(node, false))
      case '_[?_]':
        return attributed(this.indexed(node, true))
      case '_?._': {
        const [operand, field] = node.args
        const name = field?.kind === 'literal' ? field.value : undefined
        return attributed(relative(this.plan(operand!)).optionalField(String(name)))
      }
      default:
        return this.functionCall(node)
    }
  }

  private indexed({ args: [operand, index] }: Call, optional: boolean): Attribute {
    const target = relative(this.plan(operand!))
    const planned = this.plan(index!)
    const unusable = planned.constant && unusableKey(planned.constant.value)
    if (unusable !== undefined) throw new ProgramError(`invalid qualifier type: ${unusable}`)
    return target.index(planned, optional)
  }

  private conditional({ args }: Call): Planned {
    const [condition, yes, no] = args.map((argument) => this.plan(argument))
    return attributed(Attribute.conditional(condition!.evaluate, relative(yes!), relative(no!)))
  }

  private functionCall(node: Call): Planned {
    const declared = this.environment.function(node.function)
    if (declared === undefined) throw new Error(`assertion failed: ${node.function} was checked and is not declared`)
    const nodes = node.target === undefined ? node.args : [node.target, ...node.args]
    const args = nodes.map((argument) => this.plan(argument))
    const overloads = this.checked.overloads.get(node.id) ?? []
    const single = overloads.length === 1 ? overloads[0] : undefined
    if (single?.id === 'optional_or_optional' || single?.id === 'optional_orValue_value')
      return { evaluate: alternative(args[0]!.evaluate, args[1]!.evaluate, single.id === 'optional_orValue_value') }
    const literal = declared.pattern === undefined ? undefined : args[declared.pattern]?.constant?.value
    const pattern = typeof literal === 'string' ? compiledPattern(literal) : undefined
    if (pattern instanceof CelError) throw new ProgramError(pattern.message)
    const folded = this.foldedCall(node, declared, args, single)
    if (folded !== undefined) return folded
    const run = runOf(declared, single, overloads)
    return {
      evaluate: calling(
        args.map(({ evaluate }) => evaluate),
        run,
        single,
        declared.cost,
      ),
    }
  }

  /** What the planner computes once: conversions of literals, membership in a literal list, literal patterns. */
  private foldedCall(
    node: Call,
    declared: FunctionDeclaration,
    args: readonly Planned[],
    single: Overload | undefined,
  ): Planned | undefined {
    const [first, second] = args
    if (single?.id === 'in_list' && second?.constant !== undefined) return membership(first!, second.constant.value)
    if (declared.name === 'matches' && typeof second?.constant?.value === 'string') {
      const pattern = compiledPattern(second.constant.value)
      if (pattern instanceof CelError) throw new ProgramError(pattern.message)
      const run: Run = ([text]) => (typeof text === 'string' ? isFound(pattern, text) : noSuchOverload())
      return {
        evaluate: calling(
          args.map(({ evaluate }) => evaluate),
          run,
          single,
        ),
      }
    }
    if (args.length !== 1 || !conversions.has(declared.name) || first?.constant === undefined) return undefined
    const value = runOf(declared, single, this.checked.overloads.get(node.id) ?? [])([first.constant.value])
    if (value instanceof CelError) throw new ProgramError(value.message)
    return constant(value)
  }

  private list(node: Expression & { kind: 'list' }): Planned {
    const elements = node.elements.map((element) => this.plan(element))
    if (node.optional.size === 0 && elements.every(isConstant)) {
      const values = elements.map((element) => element.constant!.value)
      return constant(listFrom(values))
    }
    const steps = elements.map(({ evaluate }, index) => ({ evaluate, optional: node.optional.has(index) }))
    return spending(10, (frame) => {
      const values: Value[] = []
      for (const { evaluate, optional } of steps) {
        const value = evaluate(frame)
        if (value instanceof CelError) return value
        if (!optional) values.push(value)
        else if (!(value instanceof Optional))
          return new CelError(`cannot initialize optional list element from non-optional value ${describe(value)}`)
        else if (value.value !== undefined) values.push(value.value)
      }
      return listFrom(values)
    })
  }

  private map(node: Expression & { kind: 'map' }): Planned {
    const entries = node.entries.map(({ key, value, optional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      optional,
    }))
    if (entries.every(({ key, value, optional }) => !optional && isConstant(key) && isConstant(value)))
      return constant(
        ValueMap.of(entries.map(({ key, value }) => [key.constant!.value, value.constant!.value] as const)),
      )
    return spending(30, (frame) => {
      const made = new Map<unknown, readonly [Value, Value]>()
      for (const entry of entries) {
        const key = entry.key.evaluate(frame)
        if (key instanceof CelError) return key
        let value = entry.value.evaluate(frame)
        if (value instanceof CelError) return value
        if (entry.optional) {
          if (!(value instanceof Optional))
            return new CelError(
              `cannot initialize optional entry '${describe(key)}' from non-optional value ${describe(value)}`,
            )
          if (value.value === undefined) {
            made.delete(mapKey(key))
            continue
          }
          value = value.value
        }
        made.set(mapKey(key), [key, value])
      }
      return ValueMap.of(made.values())
    })
  }

  private struct(node: Expression & { kind: 'struct' }): Planned {
    const fields = node.fields.map((field) => ({ ...field, evaluate: this.plan(field.value).evaluate }))
    const { types } = this.environment
    return spending(40, (frame) => {
      const values = new Map<string, Value>()
      for (const { name, optional, evaluate } of fields) {
        let value = evaluate(frame)
        if (value instanceof CelError) return value
        if (optional) {
          if (!(value instanceof Optional))
            return new CelError(`cannot initialize optional entry '${name}' from non-optional value ${describe(value)}`)
          if (value.value === undefined) {
            values.delete(name)
            continue
          }
          value = value.value
        }
        values.set(name, value)
      }
      return types.newStruct?.(node.type, values) ?? new CelError(`unknown type '${node.type}'`)
    })
  }

  private fold(node: Comprehension): Planned {
    const range = this.plan(node.range).evaluate
    const initial = this.plan(node.initial).evaluate
    const accumulator = this.slots++
    // made when it is first asked for: a binding that is not used costs nothing
    const accumulated: Step = (frame) => {
      const known = frame.locals[accumulator]
      if (known !== undefined) return known
      const made = initial(frame)
      frame.stops?.noteMade(accumulator)
      return (frame.locals[accumulator] = made)
    }
    this.scopes.push(new Map([[node.accumulator, accumulated]]))
    const first = this.slots++
    const second = node.secondVariable === undefined ? undefined : this.slots++
    const inSlot =
      (slot: number): Step =>
      (frame) =>
        frame.locals[slot]!
    const variables = new Map([[node.variable, inSlot(first)]])
    if (second !== undefined) variables.set(node.secondVariable!, inSlot(second))
    this.scopes.push(variables)
    const inner = this.slots
    const condition = this.plan(node.condition).evaluate
    const step = this.plan(node.step).evaluate
    const behind = this.slots
    this.scopes.pop()
    const result = this.plan(node.result).evaluate
    this.scopes.pop()
    /** False: the fold is over. */
    const turn = (frame: Frame, one: Value, other: Value): boolean => {
      frame.locals[first] = one
      if (second !== undefined) frame.locals[second] = other
      if (condition(frame) === false) return false
      frame.locals[accumulator] = step(frame)
      return true
    }
    const two = second !== undefined
    const inSteps = (frame: Frame, stops: Stops): Value => {
      let place = stops.resume(accumulator, frame)
      if (place === undefined) {
        const over = range(frame)
        if (over instanceof CelError) return over
        const items = itemsFor(over, two)
        if (items instanceof CelError) return items
        frame.locals[accumulator] = undefined
        place = stops.enter(accumulator, items, frame)
      }
      const { items } = place
      while (place.at < items.size) {
        const goesOn = turn(frame, items.one(place.at), items.other(place.at))
        stops.forget(inner, behind)
        stops.advance(place, frame, goesOn)
      }
      return result(frame)
    }
    return {
      evaluate: (frame) => {
        if (frame.stops !== undefined) return inSteps(frame, frame.stops)
        const over = range(frame)
        if (over instanceof CelError) return over
        frame.locals[accumulator] = undefined
        const problem = each(over, two, (one, other) => turn(frame, one, other))
        return problem ?? result(frame)
      },
    }
  }
}

/** What a fold goes through, by number. */
function itemsFor(range: Value, two: boolean): Items | CelError {
  if (range instanceof ListValue)
    return two
      ? { size: range.size, one: (at) => BigInt(at), other: (at) => range.at(at) }
      : { size: range.size, one: (at) => range.at(at), other: () => null }
  if (range instanceof MapValue) {
    const keys = [...range.keys()]
    return { size: keys.length, one: (at) => keys[at]!, other: (at) => (two ? range.get(keys[at]!)! : null) }
  }
  return notIterable(range, two)
}

function notIterable(range: Value, two: boolean): CelError {
  const type = goTypeName(range)
  return new CelError(two ? `unsupported comprehension range type: ${type}` : `got '${type}', expected iterable type`)
}

/** @returns an error for what cannot be gone through */
function each(range: Value, two: boolean, turn: (one: Value, other: Value) => boolean): CelError | undefined {
  if (range instanceof ListValue) {
    for (let i = 0; i < range.size; i++) {
      const element = range.at(i)
      if (!(two ? turn(BigInt(i), element) : turn(element, null))) return undefined
    }
    return undefined
  }
  if (range instanceof MapValue) {
    for (const key of range.keys()) if (!turn(key, two ? range.get(key)! : null)) return undefined
    return undefined
  }
  return notIterable(range, two)
}

const attributed = (attribute: Attribute): Planned => ({ evaluate: attribute.evaluate, attribute })

/** What it makes costs so much, whether it can be made or not. */
const spending = (cost: number, make: Step): Planned => ({
  evaluate: (frame) => {
    const made = make(frame)
    frame.spend(cost)
    return made
  },
})

/** The second is looked at only where the first is empty. */
function alternative(first: Step, second: Step, unwrap: boolean): Step {
  return (frame) => {
    const value = first(frame)
    if (value instanceof CelError) return value
    if (!(value instanceof Optional)) return noSuchOverload()
    if (value.value === undefined) return second(frame)
    return unwrap ? value.value : value
  }
}

const isConstant = ({ constant: known }: Planned): boolean => known !== undefined

/** `&&` and `||`: what decides counts, whatever failed beside it. */
function logic(terms: readonly Step[], deciding: boolean): Step {
  return (frame) => {
    let problem: CelError | undefined
    for (const term of terms) {
      const value = term(frame)
      if (value === deciding) return deciding
      if (typeof value !== 'boolean') problem ??= value instanceof CelError ? value : noSuchOverload()
    }
    return problem ?? !deciding
  }
}

/** The element types that a set of literals can have. */
const isPrimitive = (value: Value): boolean =>
  value === null || ['string', 'boolean', 'bigint', 'number'].includes(typeof value) || value instanceof Uint

function membership(element: Planned, list: Value): Planned | undefined {
  if (!(list instanceof ListValue)) return undefined
  if (list.size === 0) return constant(false)
  const keys = new Set<unknown>()
  for (let i = 0; i < list.size; i++) {
    const one = list.at(i)
    if (!isPrimitive(one)) return undefined
    keys.add(one === null ? null : mapKey(one))
  }
  return {
    evaluate: (frame) => {
      const value = element.evaluate(frame)
      if (value instanceof CelError) return value
      const key = value === null ? null : mapKey(value)
      return key !== undefined && keys.has(key)
    },
  }
}
