import { expect, test } from 'vitest'
import type { EndpointSlice } from '../../src/api/discovery/v1.ts'
import { endpointOf } from '../../src/outgoing/service-place.ts'

const slice = (
  addressType: string,
  addresses: readonly string[],
  more: Partial<EndpointSlice> = {},
): EndpointSlice => ({
  metadata: {},
  addressType,
  ports: [{ name: 'https', port: 8443 }],
  endpoints: addresses.map((address) => ({ addresses: [address] })),
  ...more,
})
const first = () => 0

test.each<[string, EndpointSlice[], string | undefined]>([
  ['none', [], undefined],
  ['no endpoints', [slice('IPv4', [])], undefined],
  ['another port', [slice('IPv4', ['10.0.0.1'], { ports: [{ name: 'http', port: 80 }] })], undefined],
  ['a port without a number', [slice('IPv4', ['10.0.0.1'], { ports: [{ name: 'https' }] })], undefined],
  [
    'one that is not ready, and one that does not say',
    [
      slice('IPv4', [], {
        endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false } }, { addresses: ['10.0.0.2'] }],
      }),
    ],
    '10.0.0.2',
  ],
  ['both families', [slice('IPv4', ['10.0.0.1']), slice('IPv6', ['fd00::1'])], 'fd00::1'],
  ['the other family alone', [slice('IPv4', ['10.0.0.1'])], '10.0.0.1'],
])('of %s', (_, slices, expected) => {
  expect(endpointOf(slices, 'https', 'IPv6', first)?.address).toBe(expected)
})

test('every ready endpoint may be the one', () => {
  const slices = [slice('IPv4', ['10.0.0.1', '10.0.0.2']), slice('IPv4', ['10.0.0.3'])]
  const counts: number[] = []
  const found = [0, 1, 2].map((at) =>
    endpointOf(slices, 'https', 'IPv4', (count) => {
      counts.push(count)
      return at
    }),
  )
  expect(counts).toEqual([3, 3, 3])
  expect(found.map((one) => one?.address)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3'])
})
