import { expect, test } from 'vitest'
import { parseQuery } from '../../src/request/query-parameters.ts'

test.each<[query: string, pairs: readonly (readonly [string, string])[]]>([
  ['', []],
  ['?', []],
  [
    '?a=b&c',
    [
      ['a', 'b'],
      ['c', ''],
    ],
  ],
  ['?a=b=c', [['a', 'b=c']]],
  ['?a=x+y%20z', [['a', 'x y z']]],
  ['?%61=%c3%a4', [['a', 'ä']]],
  // Go drops a pair that contains a semicolon
  ['?a=b;c=d&e=f', [['e', 'f']]],
  ['?a=%zz&b=%&c=%1&d=e', [['d', 'e']]],
  // an octet that is invalid UTF-8 becomes U+FFFD: dropping it would leave an empty selector, which selects everything
  ['?a=%ff', [['a', '\ufffd']]],
  ['?a=b%ff%fec', [['a', 'b\ufffd\ufffdc']]],
  ['?%ff=a', [['\ufffd', 'a']]],
  ['?a=ä%ff+%2B', [['a', 'ä\ufffd +']]],
])('%s', (query, pairs) => {
  const found = parseQuery(query)
  for (const [name, value] of pairs) expect(found.getAll(name)).toEqual([value])
  for (const name of ['a', 'b', 'c', 'd', 'e', '\ufffd'])
    if (!pairs.some(([known]) => known === name)) expect(found.has(name)).toBe(false)
})
