/**
 * Applies default values of the built-in types after decoding or conversion, before admission. They come from the
 * schema of a field, from defaults-table.json (values for absent paths), from default-rules.ts, and from the definition
 * of the kind. structural-default.ts has the defaults of custom resources.
 */
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { eachName, eachPart } from '../base/parts.ts'
import type { DefaultingContext, DefaultRule } from './default-rules.ts'
import { defaultRules } from './default-rules.ts'
import table from './defaults-table.json' with { type: 'json' }
import { Quantity } from './quantity.ts'
import { applyStructuralDefaults } from './structural-default.ts'
import type { Field, HeldAs, Structural, StructType } from './structural.ts'

type Row = readonly [path: string, when: 'absent' | 'empty' | '==0', value: Json]

// TypeScript types a JSON module by its literals
const rows = table.rows as unknown as Readonly<Record<string, readonly Row[]>>

/**
 * Changes an object in the normal form of codec/decode in place. The rules of the kind run first, then those of the
 * members, depth first in the order of the fields.
 */
export function applyDefaults(type: StructType, object: JsonObject, context: DefaultingContext): void {
  defaulters[type.heldAs](type, object, context)
}

const defaulters = {
  typed: applyTypedDefaults,
  unstructured: applyStructuralDefaults,
} satisfies Record<HeldAs, (type: StructType, object: JsonObject, context: DefaultingContext) => void>

function applyTypedDefaults(type: StructType, object: JsonObject, context: DefaultingContext): void {
  const { ofKind } = context
  if (ofKind?.type === type.name) ofKind.apply(object, context)
  planOf(type)?.(object, context)
}

/**
 * All defaulting of a value of one type; undefined where the type has no defaults, so that defaulting skips the value.
 */
type Plan = ((value: Json, context: DefaultingContext) => void) | undefined

/** kube-apiserver does not default objects of these packages, although their members have types with defaults. */
const withoutDefaults = /^io\.k8s\.api\.node\./

const plans = new WeakMap<StructType, { plan: Plan }>()

function planOf(type: StructType): Plan {
  let known = plans.get(type)
  if (known === undefined) {
    known = { plan: undefined } // a type may contain itself
    plans.set(type, known)
    known.plan = withoutDefaults.test(type.name) ? undefined : makePlan(type)
  }
  return known.plan
}

function makePlan(type: StructType): Plan {
  const steps: DefaultRule[] = []
  const rule = ownValue(defaultRules, type.name)
  if (rule !== undefined) steps.push(rule)
  for (const row of ownValue(rows, type.name) ?? []) steps.push((object) => applyRow(object, row))
  for (const member of type.message ?? type.fields.map((field) => ({ field }))) {
    if ('inline' in member) {
      const plan = planOf(member.inline)
      if (plan !== undefined) steps.push(plan)
      continue
    }
    const { field } = member
    if (field.default !== undefined) steps.push((object) => applyDeclared(object, field))
    const plan = valuePlan(field.type)
    if (plan !== undefined)
      steps.push((object, context) => {
        const value = object[field.name] // own key: a field of a built-in type
        if (value !== undefined && value !== null) plan(value, context)
      })
  }
  if (steps.length === 0) return undefined
  return (object, context) => {
    if (isJsonObject(object)) for (const step of steps) step(object, context)
  }
}

function valuePlan(type: Structural): Plan {
  switch (type.shape) {
    case 'struct':
      return planOf(type)
    case 'list': {
      const plan = valuePlan(type.element)
      return plan && ((list, context) => eachPart(list as Json[], (element) => plan(element, context)))
    }
    case 'map': {
      if (type.goType === RESOURCE_LIST) return (quantities) => roundQuantities(quantities as Record<string, string>)
      const plan = valuePlan(type.value)
      return (
        plan &&
        ((map, context) =>
          eachName(map as JsonObject, Object.keys, (name) => plan((map as JsonObject)[name]!, context)))
      )
    }
    default:
      return undefined
  }
}

const RESOURCE_LIST = 'v1.ResourceList'
const MILLI = -3

/** kube-apiserver rounds resource quantities of nodes, pods and quotas up to a thousandth. */
function roundQuantities(quantities: Record<string, string>): void {
  eachName(quantities, Object.keys, (name) => {
    const quantity = Quantity.tryParse(quantities[name]!)
    if (quantity !== undefined && !quantity.isMultipleOf(MILLI)) quantities[name] = quantity.roundUp(MILLI).toString()
  })
}

function applyDeclared(object: JsonObject, { name, default: value, pointer }: Field): void {
  const before = object[name] // own key: a field of a built-in type
  const isAbsent = before === undefined || before === null || (!pointer && (before === '' || before === 0))
  // without a pointer Go leaves the zero value out, so that a default of zero has no effect
  if (isAbsent && value !== undefined && (pointer || (value !== '' && value !== 0 && value !== false)))
    object[name] = copyOf(value) // own key: as above
}

function applyRow(object: JsonObject, [path, when, value]: Row): void {
  const names = path.split('.')
  const last = names.pop()!
  let parent = object
  // own key: fields of built-in types, here and below
  for (const name of names) parent = (parent[name] ??= {}) as JsonObject // a path leads through structs
  if (isMissing(parent[last], when)) parent[last] = copyOf(value) // own key: a field
}

const copyOf = (value: Json): Json => (typeof value === 'object' ? structuredClone(value) : value)

function isMissing(value: Json | undefined, when: Row[1]): boolean {
  if (value === undefined || value === null) return true
  switch (when) {
    case 'absent':
      return false
    case '==0':
      return value === 0
    case 'empty':
      return value === '' || (Array.isArray(value) && value.length === 0)
  }
}
