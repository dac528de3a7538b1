/** Makes a closure of each node of a checked expression. */
import type { Steps } from '../../base/slices.ts'
import { listOf, mapOf, messageOf } from './aggregates.ts'
import type { Call, Comprehension, Expression, Identifier, Literal } from '../syntax/ast.ts'
import { isLeaf } from '../syntax/ast.ts'
import { Attribute, relative, unusableKey } from './attribute.ts'
import { calling, runOf } from './calls.ts'
import type { CheckedExpression } from '../checker/checker.ts'
import type { FunctionDeclaration, Overload, Run } from '../declarations.ts'
import type { Environment } from '../environment.ts'
import { accumulatedIn, foldOf, inSlot } from './fold.ts'
import { noSuchOverload } from '../values/numbers.ts'
import { alternative, logic, membership } from './operators.ts'
import { Pace } from '../pace.ts'
import { compiledPattern, isFound } from '../values/patterns.ts'
import type { PatternProgram } from '../../go/pattern-program.ts'
import type { Planned, Step } from './planned.ts'
import { attributed, constant, ProgramError } from './planned.ts'
import { CelError } from '../values/value.ts'

const conversions: ReadonlySet<string> = new Set(
  'bool bytes double duration dyn int string timestamp type uint'.split(' '),
)

export class Planner {
  /** Variables of the enclosing comprehensions, innermost last. */
  private readonly scopes: ReadonlyMap<string, Step>[] = []
  private slots = 0
  private calls = 0
  private readonly pace = new Pace()

  constructor(
    private readonly checked: CheckedExpression,
    private readonly environment: Environment,
  ) {}

  *plan(node: Expression): Steps<Planned> {
    if (this.pace.isOver()) yield
    switch (node.kind) {
      case 'literal':
      case 'identifier':
        return this.leaf(node)
      case 'select':
        return yield* this.select(node)
      case 'call':
        return yield* this.call(node)
      case 'list':
        return yield* this.list(node)
      case 'map':
        return yield* this.map(node)
      case 'struct':
        return yield* this.struct(node)
      case 'comprehension':
        return yield* this.fold(node)
    }
  }

  private *planAll(nodes: readonly Expression[]): Steps<Planned[]> {
    const planned: Planned[] = []
    for (const node of nodes) {
      planned.push(isLeaf(node) ? this.leaf(node) : yield* this.plan(node))
      if (this.pace.isOver()) yield
    }
    return planned
  }

  private leaf(node: Literal | Identifier): Planned {
    return node.kind === 'literal' ? constant(node.value) : this.identifier(node.name)
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

  private *select(node: Expression & { kind: 'select' }): Steps<Planned> {
    const operand = relative(yield* this.plan(node.operand))
    return node.testOnly ? { evaluate: operand.presence(node.field) } : attributed(operand.field(node.field))
  }

  private *call(node: Call): Steps<Planned> {
    switch (node.function) {
      case '_&&_':
      case '_||_':
        return { evaluate: logic(stepsOf(yield* this.planAll(node.args)), node.function === '_||_') }
      case '_?_:_':
        return yield* this.conditional(node)
      case '_[_]':
        return attributed(yield* this.indexed(node, false))
      case '_[?_]':
        return attributed(yield* this.indexed(node, true))
      case '_?._': {
        const [operand, field] = node.args
        const name = field?.kind === 'literal' ? field.value : undefined
        return attributed(relative(yield* this.plan(operand!)).optionalField(String(name)))
      }
      default:
        return yield* this.functionCall(node)
    }
  }

  private *indexed({ args: [operand, index] }: Call, optional: boolean): Steps<Attribute> {
    const target = relative(yield* this.plan(operand!))
    const planned = yield* this.plan(index!)
    const unusable = planned.constant && unusableKey(planned.constant.value)
    if (unusable !== undefined) throw new ProgramError(`invalid qualifier type: ${unusable}`)
    return target.index(planned, optional)
  }

  private *conditional({ args }: Call): Steps<Planned> {
    const [condition, yes, no] = yield* this.planAll(args)
    return attributed(Attribute.conditional(condition!.evaluate, relative(yes!), relative(no!)))
  }

  private *functionCall(node: Call): Steps<Planned> {
    const declared = this.environment.function(node.function)
    if (declared === undefined) throw new Error(`assertion failed: ${node.function} was checked and is not declared`)
    const nodes = node.target === undefined ? node.args : [node.target, ...node.args]
    const args = yield* this.planAll(nodes)
    const overloads = this.checked.overloads.get(node.id) ?? []
    const single = overloads.length === 1 ? overloads[0] : undefined
    if (single?.id === 'optional_or_optional' || single?.id === 'optional_orValue_value')
      return { evaluate: alternative(args[0]!.evaluate, args[1]!.evaluate, single.id === 'optional_orValue_value') }
    const literal = declared.pattern === undefined ? undefined : args[declared.pattern]?.constant?.value
    const pattern = typeof literal === 'string' ? compiledPattern(literal) : undefined
    if (pattern instanceof CelError) throw new ProgramError(pattern.message)
    if (pattern !== undefined && this.pace.isOver(pattern.weight)) yield
    const folded = this.foldedCall(node, declared, args, single, pattern)
    if (folded !== undefined) return folded
    const run = runOf(declared, single, overloads)
    return {
      evaluate: calling(stepsOf(args), run, single, this.calls++, declared.cost),
    }
  }

  /**
   * Calls that the planner evaluates ahead: conversions of literals, `in` with a list of literals, literal patterns.
   */
  private foldedCall(
    node: Call,
    declared: FunctionDeclaration,
    args: readonly Planned[],
    single: Overload | undefined,
    pattern: PatternProgram | undefined,
  ): Planned | undefined {
    const [first, second] = args
    if (single?.id === 'in_list' && second?.constant !== undefined) return membership(first!, second.constant.value)
    if (declared.name === 'matches' && pattern !== undefined) {
      const run: Run = ([text]) => (typeof text === 'string' ? isFound(pattern, text) : noSuchOverload())
      return {
        evaluate: calling(stepsOf(args), run, single, this.calls++),
      }
    }
    if (args.length !== 1 || !conversions.has(declared.name) || first?.constant === undefined) return undefined
    const value = runOf(declared, single, this.checked.overloads.get(node.id) ?? [])([first.constant.value])
    if (value instanceof CelError) throw new ProgramError(value.message)
    return constant(value)
  }

  private *list(node: Expression & { kind: 'list' }): Steps<Planned> {
    return listOf(yield* this.planAll(node.elements), node.optional)
  }

  private *map(node: Expression & { kind: 'map' }): Steps<Planned> {
    const entries = []
    for (const { key, value, optional } of node.entries)
      entries.push({ key: yield* this.plan(key), value: yield* this.plan(value), optional })
    return mapOf(entries)
  }

  private *struct(node: Expression & { kind: 'struct' }): Steps<Planned> {
    const fields = []
    for (const { name, optional, value } of node.fields)
      fields.push({ name, optional, evaluate: (yield* this.plan(value)).evaluate })
    return messageOf(node.type, fields, this.environment.types)
  }

  private *fold(node: Comprehension): Steps<Planned> {
    const range = (yield* this.plan(node.range)).evaluate
    const initial = (yield* this.plan(node.initial)).evaluate
    const accumulator = this.slots++
    this.scopes.push(new Map([[node.accumulator, accumulatedIn(accumulator, initial)]]))
    const first = this.slots++
    const second = node.secondVariable === undefined ? undefined : this.slots++
    const variables = new Map([[node.variable, inSlot(first)]])
    if (second !== undefined) variables.set(node.secondVariable!, inSlot(second))
    this.scopes.push(variables)
    const slots = { from: this.slots, to: this.slots }
    const calls = { from: this.calls, to: this.calls }
    const condition = (yield* this.plan(node.condition)).evaluate
    const step = (yield* this.plan(node.step)).evaluate
    slots.to = this.slots
    calls.to = this.calls
    this.scopes.pop()
    const result = (yield* this.plan(node.result)).evaluate
    this.scopes.pop()
    return foldOf({ range, condition, step, result, accumulator, first, second, slots, calls })
  }
}

const stepsOf = (planned: readonly Planned[]): readonly Step[] => planned.map(({ evaluate }) => evaluate)
