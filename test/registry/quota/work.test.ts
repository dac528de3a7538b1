import { expect, test } from 'vitest'
import type { ResourceQuota } from '../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { evaluatorOf } from '../../../src/registry/quota/evaluators.ts'
import { resourceQuotas } from '../../../src/registry/core/resource-quotas.ts'
import { changesUsage, isOverAt } from '../../../src/registry/quota/work.ts'
import { revisionAt } from '../../../src/storage/revisions/revision.ts'

type Quota = KubeObject & ResourceQuota

const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`)

function quota(used: string, written: string): Quota {
  const metadata = { namespace: 'n', name: 'q', resourceVersion: String(revisionAt(at(written))) }
  return { metadata, status: { used: { secrets: used } } }
}

/** The work that a write at `time` enqueues: when the quota is due for a recount, and other topics. */
function workAt(time: string, object: Quota, old?: Quota): string[] {
  const works = resourceQuotas.work!({
    resource: { group: '', resource: 'resourcequotas' },
    object,
    old,
    now: at(time),
  })
  return works.map(({ topic, payload, once }) => {
    const [key, period] = payload.split(' ')
    expect(once).toBe(period === undefined ? undefined : true)
    return period === undefined
      ? topic
      : `${topic} ${key} ${new Date(isOverAt(Number(period))).toISOString().slice(11, 19)}`
  })
}
const charged = (time: string): string => `resource-quota-charged n/q ${time}`

test.each<[string, string, Quota, Quota, string[]]>([
  ['the first charge in a minute', '10:00:01', quota('1', '10:00:01'), quota('0', '09:00:00'), [charged('10:02:00')]],
  ['another', '10:00:59', quota('2', '10:00:59'), quota('1', '10:00:01'), [charged('10:02:00')]],
  ['one in the next minute', '10:01:00', quota('3', '10:01:00'), quota('2', '10:00:59'), [charged('10:03:00')]],
  [
    'one after a charge that began in the minute before',
    '10:01:01',
    quota('3', '10:01:01'),
    quota('2', '10:01:00'),
    [charged('10:03:00')],
  ],
  [
    'one in the minute that made the quota',
    '10:00:09',
    quota('1', '10:00:09'),
    quota('0', '10:00:08'),
    [charged('10:02:00')],
  ],
  ['a write that charges nothing', '10:05:00', quota('1', '10:05:00'), quota('1', '10:00:00'), []],
  [
    'a first count',
    '10:00:09',
    { ...quota('1', '10:00:09'), status: { hard: { secrets: '9' }, used: { secrets: '1' } } },
    quota('0', '10:00:08'),
    ['resource-quota'],
  ],
])('%s: what it is work for', (_, time, now, old, expected) => {
  expect(workAt(time, now, old)).toEqual(expected)
})

test('a new quota is counted', () => {
  expect(workAt('10:05:00', { ...quota('1', '10:05:00'), spec: { hard: { secrets: '9' } } })).toEqual([
    'resource-quota',
  ])
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
