import { expect, test } from 'vitest'
import { Budget } from '../../../src/base/budget.ts'
import { parseQuery } from '../../../src/registry/simulation/stage-query.ts'

const pod = {
  metadata: { annotations: { 'a.b/c': 'x' }, ownerReferences: [{ kind: 'Job' }, { kind: 'Set' }] },
  status: {
    phase: 'Running',
    n: 3,
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Other', status: 'False' },
    ],
  },
}

// the results of gojq; undefined where gojq fails
test.each([
  ['.', [pod]],
  ['.status.phase', ['Running']],
  ['.status."phase"', ['Running']],
  ['.metadata.annotations["a.b/c"]', ['x']],
  ['.metadata.annotations["missing"]', []],
  ['.missing.too.deep', []],
  ['.status.conditions.[].type', ['Ready', 'Other']],
  ['.status.conditions[].type', ['Ready', 'Other']],
  ['.status.conditions[-1].type', ['Other']],
  ['.status.conditions.[] | select( .type == "Ready" ) | .status', ['True']],
  ['.status.conditions.[] | select(.type == "Ready" and .status != "True")', []],
  ['.status.conditions[] | select((.type == "None") or (.status | . == "False")) | .type', ['Other']],
  ['.status.conditions[] | select(.type == "Ready" | not) | .type', ['Other']],
  ['.metadata.ownerReferences.[].kind', ['Job', 'Set']],
  ['.status.n >= 3', [true]],
  ['.status.n < 3', [false]],
  ['.missing[]', undefined],
  ['.missing[]?', []],
  ['.status.phase.x', undefined],
  ['.status.phase?.x?', []],
  ['.constructor', []],
  ['.__proto__', []],
])('%s', (query, found) => {
  expect(parseQuery(query)(pod, new Budget())).toEqual(found)
})

test.each([
  ['.a |', 'it ends too early'],
  ['.a.', 'a path ends with a dot'],
  ['.a[', 'a bracket is not closed'],
  ['map(.a)', '"map" is not supported'],
  ['.a // "b"', '"// \\"b\\"" is not supported'],
  ['.a as $x | $x', '"$x | $x" is not supported'],
  ['select(.a', 'a parenthesis is not closed'],
  ['.[.a]', 'a bracket is not closed'],
  ['', 'it ends too early'],
  ['('.repeat(30), 'more than 16 parentheses'],
  ['.a'.repeat(2000), 'more than 2048 characters'],
])('%s is refused', (query, why) => {
  expect(() => parseQuery(query)).toThrow(why)
})

test.each(['.[] | .[]', '.[0] | .[] == .[]', '.[0] | select(.[] == .[] and .[] == .[])', '.[]?[]?[]?'])(
  'more than 100,000 values are not looked at: %s',
  (query) => {
    let reads = 0
    const list = new Proxy(
      Array.from({ length: 5_000 }, () => 1),
      { get: (target, name, self) => (reads++, Reflect.get(target, name, self) as unknown) },
    )
    expect(
      parseQuery(query)(
        Array.from({ length: 5_000 }, () => list),
        new Budget(),
      ),
    ).toBeUndefined()
    expect(reads).toBeLessThan(1_000_000)
  },
)
