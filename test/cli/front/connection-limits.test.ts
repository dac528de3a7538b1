import { expect, test } from 'vitest'
import { ConnectionLimits, TO_BE_REFUSED } from '../../../src/cli/front/connection-limits.ts'

const admitAll = (limits: ConnectionLimits, address: string, count: number): string[] =>
  Array.from({ length: count }, () => limits.admit(address))

test.each([
  ['one address', '192.0.2.1', '192.0.2.1', 2],
  ['an address in the form of IPv6', '::ffff:192.0.2.1', '192.0.2.1', 2],
  ['a network of IPv6', '2001:db8:1:2::1', '2001:db8:1:2:ffff::2', 2],
  ['the same, written out', '2001:db8:0:0:1:2:3:4', '2001:db8::9', 2],
  ['another network of IPv6', '2001:db8:1:2::1', '2001:db8:1:3::1', 4],
  ['another address', '192.0.2.1', '192.0.2.2', 4],
  ['this machine', '127.0.0.1', '127.0.0.1', 4],
  ['this machine by IPv6', '::1', '::1', 4],
])('%s', (_what, one, other, admitted) => {
  const limits = new ConnectionLimits({ total: 100, perAddress: 2 })
  const all = [...admitAll(limits, one, 2), ...admitAll(limits, other, 2)]
  expect(all.filter((admission) => admission === 'admitted')).toHaveLength(admitted)
})

test('connections are admitted, then refused with an answer, then closed; a closed one makes room', () => {
  const limits = new ConnectionLimits({ total: 3, perAddress: 3 })
  const all = admitAll(limits, '192.0.2.1', TO_BE_REFUSED + 5)
  expect(all.slice(0, 3)).toEqual(Array(3).fill('admitted'))
  expect(all.slice(3, 3 + TO_BE_REFUSED)).toEqual(Array(TO_BE_REFUSED).fill('to be refused'))
  expect(all.slice(3 + TO_BE_REFUSED)).toEqual(['closed', 'closed'])
  limits.release('192.0.2.1', 'to be refused')
  expect(limits.admit('192.0.2.2')).toBe('to be refused')
  limits.release('192.0.2.1', 'admitted')
  expect(limits.admit('192.0.2.2')).toBe('admitted')
})

test('an address without connections is forgotten', () => {
  const limits = new ConnectionLimits({ total: 1e9, perAddress: 9 })
  for (let n = 0; n < 1_000; n++) limits.release(`10.0.${n >> 8}.${n & 255}`, limits.admit(`10.0.${n >> 8}.${n & 255}`))
  expect(limits.addresses).toBe(0)
})
