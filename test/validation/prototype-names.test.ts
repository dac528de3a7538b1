import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { parseJson } from '../../src/json/parse-json.ts'
import { customKindType } from '../../src/schema/from-openapi.ts'
import { prune } from '../../src/schema/prune.ts'
import { validateValue } from '../../src/validation/value-validation.ts'
import { prototypeNames } from '../prototype-names.ts'

/** Values and schemas are parsed JSON without duplicate members, as in a request. */
const json = (text: string) => parseJson(text) as JsonObject

test.each(prototypeNames)('a schema with a property named %s', (name) => {
  const key = JSON.stringify(name)
  const schema = json(`{"type":"object","required":[${key}],"properties":{${key}:{"type":"string","maxLength":1}}}`)
  const problems = (value: string) => validateValue(schema, json(value)).map(String)
  expect(problems(`{${key}:"x"}`)).toEqual([])
  expect(problems(`{${key}:"xy"}`)).toHaveLength(1)
  expect(problems(`{${key}:5}`)).toHaveLength(1)
  expect(problems('{}')).toHaveLength(1)
})

test.each(prototypeNames)('a schema without a property named %s', (name) => {
  const key = JSON.stringify(name)
  const closed = json('{"type":"object","properties":{"a":{"type":"string"}}}')
  expect(validateValue(closed, json('{"a":"x"}'))).toEqual([])
  const map = json('{"type":"object","additionalProperties":{"type":"integer","maximum":1}}')
  expect(validateValue(map, json(`{${key}:1}`))).toEqual([])
  expect(validateValue(map, json(`{${key}:2}`))).toHaveLength(1)
})

test.each(prototypeNames)('an unknown member named %s is pruned', (name) => {
  const type = customKindType(
    'io.example.v1.Widget',
    { group: 'example.io', version: 'v1', kind: 'Widget' },
    json('{"type":"object","properties":{"spec":{"type":"object"}}}'),
  )
  const value = json(`{"spec":{${JSON.stringify(name)}:{"x":1}}}`)
  expect(prune(type, value)).toEqual([`spec.${name}`])
  expect(JSON.stringify(value)).toBe('{"spec":{}}')
})
