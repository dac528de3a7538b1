import { describe, expect, test, vi } from 'vitest'
import { StatusError } from '../../src/api/status.ts'
import { parseJson } from '../../src/json/parse-json.ts'
import type { JsonTree } from '../../src/json/json.ts'
import { treeText } from '../../src/patch/json-document.ts'
import { readJsonPatch } from '../../src/patch/json-patch.ts'
import { applyJsonPatch, PatchRejection } from '../../src/patch/json-patch-operations.ts'

const patched = (document: string, patch: string): string =>
  treeText(applyJsonPatch(parseJson(document), readJsonPatch(parseJson(patch), true)).document)

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof StatusError) return `${error.code} ${error.message}`
    throw error
  }
  return 'none'
}

const REJECTED = '422 the server rejected our request due to an error in our request'

describe('operations', () => {
  test.each([
    ['add a member', '{"a":1}', '[{"op":"add","path":"/b","value":2}]', '{"a":1,"b":2}'],
    ['add over a member', '{"a":1}', '[{"op":"add","path":"/a","value":[]}]', '{"a":[]}'],
    ['insert', '{"l":[1,3]}', '[{"op":"add","path":"/l/1","value":2}]', '{"l":[1,2,3]}'],
    ['append', '{"l":[1]}', '[{"op":"add","path":"/l/-","value":2}]', '{"l":[1,2]}'],
    ['append by -1', '{"l":[1,2]}', '[{"op":"add","path":"/l/-1","value":3}]', '{"l":[1,2,3]}'],
    ['an index with sign and zeros', '{"l":[1,2]}', '[{"op":"replace","path":"/l/+01","value":3}]', '{"l":[1,3]}'],
    ['the last element', '{"l":[1,2]}', '[{"op":"remove","path":"/l/-1"}]', '{"l":[1]}'],
    ['replace adds what is absent', '{}', '[{"op":"replace","path":"/a","value":1}]', '{"a":1}'],
    ['replace everything', '{"a":1}', '[{"op":"replace","path":"","value":{"b":2}}]', '{"b":2}'],
    ['move', '{"a":{"b":1}}', '[{"op":"move","from":"/a/b","path":"/c"}]', '{"a":{},"c":1}'],
    [
      'copy is deep',
      '{"a":{"b":1}}',
      '[{"op":"copy","from":"/a","path":"/c"},{"op":"add","path":"/c/b","value":2}]',
      '{"a":{"b":1},"c":{"b":2}}',
    ],
    ['copy of what is absent is null', '{}', '[{"op":"copy","from":"/a","path":"/c"}]', '{"c":null}'],
    ['escapes', '{"a/b":1,"c~d":2}', '[{"op":"remove","path":"/a~1b"},{"op":"remove","path":"/c~0d"}]', '{}'],
    ['~01 is ~1', '{"~1":1}', '[{"op":"remove","path":"/~01"}]', '{}'],
    [
      'a test that holds',
      '{"a":{"b":[1,"x"]}}',
      '[{"op":"test","path":"/a","value":{"b":[1,"x"]}}]',
      '{"a":{"b":[1,"x"]}}',
    ],
    ['a test of what is absent against null', '{}', '[{"op":"test","path":"/a","value":null}]', '{}'],
    ['a test of what is absent against nothing', '{}', '[{"op":"test","path":"/a"}]', '{}'],
    ['a test of everything', '{"a":1}', '[{"op":"test","path":"","value":{"a":1}}]', '{"a":1}'],
    ['null is no operation', '{"a":1}', 'null', '{"a":1}'],
    ['nor is an empty list', '{"a":1}', '[]', '{"a":1}'],
    ['numbers stay as written', '{}', '[{"op":"add","path":"/a","value":1.50}]', '{"a":1.50}'],
    [
      'what was reached into is sorted',
      '{"b":{"d":1,"c":2},"a":{"z":1,"y":2}}',
      '[{"op":"add","path":"/b/e","value":3}]',
      '{"a":{"z":1,"y":2},"b":{"c":2,"d":1,"e":3}}',
    ],
  ])('%s', (_, document, patch, expected) => {
    expect(patched(document, patch)).toBe(expected)
  })

  test.each([
    ['add below what is absent', '{}', '[{"op":"add","path":"/a/b","value":1}]'],
    ['add below a scalar', '{"a":1}', '[{"op":"add","path":"/a/b","value":1}]'],
    ['add at the root', '{}', '[{"op":"add","path":"","value":{}}]'],
    ['remove the root', '{}', '[{"op":"remove","path":""}]'],
    ['replace the root by a scalar', '{}', '[{"op":"replace","path":"","value":1}]'],
    ['remove what is absent', '{}', '[{"op":"remove","path":"/a"}]'],
    ['an index beyond the list', '{"l":[1]}', '[{"op":"add","path":"/l/3","value":1}]'],
    ['an index before the list', '{"l":[1]}', '[{"op":"remove","path":"/l/-2"}]'],
    ['no index', '{"l":[1]}', '[{"op":"add","path":"/l/x","value":1}]'],
    ['- is for add alone', '{"l":[1]}', '[{"op":"replace","path":"/l/-","value":1}]'],
    ['move of what is absent', '{}', '[{"op":"move","from":"/a","path":"/b"}]'],
    ['a test that fails', '{"a":1}', '[{"op":"test","path":"/a","value":2}]'],
    ['a test of 1 against 1.0', '{"a":1}', '[{"op":"test","path":"/a","value":1.0}]'],
    ['a test without value', '{"a":1}', '[{"op":"test","path":"/a"}]'],
    ['an unknown operation', '{}', '[{"op":"spam","path":"/a"}]'],
    ['no operation', '{}', '[{"path":"/a"}]'],
    ['no path', '{}', '[{"op":"add","value":1}]'],
    ['nothing at all', '{}', '[null]'],
  ])('%s is refused', (_, document, patch) => {
    expect(refusal(() => patched(document, patch))).toBe(REJECTED)
  })

  test.each([
    ['"a<b"', false],
    ['"a\\u003cb"', true],
    ['"a\\u003Cb"', false],
    ['["a<b"]', false],
  ])('a test compares the spelling with that of the server: %s', (value, holds) => {
    const document = parseJson(`{"a":${value.startsWith('[') ? '["a<b"]' : '"a<b"'}}`)
    const text = `[{"op":"test","path":"/a","value":${value}}]`
    const apply = () => applyJsonPatch(document, readJsonPatch(parseJson(text), true, text))
    expect(refusal(apply)).toBe(holds ? 'none' : REJECTED)
  })

  test('quotes and backslashes are spelled in one way', () => {
    const text = '[{"op":"test","path":"/a","value":"x\\"\\\\y\\n<"}]'.replace('<', '')
    const patch = readJsonPatch(parseJson(text), true, text)
    expect(refusal(() => applyJsonPatch({ a: 'x"\\y\n' }, patch))).toBe('none')
  })

  test('a failure leaves the document as it was', () => {
    const document = parseJson('{"a":{"b":[1]}}')
    const patch = readJsonPatch(parseJson('[{"op":"add","path":"/a/b/-","value":2},{"op":"remove","path":"/x"}]'), true)
    expect(refusal(() => applyJsonPatch(document, patch))).toBe(REJECTED)
    expect(treeText(document)).toBe('{"a":{"b":[1]}}')
  })

  test('copies may not make a document grow without end', () => {
    const double = '{"op":"copy","from":"/a","path":"/a/-"}'
    const patch = `[${Array.from({ length: 30 }, () => double).join()}]`
    expect(refusal(() => patched('{"a":["0123456789"]}', patch))).toBe(REJECTED)
  })
})

describe('documents', () => {
  const read = (text: string, checks: boolean) => readJsonPatch(parseJson(text), checks)

  test.each([
    [
      '{}',
      true,
      '400 error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    ],
    ['[1]', true, '400 error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp'],
    [
      '[{"op":1}]',
      true,
      '400 error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string',
    ],
    ...['1e400', '{"a":[1e400]}'].map((value): [string, boolean, string] => [
      `[{"op":"add","path":"/a","value":${value}}]`,
      true,
      '400 error decoding patch: json: cannot unmarshal number 1e400 into Go struct field jsonPatchOp.value of type float64',
    ]),
    ['"x"', false, '400 json: cannot unmarshal string into Go value of type jsonpatch.Patch'],
    ['[true]', false, '400 json: cannot unmarshal bool into Go value of type jsonpatch.Operation'],
  ])('%s is refused', (text, checks, message) => {
    expect(refusal(() => read(text, checks))).toBe(message)
  })

  test('10,000 operations are the most', () => {
    const operations = (count: number): JsonTree => Array.from({ length: count }, () => ({}))
    expect(readJsonPatch(operations(10_000), false).operations).toHaveLength(10_000)
    expect(refusal(() => readJsonPatch(operations(10_001), false))).toBe(
      '413 Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    )
  })

  test('unknown and repeated members are reported', () => {
    expect(read('[{},{"op":"add","path":"/a","comment":1,"value":1,"value":{"b":1,"b":2}}]', true).strict).toEqual([
      'json patch unknown field "[1].comment"',
      'json patch duplicate field "[1].value"',
      'json patch duplicate field "[1].value.b"',
    ])
  })
})

describe('why an operation cannot be done, in the words of evanphx/json-patch', () => {
  const why = (document: string, patch: string): string => {
    try {
      return patched(document, patch)
    } catch (error) {
      if (error instanceof PatchRejection) return error.isFailedTest ? `test: ${error.why}` : error.why
      throw error
    }
  }
  test.each([
    [
      'add',
      '[{"op":"add","path":"/a/b","value":1}]',
      'add operation does not apply: doc is missing path: "/a/b": missing value',
    ],
    [
      'add to a list',
      '[{"op":"add","path":"/l/5","value":1}]',
      "error in add for path: '/l/5': Unable to access invalid index: 5: invalid index referenced",
    ],
    [
      'add to a list by name',
      '[{"op":"add","path":"/l/x","value":1}]',
      "error in add for path: '/l/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": invalid syntax",
    ],
    [
      'remove',
      '[{"op":"remove","path":"/a"}]',
      "error in remove for path: '/a': Unable to remove nonexistent key: a: missing value",
    ],
    [
      'remove from a list',
      '[{"op":"remove","path":"/l/-3"}]',
      "error in remove for path: '/l/-3': Unable to access invalid index: -3: invalid index referenced",
    ],
    [
      'replace',
      '[{"op":"replace","path":"/a/b","value":1}]',
      'replace operation does not apply: doc is missing path: /a/b: missing value',
    ],
    [
      'replace in a list',
      '[{"op":"replace","path":"/l/2","value":1}]',
      'replace operation does not apply: doc is missing key: /l/2: missing value',
    ],
    [
      'move',
      '[{"op":"move","from":"/a/b","path":"/c"}]',
      'move operation does not apply: doc is missing from path: /a/b: missing value',
    ],
    [
      'move into nothing',
      '[{"op":"move","from":"/l","path":"/c/d"}]',
      'move operation does not apply: doc is missing destination path: /c/d: missing value',
    ],
    [
      'copy',
      '[{"op":"copy","from":"/l/2","path":"/c"}]',
      "error in copy for from: '/l/2': Unable to access invalid index: 2: invalid index referenced",
    ],
    ['test', '[{"op":"test","path":"/l","value":[]}]', 'test: testing value /l failed: test failed'],
    [
      'test of nothing',
      '[{"op":"test","path":"/a/b","value":1}]',
      'test operation does not apply: is missing path: /a/b: missing value',
    ],
    ['another operation', '[{"op":"turn","path":"/a"}]', 'Unexpected kind: turn'],
  ])('%s', (_, patch, text) => {
    expect(why('{"l":[1,2]}', patch)).toBe(text)
  })
})

describe('copies', () => {
  const document = '{"a":{"list":["é<",1,null,true,{},[],{"b":""}]},"n":1.50}'

  test.each(['/a', '/a/list', '/a/list/0', '/n', '/a/list/2'])('of %s add as many bytes as the text has', (from) => {
    const before = applyJsonPatch(parseJson(document), { operations: [], strict: [] })
    const operations = readJsonPatch([{ op: 'copy', from, path: '/x' }], true)
    const after = applyJsonPatch(parseJson(document), operations)
    const bytes = (tree: JsonTree) => new TextEncoder().encode(treeText(tree)).length
    expect(before.copied).toBe(0)
    expect(after.copied).toBe(bytes(after.document) - bytes(before.document) - ',"x":'.length)
  })

  test('of copies take no more work', () => {
    const copies = Array.from({ length: 18 }, () => ({ op: 'copy', from: '/q', path: '/q/-' }))
    const patch = readJsonPatch([{ op: 'add', path: '/q', value: ['x'] }, ...copies], true)
    const written = vi.spyOn(JSON, 'stringify')
    const { copied } = applyJsonPatch({}, patch)
    expect(copied).toBeGreaterThan(1_000_000)
    expect(written.mock.calls.length).toBeLessThan(100)
    written.mockRestore()
  })
})
