/**
 * Estimates the minimum and maximum cost of an expression before it runs. It uses the sizes of literals, the estimates
 * of function results, and the sizes that the schema of a variable allows. The figures are cel-go's.
 */
import type { Steps } from '../base/slices.ts'
import { atOnce } from '../base/slices.ts'
import type { Call, Comprehension, Expression, Identifier, Literal } from './syntax/ast.ts'
import { isLeaf } from './syntax/ast.ts'
import { ACCUMULATOR } from './syntax/builder.ts'
import type { CheckedExpression } from './checker/checker.ts'
import type { CallEstimate, Overload, Range, SizedNode, SizeEstimator } from './declarations.ts'
import { Pace } from './pace.ts'
import { sizeOf } from './values/runtime-size.ts'
import type { Type } from './checker/type.ts'
import { Uint } from './values/value.ts'

/** Costs saturate at the largest uint64, as in cel-go. */
export const MAX_COST = 2 ** 64 - 1

/** The size that the type of a variable allows at a path in it; undefined where it allows any. */
export type PathSizes = (path: readonly string[]) => Range | undefined

export const exactly = (size: number): Range => ({ min: size, max: size })
const unknown: Range = { min: 0, max: MAX_COST }
const NOTHING = exactly(0)
const ONE = exactly(1)

const bounded = (cost: number): number => Math.min(cost, MAX_COST)
export const plus = (...ranges: readonly Range[]): Range => sum(ranges)
const sum = (ranges: readonly Range[]): Range => ({
  min: bounded(ranges.reduce((all, { min }) => all + min, 0)),
  max: bounded(ranges.reduce((all, { max }) => all + max, 0)),
})
/** Zero times anything is zero, even if the other factor is infinite. */
export const times = (a: Range, b: Range): Range => ({
  min: a.min === 0 || b.min === 0 ? 0 : bounded(a.min * b.min),
  max: a.max === 0 || b.max === 0 ? 0 : bounded(a.max * b.max),
})
export const scaled = ({ min, max }: Range, factor: number): Range => ({
  min: bounded(Math.ceil(min * factor)),
  max: bounded(Math.ceil(max * factor)),
})
const either = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) })

/** The cost of one traversal of a string of that size. */
export const reading = (size: Range, factor = 0.1): Range => scaled(size, factor)

/** The sizes of the keys and values of a list or a map. */
interface Entries {
  readonly of: 'list' | 'map'
  readonly key: Range
  readonly value: Range
}

const eitherEntries = (a: Entries | undefined, b: Entries | undefined): Entries | undefined =>
  a && b && { of: a.of, key: either(a.key, b.key), value: either(a.value, b.value) }

interface LocalVariable {
  readonly path: readonly string[]
  readonly size?: Range | undefined
  readonly entries?: Entries | undefined
}

export const estimateCost = (checked: CheckedExpression, sizes: PathSizes): Range =>
  atOnce(estimateInSteps(checked, sizes))

/** Like estimateCost, but yields to other requests. */
export const estimateInSteps = (checked: CheckedExpression, sizes: PathSizes): Steps<Range> =>
  new Estimator(checked, sizes).cost(checked.root)

/** Copying or looking up this many names of a path takes as long as one node. */
const NAMES = 16

class Estimator implements SizeEstimator {
  private readonly paths = new Map<number, readonly string[]>()
  private readonly sizes = new Map<number, Range>()
  private readonly entries = new Map<number, Entries>()
  private readonly locals = new Map<string, LocalVariable[]>()
  /** Names of paths that were copied or looked up since the last node. */
  private named = 0
  private readonly pace = new Pace()

  constructor(
    private readonly checked: CheckedExpression,
    private readonly pathSizes: PathSizes,
  ) {}

  *cost(node: Expression): Steps<Range> {
    if (this.pace.isOver(1 + this.named / NAMES)) yield
    this.named = 0
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
        return plus(exactly(40), sum(yield* this.costs(node.fields.map(({ value }) => value))))
      case 'comprehension':
        return isBinding(node) ? yield* this.binding(node) : yield* this.fold(node)
    }
  }

  private leaf(node: Literal | Identifier): Range {
    if (node.kind === 'literal') return NOTHING
    this.named++
    this.paths.set(node.id, this.local(node.name)?.path ?? [node.name])
    return ONE
  }

  private *costs(nodes: readonly Expression[]): Steps<Range[]> {
    const costs: Range[] = []
    for (const node of nodes) {
      costs.push(isLeaf(node) ? this.leaf(node) : yield* this.cost(node))
      if (this.pace.isOver()) yield
    }
    return costs
  }

  sizeOf({ computedSize }: SizedNode): Range {
    return computedSize ?? unknown
  }

  /** The size of the elements of a list, where its type allows only some. */
  sizeOfElements({ path, type }: SizedNode): Range {
    return (
      (path.length > 0 ? this.pathSizes([...path, '@items']) : undefined) ?? scalarSize(elementType(type)) ?? unknown
    )
  }

  private local(name: string): LocalVariable | undefined {
    return this.locals.get(name)?.at(-1)
  }

  private *within<T>(name: string, variable: LocalVariable, inside: () => Steps<T>): Steps<T> {
    const stack = this.locals.get(name) ?? []
    this.locals.set(name, stack)
    stack.push(variable)
    const result = yield* inside()
    stack.pop()
    return result
  }

  private pathOf(node: Expression): readonly string[] {
    const local = node.kind === 'identifier' ? this.local(node.name) : undefined
    return local?.path ?? this.paths.get(node.id) ?? []
  }

  private setPath(node: Expression, path: readonly string[]): void {
    this.named += path.length
    this.paths.set(node.id, path)
  }

  private typeOf(node: Expression): Type {
    return this.checked.types.get(node.id)!
  }

  private *select(node: Expression & { kind: 'select' }): Steps<Range> {
    const cost = yield* this.cost(node.operand)
    if (node.testOnly) return cost
    this.setPath(node, [...this.pathOf(node.operand), node.field])
    const { kind } = this.typeOf(node.operand)
    return kind === 'map' || kind === 'struct' || kind === 'parameter' ? plus(cost, ONE) : cost
  }

  private *call(node: Call): Steps<Range> {
    if (node.function === 'dyn' && node.target === undefined) return yield* this.asDyn(node)
    const argumentCosts = yield* this.costs(node.args)
    const overloads = this.checked.overloads.get(node.id) ?? []
    if (overloads.length === 0) return node.function === '_?._' ? plus(sum(argumentCosts), ONE) : NOTHING
    const targetCost = node.target === undefined ? NOTHING : yield* this.cost(node.target)
    let total: Range | undefined
    let size: Range | undefined
    for (const overload of overloads) {
      const { cost, resultSize } = this.overloadCost(node, overload, argumentCosts)
      total = total === undefined ? cost : either(total, cost)
      if (resultSize !== undefined) size = size === undefined ? resultSize : either(size, resultSize)
      const step = overload.id === 'index_list' ? '@items' : overload.id === 'index_map' ? '@values' : undefined
      if (step !== undefined) {
        size = this.entriesOf(node.args[0]!)?.value
        this.setPath(node, [...this.pathOf(node.args[0]!), step])
      }
      size ??= this.computedSize(node)
    }
    if (size !== undefined) this.sizes.set(node.id, size)
    return plus(targetCost, total!)
  }

  private *asDyn(node: Call): Steps<Range> {
    const [argument] = node.args
    const cost = plus(ONE, yield* this.cost(argument!))
    this.copySizes(node, argument!)
    return cost
  }

  private overloadCost(node: Call, overload: Overload, argumentCosts: readonly Range[]): CallEstimate {
    const all = sum(argumentCosts)
    const args = [...(node.target === undefined ? [] : [node.target]), ...node.args]
    if (overload.estimate !== undefined) {
      const { cost, ...rest } = overload.estimate(
        args.map((argument) => this.sizedNode(argument)),
        this,
      )
      return { cost: plus(cost, all), ...rest }
    }
    switch (overload.id) {
      case 'logical_and':
      case 'logical_or':
        return { cost: { min: argumentCosts[0]!.min, max: all.max } }
      case 'conditional':
        return this.conditional(node, argumentCosts)
      case 'add_string':
      case 'add_bytes':
      case 'add_list':
        return this.concatenation(node, overload.id === 'add_list', all)
      default:
        return { cost: plus(ONE, all) }
    }
  }

  private conditional(node: Call, [condition, yes, no]: readonly Range[]): CallEstimate {
    const [, first, second] = node.args
    const entries = eitherEntries(this.entriesOf(first!), this.entriesOf(second!))
    if (entries !== undefined) this.entries.set(node.id, entries)
    return {
      cost: plus(condition!, either(yes!, no!)),
      resultSize: either(this.sizeOrUnknown(first!), this.sizeOrUnknown(second!)),
    }
  }

  private concatenation(node: Call, ofLists: boolean, all: Range): CallEstimate {
    const [first, second] = node.args
    const resultSize = plus(this.sizeOrUnknown(first!), this.sizeOrUnknown(second!))
    const entries = eitherEntries(this.entriesOf(first!), this.entriesOf(second!))
    if (entries !== undefined) this.entries.set(node.id, entries)
    return { cost: plus(ofLists ? ONE : reading(resultSize), all), resultSize }
  }

  private *list(node: Expression & { kind: 'list' }): Steps<Range> {
    const costs = yield* this.costs(node.elements)
    const sizes = node.elements.map((element) => this.sizeOrUnknown(element))
    this.entries.set(node.id, { of: 'list', key: ONE, value: sizes.length === 0 ? NOTHING : sizes.reduce(either) })
    return plus(exactly(10), sum(costs))
  }

  private *map(node: Expression & { kind: 'map' }): Steps<Range> {
    const costs = yield* this.costs(node.entries.flatMap(({ key, value }) => [key, value]))
    const keys = node.entries.map(({ key }) => this.sizeOrUnknown(key))
    const values = node.entries.map(({ value }) => this.sizeOrUnknown(value))
    const joined = (sizes: Range[]): Range => (sizes.length === 0 ? NOTHING : sizes.reduce(either))
    this.entries.set(node.id, { of: 'map', key: joined(keys), value: joined(values) })
    return plus(exactly(30), sum(costs))
  }

  private *binding(node: Comprehension): Steps<Range> {
    const before = sum(yield* this.costs([node.range, node.initial]))
    const result = yield* this.within(node.accumulator, this.variableOf(node.initial), () => this.bound(node))
    return plus(before, result)
  }

  private *bound(node: Comprehension): Steps<Range> {
    const cost = yield* this.cost(node.result)
    this.copySizes(node, node.result)
    return cost
  }

  private *fold(node: Comprehension): Steps<Range> {
    const before = sum(yield* this.costs([node.range, node.initial]))
    const inside = yield* this.within(node.accumulator, this.variableOf(node.initial), () => this.folded(node))
    const count = this.sizeOrUnknown(node.range)
    if (node.initial.kind === 'literal') this.setSize(node, this.computedSize(node.initial))
    if (node.initial.kind === 'list' || node.initial.kind === 'map') {
      this.setSize(node, count)
      const entries = this.entriesOf(node.step)
      if (entries !== undefined) this.entries.set(node.id, entries)
    }
    return plus(before, inside.result, times(count, inside.turn))
  }

  private *folded(node: Comprehension): Steps<{ readonly turn: Range; readonly result: Range }> {
    return { turn: yield* this.turn(node), result: yield* this.cost(node.result) }
  }

  private *turn(node: Comprehension): Steps<Range> {
    const entries = this.entriesOf(node.range)
    const isList = (entries?.of ?? this.typeOf(node.range).kind) === 'list'
    const path = this.pathOf(node.range)
    const value = (): LocalVariable => ({ path: [...path, isList ? '@items' : '@values'], size: entries?.value })
    const key = (): LocalVariable => ({ path: [...path, isList ? '@indices' : '@keys'], size: entries?.key })
    const body = (): Steps<Range[]> => this.costs([node.condition, node.step])
    const costs =
      node.secondVariable === undefined
        ? this.within(node.variable, isList ? value() : key(), body)
        : this.within(node.variable, key(), () => this.within(node.secondVariable!, value(), body))
    return sum(yield* costs)
  }

  private variableOf(node: Expression): LocalVariable {
    return { path: this.pathOf(node), size: this.computedSize(node), entries: this.entriesOf(node) }
  }

  private sizedNode(expression: Expression): SizedNode {
    const path = this.pathOf(expression)
    return {
      expression,
      type: this.typeOf(expression),
      path: path[0] === ACCUMULATOR ? [] : path,
      computedSize: this.computedSize(expression),
    }
  }

  private setSize(node: Expression, size: Range | undefined): void {
    if (size !== undefined) this.sizes.set(node.id, size)
  }

  private copySizes(to: Expression, from: Expression): void {
    this.setSize(to, this.computedSize(from))
    const entries = this.entriesOf(from)
    if (entries !== undefined) this.entries.set(to.id, entries)
  }

  private sizeOrUnknown(node: Expression): Range {
    return this.computedSize(node) ?? unknown
  }

  private computedSize(node: Expression): Range | undefined {
    const known = this.sizes.get(node.id) ?? literalSize(node)
    if (known !== undefined) return known
    const path = this.pathOf(node)
    const allowed = path.length === 0 ? undefined : this.sizeAt(path)
    if (allowed !== undefined) {
      this.sizes.set(node.id, allowed)
      return allowed
    }
    return scalarSize(this.typeOf(node)) ?? (node.kind === 'identifier' ? this.local(node.name)?.size : undefined)
  }

  private sizeAt(path: readonly string[]): Range | undefined {
    this.named += path.length
    return this.pathSizes(path)
  }

  private entriesOf(node: Expression): Entries | undefined {
    return this.entries.get(node.id) ?? (node.kind === 'identifier' ? this.local(node.name)?.entries : undefined)
  }
}

/** `cel.bind`, `optMap` and `optFlatMap` expand to a comprehension over an empty list that binds a variable. */
const isBinding = ({ range, condition, accumulator }: Comprehension): boolean =>
  range.kind === 'list' &&
  range.elements.length === 0 &&
  condition.kind === 'literal' &&
  condition.value === false &&
  accumulator !== '__result__'

function literalSize(node: Expression): Range | undefined {
  if (node.kind === 'list') return exactly(node.elements.length)
  if (node.kind === 'map') return exactly(node.entries.length)
  if (node.kind !== 'literal') return undefined
  return exactly(node.value instanceof Uint ? 1 : sizeOf(node.value))
}

const elementType = (type: Type): Type | undefined => (type.kind === 'list' ? type.element : undefined)

const scalars: ReadonlySet<Type['kind']> = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint'])

function scalarSize(type: Type | undefined): Range | undefined {
  if (type === undefined) return undefined
  if (type.kind === 'opaque' && type.name === 'optional_type') return scalarSize(type.parameters[0])
  return scalars.has(type.kind) ? ONE : undefined
}
