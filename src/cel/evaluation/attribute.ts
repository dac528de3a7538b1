/**
 * Attributes, as cel-go calls them: a variable or a value, followed by field selections and indexes (qualifiers). An
 * attribute costs one unit, and each qualifier one more. An optional qualifier (`a.?b`, `a[?b]`) makes the result an
 * optional value, which is empty if a qualifier finds nothing.
 */
import { mapKey, ValueList, ValueMap } from '../values/collections.ts'
import { noSuchOverload } from '../values/numbers.ts'
import type { Frame } from './frame.ts'
import type { Planned, Step } from './planned.ts'
import { runtimeType, runtimeTypeName } from '../values/runtime-types.ts'
import type { Value } from '../values/value.ts'
import { CelError, Duration, ListValue, MapValue, ObjectValue, Optional, Timestamp, Uint } from '../values/value.ts'
import { goTypeName } from '../values/describe.ts'
import { goFloat } from '../../go/float.ts'

/** One field selection or index of an attribute. */
interface Qualifier {
  readonly optional: boolean
  /** Evaluates the key, or fails. Its evaluation adds its own cost. */
  readonly key: Step
  /** The key is an attribute itself. cel-go's error then names the Go type of the underlying data. */
  readonly isPath: boolean
}

export class Attribute {
  private constructor(
    /** Evaluates the variable or the value at the start of the attribute. */
    private readonly base: Step,
    /** Attributes that extend this one share the array and append to it. This attribute has the first `count`. */
    private readonly qualifiers: Qualifier[],
    private readonly count: number,
    private readonly ownCost: number,
  ) {}

  static of(base: Step): Attribute {
    return new Attribute(base, [], 0, 1)
  }

  /** The base of the attribute is a conditional. The conditional and the chosen attribute have no cost of their own. */
  static conditional(condition: Step, yes: Attribute, no: Attribute): Attribute {
    const base: Step = (frame) => {
      const chosen = condition(frame)
      if (chosen === true) return yes.resolve(frame)
      if (chosen === false) return no.resolve(frame)
      return chosen instanceof CelError ? chosen : noSuchOverload()
    }
    return new Attribute(base, [], 0, 0)
  }

  field(name: string): Attribute {
    return this.with({ optional: false, key: () => name, isPath: false })
  }

  optionalField(name: string): Attribute {
    return this.with({ optional: true, key: () => name, isPath: false })
  }

  index(index: Planned, optional: boolean): Attribute {
    const { attribute } = index
    const isPath = attribute !== undefined
    return this.with({ optional, key: isPath ? attribute.resolve : index.evaluate, isPath })
  }

  /** `has(a.b.name)`. The test of the field costs one unit. The attribute `a.b` adds no unit of its own. */
  presence(name: string): Step {
    return (frame) => {
      const target = this.resolve(frame)
      if (target instanceof CelError) return target
      frame.spend(1)
      const inner = target instanceof Optional ? target.value : target
      return inner !== undefined && isPresent(inner, name)
    }
  }

  /** Evaluates the attribute as a part of another one, without its own cost of one unit. */
  readonly resolve: Step = (frame) => {
    const start = this.base(frame)
    return start instanceof CelError || this.count === 0 ? start : this.follow(frame, start)
  }

  readonly evaluate: Step = (frame) => {
    const value = this.resolve(frame)
    if (this.ownCost > 0) frame.spend(this.ownCost)
    return value
  }

  private with(qualifier: Qualifier): Attribute {
    const { qualifiers, count } = this
    const own = qualifiers.length === count ? qualifiers : qualifiers.slice(0, count)
    own.push(qualifier)
    return new Attribute(this.base, own, count + 1, this.ownCost)
  }

  private follow(frame: Frame, start: Value): Value {
    let value = start
    let isOptional = false
    if (start instanceof Optional) {
      if (start.value === undefined) return start
      value = start.value
      isOptional = true
    }
    const { qualifiers, count } = this
    for (let i = 0; i < count; i++) {
      const { key, optional, isPath } = qualifiers[i]!
      isOptional ||= optional
      const at = key(frame)
      if (at instanceof CelError) return at
      const unusable = isPath ? unusableData(at) : unusableKey(at)
      if (unusable !== undefined) {
        if (!isOptional) frame.spend(1)
        return new CelError(`invalid qualifier type: ${unusable}`)
      }
      const next = qualify(value, at)
      if (next === undefined && isOptional) return Optional.none
      if (next instanceof CelError && isOptional) return next
      frame.spend(1)
      if (next === undefined) return missing(value, at)
      if (next instanceof CelError) return next
      value = next
    }
    return isOptional ? new Optional(value) : value
  }
}

/** The Go type of a computed value that cannot be a key, as cel-go's error names it. Undefined: it can be a key. */
export function unusableKey(key: Value): string | undefined {
  if (key instanceof ListValue) return '*types.baseList'
  if (key instanceof MapValue) return '*types.baseMap'
  const isKey = key !== null && (typeof key !== 'object' || key instanceof Uint)
  return isKey ? undefined : goTypeName(key)
}

/** Like unusableKey, for a key that an attribute yields. */
function unusableData(key: Value): string | undefined {
  if (key === null) return '<nil>'
  if (typeof key !== 'object' || key instanceof Uint) return undefined
  if (key instanceof ListValue) return key instanceof ValueList ? '[]ref.Val' : '[]interface {}'
  if (key instanceof MapValue) return key instanceof ValueMap ? 'map[ref.Val]ref.Val' : 'map[string]interface {}'
  if (key instanceof Uint8Array) return '[]uint8'
  if (key instanceof Timestamp) return 'time.Time'
  if (key instanceof Duration) return 'time.Duration'
  return undefined
}

/** The attribute of a planned node. A node that is no attribute becomes the base of one. */
export function relative({ attribute, evaluate }: Planned): Attribute {
  return attribute ?? Attribute.of(evaluate)
}

function qualify(value: Value, key: Value): Value | undefined {
  if (value instanceof MapValue) return value.get(key)
  if (value instanceof ListValue) {
    const index = listIndex(key)
    if (index instanceof CelError) return index
    return index >= 0 && index < value.size ? value.at(index) : undefined
  }
  if (value instanceof ObjectValue) return typeof key === 'string' ? value.field(key) : noSuchOverload()
  if (value instanceof Optional) return value.value === undefined ? undefined : qualify(value.value, key)
  return undefined
}

const isPresent = (value: Value, name: string): boolean => {
  if (value instanceof ObjectValue) return value.isSet(name)
  const found = value instanceof MapValue ? qualify(value, name) : undefined
  return found !== undefined && !(found instanceof CelError)
}

export function listIndex(key: Value): number | CelError {
  if (typeof key === 'bigint' || key instanceof Uint) {
    const index = typeof key === 'bigint' ? key : key.value
    return index > -1n && index < 2n ** 53n ? Number(index) : -1
  }
  if (typeof key === 'number')
    return Number.isInteger(key) ? key : new CelError(`unsupported index value ${goFloat(key)} in list`)
  return new CelError(`unsupported index type '${runtimeTypeName(runtimeType(key))}' in list`)
}

function missing(value: Value, key: Value): CelError {
  const text = typeof key === 'number' ? goFloat(key) : String(mapKey(key) ?? key)
  return new CelError(value instanceof ListValue ? `index out of bounds: ${text}` : `no such key: ${text}`)
}
