import { describe, expect, test } from 'vitest'
import type { Node } from '../../../../src/api/core/v1.ts'
import type { Endpoint, EndpointSlice } from '../../../../src/api/discovery/v1.ts'
import { planByTopology } from '../../../../src/controllers/workloads/endpoints/slice-topology.ts'
import { sharesOf, transfers, zoneParts } from '../../../../src/controllers/workloads/endpoints/zone-shares.ts'

const node = (zone: string | undefined, cpu = '4', { isReady = true, labels = {} } = {}): Node => ({
  metadata: { name: 'n', labels: { ...labels, ...(zone && { 'topology.kubernetes.io/zone': zone }) } },
  status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
})
const endpoint = (zone: string, hint?: string, ready = true): Endpoint => ({
  addresses: ['10.0.0.1'],
  conditions: { ready },
  ...(zone && { zone }),
  ...(hint === undefined ? {} : { hints: { forZones: [{ name: hint }] } }),
})
const slice = (...endpoints: Endpoint[]): EndpointSlice => ({ metadata: {}, addressType: 'IPv4', endpoints })
const hints = ({ endpoints = [] }: EndpointSlice) =>
  endpoints.map((one) => one.hints?.forZones?.map(({ name }) => name).join())
const NOTHING = { create: [], update: [], remove: [] }
const three = zoneParts([node('a'), node('b'), node('c')])

describe('the parts of zones', () => {
  test.each([
    ['by cores', [node('a', '1'), node('b', '2500m'), node('b', '500m')], { a: 0.25, b: 0.75 }],
    ['of one zone', [node('a'), node('a')], undefined],
    ['without a zone', [node('a'), node('b'), node(undefined)], undefined],
    ['without cores', [node('a'), node('b', '0')], undefined],
    [
      'without those that are not ready',
      [node('a'), node('b'), node(undefined, '1', { isReady: false })],
      { a: 0.5, b: 0.5 },
    ],
    [
      'without control planes',
      [node('a'), node('b'), node('', '8', { labels: { 'node-role.kubernetes.io/control-plane': '' } })],
      { a: 0.5, b: 0.5 },
    ],
  ])('%s', (_, nodes, parts) => {
    const found = zoneParts(nodes)
    expect(found && Object.fromEntries(found)).toEqual(parts)
  })
})

describe('the shares of zones', () => {
  test.each([
    [6, { a: { most: 2, wanted: 2 }, b: { most: 2, wanted: 2 }, c: { most: 2, wanted: 2 } }],
    [2, 'Insufficient number of endpoints (2 endpoints, 3 zones)'],
    [
      4,
      'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (4 endpoints, 3 zones)',
    ],
  ])('of %i endpoints', (endpoints, shares) => {
    const found = sharesOf(three, endpoints)
    expect(typeof found === 'string' ? found : Object.fromEntries(found)).toEqual(shares)
  })

  test('come from those that have too many', () => {
    const shares = sharesOf(three, 6)
    if (typeof shares === 'string') throw new Error(shares)
    const { giving, receiving } = transfers(shares, new Map([['a', 5], ['b', 1]])) // prettier-ignore
    expect(Object.fromEntries(giving)).toEqual({ a: 3 })
    expect(Object.fromEntries(receiving)).toEqual({ b: 1, c: 2 })
  })
})

describe('hints by topology', () => {
  const planned = (create: EndpointSlice[], unchanged: EndpointSlice[] = []) =>
    planByTopology({ ...NOTHING, create }, unchanged, three)

  test('are for the own zone, and for those that have too few', () => {
    const plan = planned([slice(...['a', 'a', 'a', 'a', 'b', 'c'].map((zone) => endpoint(zone)))])
    if (typeof plan === 'string') throw new Error(plan)
    expect(plan.create.map(hints)).toEqual([['b', 'c', 'a', 'a', 'b', 'c']])
  })

  test('of slices that are right are left alone, of others made anew', () => {
    const right = slice(endpoint('a', 'a'), endpoint('b', 'b'), endpoint('c', 'c'))
    const wrong = slice(endpoint('a', 'gone'), endpoint('b'), endpoint('c', 'c', false))
    const plan = planned([slice(endpoint('c'))], [right, wrong])
    if (typeof plan === 'string') throw new Error(plan)
    expect([...plan.update, ...plan.create].map(hints)).toEqual([['a', 'b', 'c'], ['c']])
  })

  test('are for nobody where an endpoint has no zone', () => {
    const plan = planned([slice(endpoint('a'), endpoint('b'), endpoint(''))])
    expect(plan).toBe('One or more endpoints do not have a zone specified')
  })
})
