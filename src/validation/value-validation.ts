/**
 * Validates a value against the OpenAPI schema of a CustomResourceDefinition, with the error texts and order of
 * kube-apiserver (kube-openapi's pkg/validation/validate, apiextensions' pkg/apiserver/validation). This file reads the
 * value constraints of a schema; schema/from-openapi.ts reads its structure.
 */
import type { FieldError, FieldPath } from '../api/field.ts'
import { goQuote } from '../go/quote.ts'
import {
  FieldPath as Path,
  invalidValue,
  notSupportedText,
  required,
  tooLong,
  tooMany,
  typeInvalid,
  valueText,
} from '../api/field.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { eachName, eachPart, kept, sortedItems, undivided } from '../base/parts.ts'
import { stringifySorted } from '../json/write-json.ts'
import { valuesEqual } from '../json/value-order.ts'
import { goMatches, searchingIn } from './go-pattern.ts'
import { isUnchanged, keyOfItem, keysOfItems, noteItem } from './unchanged.ts'
import { hasFormat } from './value-formats.ts'
import type { Problem } from './value-outcome.ts'
import { Outcome, combined, invalidAt, problemAt, wrongType } from './value-outcome.ts'
import { checkNumber } from './value-numbers.ts'
import type { JsonType } from './value-types.ts'
import { formatOf, isJsonInteger, typeOf, typesOf } from './value-types.ts'

/** The old value of an update. Validation drops the problems of unchanged parts (ratcheting). */
export interface Before {
  readonly value: Json
  /** The value is an object that is written, which is never unchanged as a whole. Its parts may be. */
  readonly isWritten?: boolean
}

/**
 * @param at the path of the value; messages have the path relative to the root of the schema
 * @param before the old value of an update
 */
export function validateValue(
  schema: JsonObject,
  value: Json,
  at: FieldPath = Path.root,
  before?: Before,
): FieldError[] {
  return searchingIn(schema, () =>
    check(schema, value, '', before, before?.isWritten !== true).problems.map((problem) => problem.errorAt(at)),
  )
}

/** @param ratchets drop the problems of an unchanged value */
function check(schema: JsonObject, value: Json, place: string, before: Before | undefined, ratchets: boolean): Outcome {
  const outcome = checkAll(schema, value, place, before)
  if (outcome.isValid || !ratchets || before === undefined) return outcome
  if (!undivided(() => isUnchanged(schema, value, before.value))) return outcome
  const forgiven = new Outcome()
  forgiven.matches = outcome.matches
  return forgiven
}

function checkAll(schema: JsonObject, value: Json, place: string, before: Before | undefined): Outcome {
  const outcome = new Outcome()
  const type = typeOf(value)
  if (type === 'null') {
    outcome.merge(checkType(schema, value, type, place), checkEnum(schema, value, place))
    return outcome
  }
  const steps = [
    typesOf(schema).length > 0 || formatOf(schema) !== '' ? () => checkType(schema, value, type, place) : undefined,
    () => checkCombinations(schema, value, place, before),
    type === 'string' ? () => checkString(schema, value as string, place) : undefined,
    type === 'string' && formatOf(schema) !== '' ? () => checkFormat(schema, value as string, place) : undefined,
    type === 'integer' || type === 'number'
      ? () => checkNumber(schema, type === 'number' ? Number(value) : (value as number | bigint), type, place)
      : undefined,
    Array.isArray(value) ? () => checkList(schema, value, place, before) : undefined,
    () => checkEnum(schema, value, place),
    isJsonObject(value) ? () => checkObject(schema, value, place, before) : undefined,
  ]
  for (const step of steps) {
    if (step === undefined) continue
    outcome.merge(step())
    outcome.matches++
  }
  outcome.matches++
  return outcome
}

function checkType(schema: JsonObject, value: Json, type: JsonType, place: string): Outcome {
  const outcome = new Outcome()
  const types = typesOf(schema)
  const format = formatOf(schema)
  if (value === null) {
    if (types.length > 0 && schema['nullable'] !== true) outcome.add(wrongType(place, types.join(','), 'null'))
    else outcome.matches++
    return outcome
  }
  const isNumeric = types.includes('number') || types.includes('integer')
  const fits =
    types.includes(type) ||
    (type === 'integer' && types.includes('number')) ||
    (type === 'number' && types.includes('integer') && isJsonInteger(Number(value)))
  const isTextual = type === 'string' || type === 'array'
  if (!isTextual && format !== '' && !fits) {
    const found = type === 'integer' ? 'int64' : type === 'number' ? 'float64' : ''
    if (found !== format) outcome.add(wrongType(place, format, found))
  } else if (!(!isNumeric && format !== '' && isTextual) && !fits) outcome.add(wrongType(place, types.join(','), type))
  if (outcome.isValid) outcome.matches++
  return outcome
}

function checkCombinations(schema: JsonObject, value: Json, place: string, before: Before | undefined): Outcome {
  const outcome = new Outcome()
  const checked = (keyword: 'allOf' | 'anyOf' | 'oneOf'): Outcome[] =>
    (Array.isArray(schema[keyword]) ? schema[keyword] : []).map((alternative) =>
      check(isJsonObject(alternative) ? alternative : {}, value, place, before, false),
    )
  const anyOf = checked('anyOf')
  if (anyOf.length > 0) {
    const success = anyOf.find(({ isValid }) => isValid)
    if (success === undefined) outcome.add(combined(`${goQuote(place)} must validate at least one schema (anyOf)`))
    outcome.merge(success ?? nearest(anyOf))
  }
  const oneOf = checked('oneOf')
  if (oneOf.length > 0) {
    const valid = oneOf.filter(({ isValid }) => isValid)
    if (valid.length === 1) outcome.merge(valid[0])
    else {
      const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`
      outcome.add(combined(`${goQuote(place)} must validate one and only one schema (oneOf). ${found}`))
      if (valid.length === 0) outcome.merge(nearest(oneOf))
    }
  }
  const allOf = checked('allOf')
  if (allOf.length > 0) {
    outcome.merge(...allOf)
    const valid = allOf.filter(({ isValid }) => isValid).length
    if (valid !== allOf.length)
      outcome.add(
        combined(`${goQuote(place)} must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`),
      )
  }
  const not = schema['not']
  if (isJsonObject(not) && check(not, value, place, before, false).isValid)
    outcome.add(combined(`${goQuote(place)} must not validate the schema (not)`))
  outcome.matches++
  return outcome
}

/** The failed alternative with most checks, the first of several. */
const nearest = (outcomes: readonly Outcome[]): Outcome =>
  outcomes.reduce((best, outcome) => (outcome.matches > best.matches ? outcome : best))

function checkString(schema: JsonObject, value: string, place: string): Outcome | undefined {
  const problem = stringProblem(schema, value, place)
  if (problem === undefined) return undefined
  const outcome = new Outcome()
  outcome.add(problem)
  return outcome
}

/** kube-apiserver reports only the first problem of a string. */
function stringProblem(schema: JsonObject, value: string, place: string): Problem | undefined {
  const length = [...value].length
  const max = schema['maxLength']
  if (typeof max === 'number' && length > max)
    return problemAt(place, `${place} in body should be at most ${max} chars long`, (at) => tooLong(at, max))
  const min = schema['minLength']
  if (typeof min === 'number' && length < min) return invalidAt(place, value, `should be at least ${min} chars long`)
  const pattern = schema['pattern']
  if (typeof pattern !== 'string' || pattern === '') return undefined
  const matched = goMatches(pattern, value, schema)
  if (matched === true) return undefined
  const shown = matched === false ? pattern : `${pattern}, but pattern is invalid: ${matched.error}`
  return invalidAt(place, value, `should match '${shown}'`)
}

function checkFormat(schema: JsonObject, value: string, place: string): Outcome | undefined {
  const format = formatOf(schema)
  if (hasFormat(format, value)) return undefined
  const outcome = new Outcome()
  const text = `${place} in body must be of type ${format}: ${goQuote(value)}`
  outcome.add(problemAt(place, text, (at) => typeInvalid(at, value, text)))
  return outcome
}

function checkList(schema: JsonObject, value: readonly Json[], place: string, before: Before | undefined): Outcome {
  const outcome = new Outcome()
  const { items, minItems, maxItems } = schema
  if (isJsonObject(items)) {
    const elementBefore = elementsBefore(schema, before)
    const elements = kept(value, () => new Outcome())
    eachPart(value, (item, index) => {
      elements.merge(check(items, item, `${place}[${index}]`, elementBefore(item), true))
      return !elements.isFull
    })
    outcome.merge(elements)
  }
  if (typeof minItems === 'number' && value.length < minItems)
    outcome.add(invalidAt(place, value.length, `should have at least ${minItems} items`))
  if (typeof maxItems === 'number' && value.length > maxItems)
    outcome.add(
      problemAt(place, `${place} in body should have at most ${maxItems} items`, (at) =>
        tooMany(at, value.length, maxItems),
      ),
    )
  if (schema['uniqueItems'] === true && new Set(value.map(stringifySorted)).size < value.length)
    outcome.add(invalidAt(place, '', "shouldn't contain duplicates"))
  outcome.matches++
  return outcome
}

/** Finds the old element with the same keys. */
function elementsBefore(schema: JsonObject, before: Before | undefined): (item: Json) => Before | undefined {
  const keys = keysOfItems(schema)
  if (keys === undefined || !Array.isArray(before?.value)) return () => undefined
  const found = kept(before.value, () => new Map<string, Json>())
  // undivided: each key is a new list, by which a later run of the walk could not find its progress
  eachPart(before.value, (item) => undivided(() => noteItem(found, keys, item)))
  return (item) => {
    const key = undivided(() => keyOfItem(keys, item))
    const old = key === undefined ? undefined : found.get(key)
    return old === undefined ? undefined : { value: old }
  }
}

function checkEnum(schema: JsonObject, value: Json, place: string): Outcome | undefined {
  const allowed = schema['enum']
  if (!Array.isArray(allowed) || allowed.length === 0) return undefined
  // an enum cannot hold null
  if (
    typeof value === 'string'
      ? textsOf(allowed).has(value)
      : value !== null && allowed.some((one) => isConvertible(value, one))
  )
    return undefined
  const outcome = new Outcome()
  const supported = allowed.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
  const text = `${place} in body should be one of [${supported.join(' ')}]`
  outcome.add(problemAt(place, text, (at) => notSupportedText(at, shown(value), supported)))
  return outcome
}

/** Go sorts the members of an object. */
const shown = (value: Json): string =>
  typeof value === 'object' && value !== null ? stringifySorted(value) : valueText(value)

/** The texts of an enum as a set, because many values may have the same long enum. */
const allowedTexts = new WeakMap<readonly Json[], ReadonlySet<Json>>()

function textsOf(allowed: readonly Json[]): ReadonlySet<Json> {
  let texts = allowedTexts.get(allowed)
  if (texts === undefined)
    allowedTexts.set(allowed, (texts = new Set(allowed.filter((one) => typeof one === 'string'))))
  return texts
}

/** kube-apiserver converts a value to the type of the enum's value: 2.5 matches 2. */
function isConvertible(value: Json, to: Json): boolean {
  const isNumber = typeof value === 'number' || typeof value === 'bigint'
  if (typeof to === 'number' && Number.isSafeInteger(to) && typeof value === 'number') return Math.trunc(value) === to
  if (typeof to === 'string' && isNumber && Number.isSafeInteger(Number(value)))
    return value >= 0 && value <= 0x10ffff && String.fromCodePoint(Number(value)) === to
  return valuesEqual(value, to)
}

const namesOf = (object: JsonObject): string[] => Object.keys(object).filter((name) => object[name] !== undefined)

const sortedNames = (object: JsonObject): string[] =>
  sortedItems(
    () => namesOf(object),
    (names) => names.sort(),
    (a, b) => (a < b ? -1 : 1),
  )

function checkObject(schema: JsonObject, value: JsonObject, place: string, before: Before | undefined): Outcome {
  const outcome = new Outcome()
  const { minProperties, maxProperties, additionalProperties } = schema
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  const isCounted = typeof minProperties === 'number' || typeof maxProperties === 'number'
  const names = isCounted ? kept(value, () => namesOf(value)) : []
  if (typeof minProperties === 'number' && names.length < minProperties)
    outcome.add(invalidAt(place, names.length, `should have at least ${minProperties} properties`))
  if (typeof maxProperties === 'number' && names.length > maxProperties)
    outcome.add(
      problemAt(place, `${place} in body should have at most ${maxProperties} properties`, (at) =>
        tooMany(at, names.length, maxProperties),
      ),
    )
  const members = kept(value, () => new Outcome())
  if (additionalProperties === false || isJsonObject(additionalProperties))
    eachName(value, sortedNames, (name) => {
      if (Object.hasOwn(properties, name)) return true
      if (additionalProperties === false) {
        const text = `${place}.${name} in body is a forbidden property`
        members.add(problemAt(place, text, (at) => invalidValue(at, name, text)))
      } else {
        const at = `${place}.${name}`
        members.merge(check(additionalProperties, ownValue(value, name)!, at, memberBefore(name, place, before), true))
      }
      return !members.isFull
    })
  outcome.merge(members)
  // the loop visits the members of the value, because a schema may declare far more
  const declared = kept(value, () => new Outcome())
  eachName(value, sortedNames, (name) => {
    const below = ownValue(properties, name)
    if (!isJsonObject(below)) return
    const at = place === '' ? name : `${place}.${name}`
    declared.merge(check(below, ownValue(value, name)!, at, memberBefore(name, place, before), true))
  })
  outcome.merge(declared)
  for (const name of Array.isArray(schema['required']) ? schema['required'] : []) {
    if (typeof name !== 'string' || ownValue(value, name) !== undefined) continue
    outcome.add(problemAt(`${place}.${name}`, `${place}.${name} in body is required`, (at) => required(at)))
  }
  return outcome
}

/** kind and apiVersion of the object itself have no old value, because both objects are in one version. */
function memberBefore(name: string, place: string, before: Before | undefined): Before | undefined {
  if (!isJsonObject(before?.value) || (place === '' && (name === 'kind' || name === 'apiVersion'))) return undefined
  const value = ownValue(before.value, name)
  return value === undefined ? undefined : { value }
}
