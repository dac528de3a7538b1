import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/api/object.ts'
import { firstResults } from '../../../src/codec/table/json-path.ts'
import { JsonPathError } from '../../../src/codec/table/parse-json-path.ts'
import { parseJsonPath } from '../../../src/codec/table/parse-json-path.ts'

const object = {
  kind: 'Thing',
  spec: {
    list: ['x', 'y', 'z'],
    objects: [
      { n: 1, v: 'x', on: true },
      { n: 2, v: 'y' },
      { n: 3, v: 'z', q: 1.5 },
    ],
    map: { a: '1', 'a.b': '2' },
    none: null,
  },
}

test.each<[path: string, results: unknown[]]>([
  ['.kind', ['Thing']],
  ['.spec.list', [['x', 'y', 'z']]],
  ['.spec.list[0]', ['x']],
  ['.spec.list[-1]', ['z']],
  ['.spec.list[1:]', ['y', 'z']],
  ['.spec.list[:2]', ['x', 'y']],
  ['.spec.list[::2]', ['x', 'z']],
  ['.spec.list[1:1]', []],
  ['.spec.list[*]', ['x', 'y', 'z']],
  ['.spec.list[0,2]', ['x', 'z']],
  ['.spec.objects[*].v', ['x', 'y', 'z']],
  ['.spec.objects[?(@.n==2)].v', ['y']],
  ['.spec.objects[?(@.n>=2)].v', ['y', 'z']],
  ['.spec.objects[?(@.v=="x")].n', [1]],
  [".spec.objects[?(@.v!='x')].n", [2, 3]],
  ['.spec.objects[?(@.on)].n', [1]],
  ["['spec']['map']['a']", ['1']],
  ['.spec.map.a\\.b', ['2']],
  ['..q', [1.5]],
  ['.spec.none', [null]],
  ['.spec.none.deeper', []],
  ['.missing.deeper', []],
  ['.kind.deeper', []],
  ['.kind}text{.spec', ['Thing']],
])('%s', (path, results) => expect(firstResults(parseJsonPath(`{${path}}`), object)).toEqual(results))

test.each(['.spec.list[9]', '.spec.list[2:1]', '.kind[0]', '.kind[?(@.n==1)]', '.spec.objects[?(@.q==1)].n', 'word'])(
  '%s can not be evaluated',
  (path) => expect(() => firstResults(parseJsonPath(`{${path}}`), object)).toThrow(JsonPathError),
)

const nested = (depth: number): JsonObject => (depth === 0 ? {} : { a: nested(depth - 1) })

test.each([
  ['each name twice, again and again', "['a','a']".repeat(40)],
  ['all below all below all', '..a'.repeat(12)],
  ['a filter that looks for much', `[?(@${"['a','a']".repeat(40)})]`],
])('%s comes to an end', (_, path) => {
  const root = path.startsWith('[?') ? [nested(90)] : nested(90)
  expect(() => firstResults(parseJsonPath(`{${path}}`), root)).toThrow('it finds too much')
})

test.each(['.a[', '.a[b]', '.a["b"]', '.a[?(@.n]', '.a[?(@.n==1)', '.a..', '"abc', '#'])('%s is no path', (path) =>
  expect(() => parseJsonPath(`{.x${path.startsWith('.') ? path : ` ${path}`}`)).toThrow(JsonPathError),
)
