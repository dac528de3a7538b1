import { expect, test } from 'vitest'
import type { ResourceQuota } from '../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { textsOf } from '../../../src/registry/quota/amounts.ts'
import { checkQuota } from '../../../src/registry/quota/check.ts'
import { evaluatorOf } from '../../../src/registry/quota/evaluators.ts'

type Texts = Record<string, string>

const pod = (requests: Texts, more: object = {}): KubeObject =>
  ({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', resources: { requests } }], ...more } }) as KubeObject

function check(
  hard: Texts,
  used: Texts,
  object: KubeObject,
  {
    spec = {},
    oldObject,
    subresource = '',
  }: {
    spec?: object
    oldObject?: KubeObject
    subresource?: string
  } = {},
) {
  const quota: ResourceQuota = { metadata: { name: 'q' }, spec, status: { hard, used } }
  const write = { operation: oldObject ? 'UPDATE' : 'CREATE', subresource, object, oldObject } as const
  const result = checkQuota(quota, evaluatorOf({ group: '', resource: 'pods' })!, write, new Date(0))
  return 'refusal' in result ? result.refusal : result.added && textsOf(result.added)
}

test.each<[string, ReturnType<typeof check>, string | Texts | undefined]>([
  [
    'what fits is added',
    check({ pods: '2', cpu: '2' }, { pods: '1', cpu: '500m' }, pod({ cpu: '1' })),
    { pods: '1', cpu: '1' },
  ],
  [
    'what does not is refused, with the names that are exceeded alone',
    check(
      { pods: '5', cpu: '1', 'requests.cpu': '1' },
      { pods: '1', cpu: '1', 'requests.cpu': '1' },
      pod({ cpu: '1' }),
    ),
    'exceeded quota: q, requested: cpu=1,requests.cpu=1, used: cpu=1,requests.cpu=1, limited: cpu=1,requests.cpu=1',
  ],
  ['a quota for other things', check({ secrets: '0' }, { secrets: '0' }, pod({})), undefined],
  [
    'a quota of another scope',
    check({ pods: '0' }, { pods: '0' }, pod({}), { spec: { scopes: ['Terminating'] } }),
    undefined,
  ],
  [
    'containers that do not say what the quota limits',
    check({ cpu: '1', 'limits.memory': '1Gi' }, { cpu: '0', 'limits.memory': '0' }, pod({})),
    'failed quota: q: must specify cpu for: c; limits.memory for: c',
  ],
  [
    'usage that is not counted yet',
    check({ pods: '1', cpu: '1' }, { pods: '0' }, pod({ cpu: '1' })),
    'status unknown for quota: q, resources: cpu,pods',
  ],
  [
    'an update that grows',
    check({ cpu: '3' }, { cpu: '2' }, pod({ cpu: '2' }), { oldObject: pod({ cpu: '1' }), subresource: 'resize' }),
    { cpu: '1' },
  ],
  [
    'an update that shrinks, above the quota',
    check({ cpu: '1' }, { cpu: '2' }, pod({ cpu: '1' }), { oldObject: pod({ cpu: '2' }), subresource: 'resize' }),
    undefined,
  ],
  [
    'an update that comes into the scope',
    check({ pods: '1' }, { pods: '1' }, pod({}, { activeDeadlineSeconds: 1 }), {
      spec: { scopes: ['Terminating'] },
      oldObject: pod({}),
    }),
    'exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
  ],
  [
    'what a status tells is counted, however much',
    check({ pods: '0' }, { pods: '0' }, pod({}), { subresource: 'status' }),
    { pods: '1' },
  ],
  [
    'a negative request',
    check({ cpu: '1' }, { cpu: '0' }, pod({ cpu: '-1' })),
    'quota usage is negative for resource(s): cpu,requests.cpu',
  ],
])('%s', (_, result, expected) => expect(result).toEqual(expected))
