/**
 * A new value of an update and the old value at the same path (apiserver's cel/common CorrelatedObject). Fields
 * correlate by name, elements of a list by their keys. If a value has not changed, a rule about it only warns.
 */
import type { Json } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { eachPart, kept } from '../base/parts.ts'
import { stringifySorted } from '../json/write-json.ts'
import type { Structural } from '../schema/structural.ts'
import { valuesEqual } from '../json/value-order.ts'

export class Correlated {
  private readonly children = new Map<string | number, Correlated | undefined>()
  private same: boolean | undefined
  private oldItem: ((item: Json) => Json | undefined) | undefined

  constructor(
    private readonly value: Json,
    private readonly old: Json,
    private readonly schema: Structural,
  ) {}

  /** @returns undefined if there is no old value or the schema does not declare the field */
  key(name: string): Correlated | undefined {
    if (!this.children.has(name)) this.children.set(name, this.field(name))
    return this.children.get(name)
  }

  index(index: number): Correlated | undefined {
    if (!this.children.has(index)) this.children.set(index, this.element(index))
    return this.children.get(index)
  }

  get isUnchanged(): boolean {
    return (this.same ??= this.compare())
  }

  private field(name: string): Correlated | undefined {
    const { schema } = this
    const below =
      schema.shape === 'struct' ? schema.field(name)?.type : schema.shape === 'map' ? schema.value : undefined
    if (below === undefined || !isJsonObject(this.value) || !isJsonObject(this.old)) return undefined
    const [value, old] = [ownValue(this.value, name), ownValue(this.old, name)]
    return value === undefined || old === undefined ? undefined : new Correlated(value, old, below)
  }

  private element(index: number): Correlated | undefined {
    const { schema } = this
    if (schema.shape !== 'list' || !Array.isArray(this.value) || !Array.isArray(this.old)) return undefined
    const item = this.value[index]
    if (item === undefined) return undefined
    const old = (this.oldItem ??= correlatedItems(schema, this.old))(item)
    return old === undefined ? undefined : new Correlated(item, old, schema.element)
  }

  private compare(): boolean {
    const { value, old, schema } = this
    if (value === null || old === null) return value === old
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false
      if (schema.shape !== 'list' || schema.listType !== 'map') return valuesEqual(value, old)
      return value.every((_, index) => this.index(index)?.isUnchanged ?? false)
    }
    if (isJsonObject(value) && isJsonObject(old)) {
      const fields = Object.keys(value)
      if (fields.length !== Object.keys(old).length) return false
      return fields.every((name) => this.key(name)?.isUnchanged ?? false)
    }
    return valuesEqual(value, old)
  }
}

/** Finds the old element with the same keys as a new one. Only lists with listType `map` have keys. */
export function correlatedItems(schema: Structural, old: readonly Json[]): (item: Json) => Json | undefined {
  if (schema.shape !== 'list' || schema.listType !== 'map' || schema.keys.length === 0) return () => undefined
  const byKey = kept(old, () => new Map<string, Json>())
  eachPart(old, (item) => {
    const key = keyOf(item, schema.keys)
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item)
  })
  return (item) => {
    const key = keyOf(item, schema.keys)
    return key === undefined ? undefined : byKey.get(key)
  }
}

/** @returns undefined if a key is absent or no scalar */
function keyOf(item: Json, keys: readonly string[]): string | undefined {
  if (!isJsonObject(item)) return undefined
  const values = keys.map((key) => ownValue(item, key))
  const areScalars = values.every((value) => value !== undefined && value !== null && typeof value !== 'object')
  // the line above has refused undefined values
  return areScalars ? stringifySorted(values as Json[]) : undefined
}
