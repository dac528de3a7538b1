/**
 * A value against the OpenAPI schema of a CustomResourceDefinition: what is wrong with it, in the words and the order of
 * kube-apiserver (kube-openapi's pkg/validation/validate, apiextensions' pkg/apiserver/validation). A schema's structure is
 * read elsewhere (schema/from-openapi.ts); here it only says which values it allows.
 */
import type { FieldError, FieldPath } from '../api/field.ts'
import { goQuote } from '../go/quote.ts'
import { FieldPath as Path, invalidValue, notSupported, required, tooLong, tooMany, typeInvalid } from '../api/field.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue } from '../api/own.ts'
import { eachName, eachPart, kept, sortedItems, undivided } from '../api/parts.ts'
import { MAX_PROBLEMS, MAX_REPORTED } from '../api/status.ts'
import { stringifySorted } from '../api/write-json.ts'
import { valuesEqual } from '../api/value-order.ts'
import { goFloat } from '../go/float.ts'
import { goMatches } from './go-pattern.ts'
import { effectiveFormat, hasFormat } from './value-formats.ts'

/** The value that is replaced: what is wrong with parts that do not change is not told. */
export interface Before {
  readonly value: Json
}

/**
 * @param at where the value is; messages name it relative to the schema's root
 * @param before of an update, where there is an old value
 */
export function validateValue(
  schema: JsonObject,
  value: Json,
  at: FieldPath = Path.root,
  before?: Before,
): FieldError[] {
  return check(schema, value, '', before, true).problems.map((problem) => problem.errorAt(at))
}

/** One thing that is wrong. Two with the same text are one. */
interface Problem {
  readonly text: string
  errorAt(at: FieldPath): FieldError
}

/** What is wrong, by its text, in the order in which it was found. Shared by the outcomes of a value and of its parts. */
interface Found {
  readonly problems: Map<string, Problem>
  /** Characters of their texts. */
  length: number
}

class Outcome {
  /** Absent while nothing is wrong, as with most values. */
  private found: Found | undefined
  /** How many checks were made: of several alternatives that fail, the one with most is told of. */
  matches = 0

  add(problem: Problem): void {
    const found = (this.found ??= { problems: new Map(), length: 0 })
    if (this.isFull || found.problems.has(problem.text)) return
    found.problems.set(problem.text, problem)
    found.length += problem.text.length
  }

  /** Takes what the other has, which is of no use afterwards: what is found deep inside is not copied at each level. */
  merge(...others: (Outcome | undefined)[]): void {
    for (const other of others) {
      if (other === undefined) continue
      if (this.found === undefined) this.found = other.found
      else if (other.found !== this.found) for (const problem of other.problems) this.add(problem)
      this.matches += other.matches
    }
  }

  get problems(): Problem[] {
    return this.found === undefined ? [] : [...this.found.problems.values()]
  }

  get isValid(): boolean {
    return this.found === undefined
  }

  /** What is found from here on is not told. */
  get isFull(): boolean {
    return (
      this.found !== undefined && (this.found.problems.size >= MAX_PROBLEMS || this.found.length >= 2 * MAX_REPORTED)
    )
  }
}

const placed = (at: FieldPath, place: string): FieldPath =>
  place === '' || place === '.' ? at : at.child(place.replace(/^\./, ''))

const problemAt = (place: string, text: string, error: (at: FieldPath) => FieldError): Problem => ({
  text,
  errorAt: (at) => error(placed(at, place)),
})

/** Of a combination of schemas: told about the root, whatever its place. */
const combined = (text: string): Problem => ({ text, errorAt: (at) => invalidValue(at, '', text) })

const invalidAt = (place: string, value: Json, what: string): Problem => {
  const text = `${place} in body ${what}`
  return problemAt(place, text, (at) => invalidValue(at, value, text))
}

const wrongType = (place: string, type: string, found: string): Problem => {
  const text = `${place} in body must be of type ${type}: ${goQuote(found)}`
  return problemAt(place, text, (at) => typeInvalid(at, found, text))
}

type JsonType = 'null' | 'boolean' | 'string' | 'integer' | 'number' | 'array' | 'object'

function typeOf(value: Json): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  switch (typeof value) {
    case 'boolean':
      return 'boolean'
    case 'string':
      return 'string'
    case 'bigint':
      return value < INT64_LIMIT && value >= -INT64_LIMIT ? 'integer' : 'number'
    case 'number':
      // beyond what is safe a number was written with an exponent
      return Number.isSafeInteger(value) ? 'integer' : 'number'
    default:
      return 'object'
  }
}

/** Types that a schema names; none is any. */
const typesOf = (schema: JsonObject): readonly string[] =>
  schema['x-kubernetes-int-or-string'] === true
    ? ['integer', 'string']
    : typeof schema['type'] === 'string' && schema['type'] !== ''
      ? [schema['type']]
      : []

/** @param ratchets what is wrong with an unchanged value is forgotten */
function check(schema: JsonObject, value: Json, place: string, before: Before | undefined, ratchets: boolean): Outcome {
  const outcome = checkAll(schema, value, place, before)
  if (outcome.isValid || !ratchets || before === undefined || !valuesEqual(before.value, value)) return outcome
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

const formatOf = (schema: JsonObject): string => effectiveFormat(schema['format'], typesOf(schema))

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

/** Of what fails, the first of those that got farthest. */
const nearest = (outcomes: readonly Outcome[]): Outcome =>
  outcomes.reduce((best, outcome) => (outcome.matches > best.matches ? outcome : best))

function checkString(schema: JsonObject, value: string, place: string): Outcome | undefined {
  const problem = stringProblem(schema, value, place)
  if (problem === undefined) return undefined
  const outcome = new Outcome()
  outcome.add(problem)
  return outcome
}

/** Only the first one is told. */
function stringProblem(schema: JsonObject, value: string, place: string): Problem | undefined {
  const length = [...value].length
  const max = schema['maxLength']
  if (typeof max === 'number' && length > max)
    return problemAt(place, `${place} in body should be at most ${max} chars long`, (at) => tooLong(at, max))
  const min = schema['minLength']
  if (typeof min === 'number' && length < min) return invalidAt(place, value, `should be at least ${min} chars long`)
  const pattern = schema['pattern']
  if (typeof pattern !== 'string' || pattern === '') return undefined
  const matched = goMatches(pattern, value)
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

const INT32_MAX = 2 ** 31 - 1
const INT64_LIMIT = 2n ** 63n

function checkNumber(schema: JsonObject, value: number | bigint, type: JsonType, place: string): Outcome {
  const outcome = new Outcome()
  const types = typesOf(schema)
  const typeName = types.length === 1 && (types[0] === 'integer' || types[0] === 'number') ? types[0] : ''
  const format = typeName === '' ? '' : formatOf(schema)
  const inRange = (number: number | bigint, prefix: string): boolean => {
    if (fitsType(number, typeName, format)) return true
    const suffix = format === '' ? '(default format)' : `with format ${format}`
    outcome.add(combined(`${prefix} value must be of type ${typeName} ${suffix} in ${place}`))
    return false
  }
  inRange(value, 'Checked')
  const isInteger = type === 'integer'
  const multipleOf = schema['multipleOf']
  if (typeof multipleOf === 'number') {
    const whole = inRange(multipleOf, 'MultipleOf') && isInteger
    const factor = whole ? Math.trunc(multipleOf) : multipleOf
    if (factor <= 0) {
      const text = `factor MultipleOf declared for ${place} must be positive: ${goFloat(factor)}`
      outcome.add(problemAt(place, text, (at) => invalidValue(at, factor, text)))
    } else if (!isMultiple(value, factor, whole))
      outcome.add(invalidAt(place, value, `should be a multiple of ${goFloat(factor)}`))
  }
  const minimum = schema['minimum']
  const maximum = schema['maximum']
  if (typeof minimum === 'number') {
    const limit = inRange(minimum, 'Minimum boundary') && isInteger ? Math.trunc(minimum) : minimum
    const exclusive = schema['exclusiveMinimum'] === true
    if (exclusive ? value <= limit : value < limit)
      outcome.add(
        invalidAt(
          place,
          value,
          `should be greater than ${exclusive ? '' : 'or equal to '}${limitText(limit, isInteger)}`,
        ),
      )
  }
  if (typeof maximum === 'number') {
    const limit = inRange(maximum, 'Maximum boundary') && isInteger ? Math.trunc(maximum) : maximum
    const exclusive = schema['exclusiveMaximum'] === true
    if (exclusive ? value >= limit : value > limit)
      outcome.add(
        invalidAt(place, value, `should be less than ${exclusive ? '' : 'or equal to '}${limitText(limit, isInteger)}`),
      )
  }
  outcome.matches++
  return outcome
}

function fitsType(value: number | bigint, type: string, format: string): boolean {
  if (type === 'integer') {
    if (typeof value === 'number' && !isJsonInteger(value)) return false
    if (format === 'int32') return value <= INT32_MAX && value >= -INT32_MAX - 1
    return BigInt(value) < INT64_LIMIT && BigInt(value) >= -INT64_LIMIT
  }
  return format !== 'float' || Number.isFinite(Math.fround(Number(value)))
}

function isMultiple(value: number | bigint, factor: number, whole: boolean): boolean {
  if (whole) return BigInt(value) % BigInt(factor) === 0n
  const number = Number(value)
  return isJsonInteger(factor < 1 ? (1 / factor) * number : number / factor)
}

/** Whole but for what floating point makes of it. */
function isJsonInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > 2 ** 53 - 1) return false
  const whole = Math.trunc(value)
  const difference = Math.abs(value - whole)
  if (value === whole) return true
  if (value === 0 || whole === 0 || difference < Number.MIN_VALUE) return difference < 1e-9 * Number.MIN_VALUE
  return difference / (Math.abs(value) + Math.abs(whole)) < 1e-9
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

/** Elements are the same as before where their keys are. */
function elementsBefore(schema: JsonObject, before: Before | undefined): (item: Json) => Before | undefined {
  const keys = schema['x-kubernetes-list-map-keys']
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(keys) || !Array.isArray(before?.value))
    return () => undefined
  // a list that is made for each item, which no walk could come to again
  const keyOf = (item: JsonObject) =>
    undivided(() => stringifySorted(keys.map((key) => ownValue(item, String(key)) ?? null)))
  const found = kept(before.value, () => new Map<string, JsonObject>())
  eachPart(before.value, (item) => {
    if (!isJsonObject(item)) return
    const key = keyOf(item)
    if (!found.has(key)) found.set(key, item)
  })
  return (item) => {
    const old = isJsonObject(item) ? found.get(keyOf(item)) : undefined
    return old === undefined ? undefined : { value: old }
  }
}

function checkEnum(schema: JsonObject, value: Json, place: string): Outcome | undefined {
  const allowed = schema['enum']
  if (!Array.isArray(allowed) || allowed.length === 0) return undefined
  // null is no value that an enum could hold
  if (
    typeof value === 'string'
      ? textsOf(allowed).has(value)
      : value !== null && allowed.some((one) => isConvertible(value, one))
  )
    return undefined
  const outcome = new Outcome()
  const supported = allowed.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
  const text = `${place} in body should be one of [${supported.join(' ')}]`
  outcome.add(problemAt(place, text, (at) => notSupported(at, value, supported)))
  return outcome
}

/** Texts that an enum allows: of a long one, which many values have, each is looked for at once. */
const allowedTexts = new WeakMap<readonly Json[], ReadonlySet<Json>>()

function textsOf(allowed: readonly Json[]): ReadonlySet<Json> {
  let texts = allowedTexts.get(allowed)
  if (texts === undefined)
    allowedTexts.set(allowed, (texts = new Set(allowed.filter((one) => typeof one === 'string'))))
  return texts
}

/** kube-apiserver converts a value to the type of what it is compared with: 2.5 is 2 there. */
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
  for (const name of Object.keys(properties).sort()) {
    const below = properties[name]
    const member = ownValue(value, name)
    if (member === undefined || !isJsonObject(below)) continue
    const at = place === '' ? name : `${place}.${name}`
    outcome.merge(check(below, member, at, memberBefore(name, place, before), true))
  }
  for (const name of Array.isArray(schema['required']) ? schema['required'] : []) {
    if (typeof name !== 'string' || ownValue(value, name) !== undefined) continue
    outcome.add(problemAt(`${place}.${name}`, `${place}.${name} in body is required`, (at) => required(at)))
  }
  return outcome
}

/** kind and apiVersion of the object itself are never what they were: both are converted to one version. */
function memberBefore(name: string, place: string, before: Before | undefined): Before | undefined {
  if (!isJsonObject(before?.value) || (place === '' && (name === 'kind' || name === 'apiVersion'))) return undefined
  const value = ownValue(before.value, name)
  return value === undefined ? undefined : { value }
}

/** An int64 is printed in full. */
const limitText = (limit: number, isInteger: boolean): string => (isInteger ? BigInt(limit).toString() : goFloat(limit))
