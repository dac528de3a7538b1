/** Plans list, map and message literals. */
import { listFrom, mapKey, ValueMap } from '../values/collections.ts'
import { describe } from '../values/describe.ts'
import type { Planned, Step } from './planned.ts'
import { constant, isConstant } from './planned.ts'
import type { TypeProvider } from '../checker/type.ts'
import type { Value } from '../values/value.ts'
import { CelError, Optional } from '../values/value.ts'

export function listOf(elements: readonly Planned[], optional: ReadonlySet<number>): Planned {
  if (optional.size === 0 && elements.every(isConstant))
    return constant(listFrom(elements.map((element) => element.constant!.value)))
  const steps = elements.map(({ evaluate }, index) => ({ evaluate, optional: optional.has(index) }))
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

interface PlannedEntry {
  readonly key: Planned
  readonly value: Planned
  readonly optional: boolean
}

export function mapOf(entries: readonly PlannedEntry[]): Planned {
  if (entries.every(({ key, value, optional }) => !optional && isConstant(key) && isConstant(value)))
    return constant(ValueMap.of(entries.map(({ key, value }) => [key.constant!.value, value.constant!.value] as const)))
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

interface PlannedField {
  readonly name: string
  readonly optional: boolean
  readonly evaluate: Step
}

export function messageOf(type: string, fields: readonly PlannedField[], types: TypeProvider): Planned {
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
    return types.newStruct?.(type, values) ?? new CelError(`unknown type '${type}'`)
  })
}

/** Charges the cost of the literal, even if making it fails. */
const spending = (cost: number, make: Step): Planned => ({
  evaluate: (frame) => {
    const made = make(frame)
    frame.spend(cost)
    return made
  },
})
