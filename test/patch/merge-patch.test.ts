import { describe, expect, test } from 'vitest'
import { parseJson } from '../../src/json/parse-json.ts'
import { treeText } from '../../src/patch/json-document.ts'
import { applyMergePatch } from '../../src/patch/merge-patch.ts'

const merged = (document: string, patch: string): string =>
  treeText(applyMergePatch(parseJson(document), parseJson(patch), true).document)

describe('merge patch', () => {
  // the examples of RFC 7386, without those whose patch or document is not an object
  test.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['{"e":null}', '{"a":1}', '{"a":1,"e":null}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('%s + %s', (document, patch, expected) => {
    expect(merged(document, patch)).toBe(expected)
  })

  test('nulls inside of lists stay', () => {
    expect(merged('{}', '{"a":[null,{"b":null}]}')).toBe('{"a":[null,{}]}')
    expect(merged('{"a":1}', '{"a":[null]}')).toBe('{"a":[null]}')
  })

  test.each([
    ['null', 'Invalid JSON Patch'],
    ['5', 'error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}'],
    ['[]', 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
  ])('%s is refused', (patch, message) => {
    expect(() => merged('{}', patch)).toThrow(message)
  })

  test('repeated members are reported, wherever they are', () => {
    const { strict, document } = applyMergePatch(
      parseJson('{}'),
      parseJson('{"a":{"b":1,"b":2},"a":{"c":1,"c":2}}'),
      true,
    )
    expect(strict).toEqual(['duplicate field "a.b"', 'duplicate field "a"', 'duplicate field "a.c"'])
    expect(treeText(document)).toBe('{"a":{"c":2}}')
  })
})
