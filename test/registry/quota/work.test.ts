import { expect, test } from 'vitest'
import type { ResourceQuota } from '../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { evaluatorOf } from '../../../src/registry/quota/evaluators.ts'
import { changesUsage, isOverAt, newPeriod } from '../../../src/registry/quota/work.ts'
import { revisionAt } from '../../../src/storage/revision.ts'

const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`)

function quota(used: string, written: string): KubeObject & ResourceQuota {
  const metadata = { name: 'q', resourceVersion: String(revisionAt(at(written))) }
  return { metadata, status: { used: { secrets: used } } }
}

test('of the charges of a minute one is work, which is looked at when they are all written', () => {
  const times = ['10:00:01', '10:00:02', '10:00:59', '10:01:00', '10:01:30', '10:05:00', '10:05:01']
  let old = quota('0', '09:00:00')
  const periods = times.map((time, index) => {
    const now = quota(String(index + 1), time)
    const period = newPeriod(now, old, at(time))
    old = now
    return period === undefined ? undefined : new Date(isOverAt(period)).toISOString().slice(11, 19)
  })
  expect(periods).toEqual(['10:02:00', undefined, undefined, '10:03:00', undefined, '10:07:00', undefined])
})

test('a write that charges nothing is no work', () => {
  expect(newPeriod(quota('1', '10:05:00'), quota('1', '10:00:00'), at('10:05:00'))).toBeUndefined()
  expect(newPeriod(quota('1', '10:05:00'), undefined, at('10:05:00'))).toBeUndefined()
})

const container = (cpu: string) => ({ name: 'c', resources: { requests: { cpu } } })
const pod = (more: { metadata?: object; spec?: object; status?: object } = {}): KubeObject =>
  ({
    ...more,
    metadata: { name: 'p', ...more.metadata },
    spec: { containers: [container('1')], ...more.spec },
  }) as KubeObject
const claim = (storage: string, status = {}, more = {}): KubeObject =>
  ({
    metadata: { name: 'c' },
    spec: { resources: { requests: { storage } }, ...more },
    status,
  }) as unknown as KubeObject
const service = (type: string, ports: number): KubeObject =>
  ({ metadata: { name: 's' }, spec: { type, ports: Array.from({ length: ports }, () => ({ port: 1 })) } }) as KubeObject
const ends = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 }

test.each<[string, string, KubeObject, KubeObject, boolean]>([
  ['a pod that begins to run', 'pods', pod(), pod({ status: { phase: 'Running' } }), false],
  ['a pod that gets labels', 'pods', pod(), pod({ metadata: { labels: { a: 'b' } } }), false],
  ['a pod that succeeded', 'pods', pod(), pod({ status: { phase: 'Succeeded' } }), true],
  ['a pod that failed', 'pods', pod({ status: { phase: 'Running' } }), pod({ status: { phase: 'Failed' } }), true],
  [
    'a pod that has ended for long',
    'pods',
    pod({ status: { phase: 'Failed' } }),
    pod({ status: { phase: 'Failed', reason: 'x' } }),
    false,
  ],
  ['a pod that is being deleted', 'pods', pod(), pod({ metadata: ends }), true],
  [
    'a pod that is to go sooner',
    'pods',
    pod({ metadata: ends }),
    pod({ metadata: { ...ends, deletionGracePeriodSeconds: 1 } }),
    true,
  ],
  [
    'a pod that was to end and now has to go',
    'pods',
    pod({ status: { phase: 'Failed' } }),
    pod({ metadata: ends, status: { phase: 'Failed' } }),
    false,
  ],
  ['a pod with other requests', 'pods', pod(), pod({ spec: { containers: [container('2')] } }), true],
  ['a pod whose node gives it more', 'pods', pod(), pod({ status: { containerStatuses: [container('3')] } }), true],
  ['a pod with a deadline from now on', 'pods', pod(), pod({ spec: { activeDeadlineSeconds: 9 } }), true],
  ['a claim that is bound', 'persistentvolumeclaims', claim('1Gi'), claim('1Gi', { phase: 'Bound' }), false],
  ['a claim that grows', 'persistentvolumeclaims', claim('1Gi'), claim('2Gi'), true],
  [
    'a claim of which less is allocated',
    'persistentvolumeclaims',
    claim('1Gi', { allocatedResources: { storage: '3Gi' } }),
    claim('1Gi'),
    true,
  ],
  [
    'a claim of another class',
    'persistentvolumeclaims',
    claim('1Gi'),
    claim('1Gi', {}, { volumeAttributesClassName: 'gold' }),
    true,
  ],
  ['a Service of another type', 'services', service('NodePort', 1), service('ClusterIP', 1), true],
  ['a Service with fewer node ports', 'services', service('NodePort', 2), service('NodePort', 1), true],
  ['a Service with fewer ports', 'services', service('ClusterIP', 2), service('ClusterIP', 1), false],
  ['a ConfigMap', 'configmaps', pod(), pod({ status: { phase: 'Failed' } }), false],
])('%s: whether it is counted again', (_, resource, old, object, expected) => {
  const change = { resource: { group: '', resource }, old, object, now: 0 }
  expect(changesUsage(evaluatorOf(change.resource)!, change)).toBe(expected)
})
