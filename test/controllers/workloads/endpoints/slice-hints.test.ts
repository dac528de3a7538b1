import { expect, test } from 'vitest'
import type { Service } from '../../../../src/api/core/v1.ts'
import type { Endpoint, EndpointSlice } from '../../../../src/api/discovery/v1.ts'
import { planWithHints } from '../../../../src/controllers/workloads/endpoints/slice-hints.ts'

const NOTHING = { create: [], update: [], remove: [] }

const endpoint = (more: Partial<Endpoint> = {}): Endpoint => ({
  addresses: ['10.1.1.1'],
  conditions: { ready: true },
  zone: 'a',
  nodeName: 'n',
  ...more,
})

const slice = (...endpoints: Endpoint[]): EndpointSlice => ({
  metadata: { name: 'web-1' },
  addressType: 'IPv4',
  endpoints,
  ports: [],
})

const service = (trafficDistribution?: string, annotations: Record<string, string> = {}): Service => ({
  metadata: { name: 'web', annotations },
  spec: trafficDistribution === undefined ? {} : { trafficDistribution },
})

const zone = { forZones: [{ name: 'a' }] }
const both = { ...zone, forNodes: [{ name: 'n' }] }

test.each([
  ['PreferClose', endpoint(), zone],
  ['PreferSameZone', endpoint(), zone],
  ['PreferSameNode', endpoint(), both],
  ['PreferSameZone', endpoint({ hints: both }), zone],
  [
    'PreferSameNode',
    { addresses: ['10.1.1.1'], conditions: { ready: true }, nodeName: 'n' },
    { forNodes: both.forNodes },
  ],
  ['PreferSameZone', endpoint({ conditions: { ready: false }, hints: both }), both],
  ['Nonsense', endpoint({ hints: zone }), undefined],
  [undefined, endpoint({ hints: zone }), undefined],
])('%s: %j gets %j', (distribution, before, hints) => {
  const [made] = planWithHints(service(distribution), { ...NOTHING, create: [slice(before)] }, []).create
  expect(made?.endpoints?.[0]?.hints).toEqual(hints)
})

test('slices that are otherwise as they should be are changed for their hints alone', () => {
  const [right, wrong] = [slice(endpoint({ hints: zone })), { ...slice(endpoint()), metadata: { name: 'web-2' } }]
  const plan = planWithHints(service('PreferClose'), NOTHING, [right, wrong])
  expect(plan.update.map(({ metadata }) => metadata.name)).toEqual(['web-2'])
  const going = planWithHints(service('PreferClose'), { ...NOTHING, remove: [wrong] }, [right, wrong])
  expect(going.update).toEqual([])
})

test('the annotation counts before the field', () => {
  const annotations = { 'service.kubernetes.io/topology-mode': 'Auto' }
  const plan = planWithHints(service('PreferClose', annotations), NOTHING, [slice(endpoint({ hints: zone }))])
  expect(plan.update[0]?.endpoints?.[0]?.hints).toBeUndefined()
})
