/**
 * Paths: a variable or a value, and the fields and indexes that lead on from it. A path costs one for itself and one for
 * each step; optional steps (`a.?b`, `a[?b]`) make the whole an optional value, which is empty where the path breaks off.
 */
import { mapKey, ValueList, ValueMap } from './collections.ts'
import { noSuchOverload } from './numbers.ts'
import type { Frame } from './frame.ts'
import type { Planned, Step } from './program.ts'
import { runtimeType, runtimeTypeName } from './runtime-types.ts'
import type { Value } from './value.ts'
import { CelError, Duration, ListValue, MapValue, ObjectValue, Optional, Timestamp, Uint } from './value.ts'
import { goTypeName } from './describe.ts'
import { goFloat } from '../go/float.ts'

/** One step: undefined where there is nothing, an error where the step makes no sense. */
interface Qualifier {
  readonly optional: boolean
  /** The key, or an error. It costs what computing it costs. */
  readonly key: Step
  /** The key is what a path leads to: Go names its type as that of the data. */
  readonly isPath: boolean
}

export class Attribute {
  private constructor(
    /** What the path begins with. */
    private readonly base: Step,
    private readonly qualifiers: readonly Qualifier[],
    private readonly ownCost: number,
    private readonly branches?: readonly [condition: Step, yes: Attribute, no: Attribute],
  ) {}

  static of(base: Step): Attribute {
    return new Attribute(base, [], 1)
  }

  /** Costs nothing itself, nor do the paths that it chooses from. */
  static conditional(condition: Step, yes: Attribute, no: Attribute): Attribute {
    const base: Step = (frame) => {
      const chosen = condition(frame)
      if (chosen === true) return yes.resolve(frame)
      if (chosen === false) return no.resolve(frame)
      return chosen instanceof CelError ? chosen : noSuchOverload()
    }
    return new Attribute(base, [], 0, [condition, yes, no])
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

  /** `has(path.field)`: the field costs, the path itself does not. */
  presence(name: string): Step {
    return (frame) => {
      const target = this.resolve(frame)
      if (target instanceof CelError) return target
      frame.spend(1)
      const inner = target instanceof Optional ? target.value : target
      return inner !== undefined && isPresent(inner, name)
    }
  }

  /** The value, as a part of something else: without the cost of the path itself. */
  readonly resolve: Step = (frame) => {
    const start = this.base(frame)
    return start instanceof CelError || this.qualifiers.length === 0 ? start : this.follow(frame, start)
  }

  readonly evaluate: Step = (frame) => {
    const value = this.resolve(frame)
    if (this.ownCost > 0) frame.spend(this.ownCost)
    return value
  }

  private with(qualifier: Qualifier): Attribute {
    if (this.branches !== undefined) {
      const [condition, yes, no] = this.branches
      return Attribute.conditional(condition, yes.with(qualifier), no.with(qualifier))
    }
    return new Attribute(this.base, [...this.qualifiers, qualifier], this.ownCost)
  }

  private follow(frame: Frame, start: Value): Value {
    let value = start
    let isOptional = false
    if (start instanceof Optional) {
      if (start.value === undefined) return start
      value = start.value
      isOptional = true
    }
    for (const { key, optional, isPath } of this.qualifiers) {
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

/** Go's name of the type of a computed value that can be no key. */
export function unusableKey(key: Value): string | undefined {
  if (key instanceof ListValue) return '*types.baseList'
  if (key instanceof MapValue) return '*types.baseMap'
  const isKey = key !== null && (typeof key !== 'object' || key instanceof Uint)
  return isKey ? undefined : goTypeName(key)
}

/** The same of data. */
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

/** What is no path becomes the beginning of one. */
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
