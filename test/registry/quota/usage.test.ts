import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { textsOf } from '../../../src/registry/quota/amounts.ts'
import { evaluatorOf, isInScope } from '../../../src/registry/quota/evaluators.ts'

const NOW = new Date('2026-01-01T00:00:00Z')

const used = (resource: string, object: object, group = ''): Record<string, string> =>
  // an object with the fields that quota reads
  textsOf(evaluatorOf({ group, resource })!.usage({ metadata: { name: 'a' }, ...object } as KubeObject, NOW))

const container = (requests: Record<string, string>, limits: Record<string, string> = {}, more: object = {}) => ({
  name: 'c',
  resources: { requests, limits },
  ...more,
})
const pod = (spec: object, more: object = {}) => used('pods', { spec, ...more })

describe('a pod uses', () => {
  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['nothing but itself', pod({ containers: [{ name: 'c' }] }), { 'count/pods': '1', pods: '1' }],
    [
      'what its containers need together',
      pod({ containers: [container({ cpu: '100m' }, { memory: '1Gi' }), container({ cpu: '1' }, { memory: '1Gi' })] }),
      { 'count/pods': '1', cpu: '1100m', 'limits.memory': '2Gi', pods: '1', 'requests.cpu': '1100m' },
    ],
    [
      'what an init container needs, if that is more',
      pod({
        containers: [container({ cpu: '1' })],
        initContainers: [container({ cpu: '3' }), container({ cpu: '2' })],
      }),
      { 'count/pods': '1', cpu: '3', pods: '1', 'requests.cpu': '3' },
    ],
    [
      'its sidecars besides, which run beside later init containers too',
      pod({
        containers: [container({ cpu: '1' })],
        initContainers: [container({ cpu: '2' }, {}, { restartPolicy: 'Always' }), container({ cpu: '2' })],
      }),
      { 'count/pods': '1', cpu: '4', pods: '1', 'requests.cpu': '4' },
    ],
    [
      'what it asks for itself in place of its containers, and its overhead',
      pod({
        containers: [container({ cpu: '1', memory: '1Gi' }, { cpu: '1' })],
        resources: { requests: { cpu: '5' } },
        overhead: { cpu: '1', memory: '1Mi' },
      }),
      {
        'count/pods': '1',
        cpu: '6',
        'limits.cpu': '2',
        memory: '1025Mi',
        pods: '1',
        'requests.cpu': '6',
        'requests.memory': '1025Mi',
      },
    ],
    [
      'huge pages and what has a domain',
      pod({ containers: [container({ 'hugepages-2Mi': '4Mi', 'example.com/gpu': '2' })] }),
      {
        'count/pods': '1',
        'hugepages-2Mi': '4Mi',
        pods: '1',
        'requests.example.com/gpu': '2',
        'requests.hugepages-2Mi': '4Mi',
      },
    ],
    [
      'what its node gave it, while a resize is under way',
      pod(
        { containers: [container({ cpu: '1' })] },
        { status: { containerStatuses: [{ name: 'c', resources: { requests: { cpu: '2' } } }] } },
      ),
      { 'count/pods': '1', cpu: '2', pods: '1', 'requests.cpu': '2' },
    ],
    ['its place alone once it has ended', pod({}, { status: { phase: 'Succeeded' } }), { 'count/pods': '1' }],
    [
      'its place alone when it should be gone',
      used('pods', {
        metadata: { name: 'a', deletionTimestamp: '2025-12-31T23:59:00Z', deletionGracePeriodSeconds: 30 },
      }),
      { 'count/pods': '1' },
    ],
  ])('%s', (_, usage, expected) => expect(usage).toEqual(expected))
})

describe('other objects use', () => {
  const service = (spec: object) => used('services', { spec })
  const counts = { 'count/services': '1', services: '1' }
  const ports = [{ port: 1 }, { port: 2, nodePort: 30000 }]
  const devices = (...requests: object[]) =>
    used('resourceclaims', { spec: { devices: { requests } } }, 'resource.k8s.io')
  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['ConfigMap', used('configmaps', {}), { configmaps: '1', 'count/configmaps': '1' }],
    ['Deployment', used('deployments', {}, 'apps'), { 'count/deployments.apps': '1' }],
    ['custom object', used('things', {}, 'example.com'), { 'count/things.example.com': '1' }],
    [
      'Service',
      service({ type: 'ClusterIP', ports }),
      { ...counts, 'services.loadbalancers': '0', 'services.nodeports': '0' },
    ],
    [
      'NodePort',
      service({ type: 'NodePort', ports }),
      { ...counts, 'services.loadbalancers': '0', 'services.nodeports': '2' },
    ],
    [
      'LoadBalancer',
      service({ type: 'LoadBalancer', ports }),
      { ...counts, 'services.loadbalancers': '1', 'services.nodeports': '2' },
    ],
    [
      'LoadBalancer without node ports but those it names',
      service({ type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: false }),
      { ...counts, 'services.loadbalancers': '1', 'services.nodeports': '1' },
    ],
    [
      'claim of a class',
      used('persistentvolumeclaims', {
        spec: { storageClassName: 'gold', resources: { requests: { storage: '1500m' } } },
      }),
      {
        'count/persistentvolumeclaims': '1',
        'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
        'gold.storageclass.storage.k8s.io/requests.storage': '2',
        persistentvolumeclaims: '1',
        'requests.storage': '2',
      },
    ],
    [
      'claim of devices, by the dearest alternative',
      devices(
        { exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 } },
        {
          firstAvailable: [
            { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 },
            { deviceClassName: 'gpu', allocationMode: 'All' },
          ],
        },
      ),
      { 'count/resourceclaims.resource.k8s.io': '1', 'gpu.deviceclass.resource.k8s.io/devices': '34' },
    ],
  ])('%s', (_, usage, expected) => expect(usage).toEqual(expected))

  test.each([
    ['', 'events'],
    ['events.k8s.io', 'events'],
    ['', 'bindings'],
    // of reviews only this one is in a namespace
    ['authorization.k8s.io', 'localsubjectaccessreviews'],
    ['authentication.k8s.io', 'tokenreviews'],
  ])('%s %s are counted by no quota', (group, resource) => expect(evaluatorOf({ group, resource })).toBeUndefined())
})

describe('scopes of a quota', () => {
  const spec = (more: object) => ({ spec: { containers: [{ name: 'c' }], ...more } })
  const bound = (operator: string, values?: string[]) => ({
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, ...(values && { values }) }] },
  })
  const burstable = { containers: [container({ cpu: '1' })] }
  const far = {
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: ['b'] }] } },
  }
  test.each<[string, object, object, boolean]>([
    ['none', {}, spec({}), true],
    ['Terminating, with a deadline', { scopes: ['Terminating'] }, spec({ activeDeadlineSeconds: 0 }), true],
    ['Terminating, without', { scopes: ['Terminating'] }, spec({}), false],
    ['NotTerminating', { scopes: ['NotTerminating'] }, spec({}), true],
    ['BestEffort', { scopes: ['BestEffort'] }, spec({}), true],
    ['NotBestEffort', { scopes: ['NotBestEffort'] }, spec(burstable), true],
    ['both of which one fails', { scopes: ['NotBestEffort', 'Terminating'] }, spec(burstable), false],
    ['a class that exists', bound('Exists'), spec({ priorityClassName: 'high' }), true],
    ['no class', bound('DoesNotExist'), spec({ priorityClassName: 'high' }), false],
    ['one of some classes', bound('In', ['high']), spec({ priorityClassName: 'high' }), true],
    ['one of others', bound('In', ['low']), spec({ priorityClassName: 'high' }), false],
    ['none of some, without any', bound('NotIn', ['low']), spec({}), true],
    ['affinity to another namespace', { scopes: ['CrossNamespacePodAffinity'] }, spec(far), true],
    ['affinity to its own', { scopes: ['CrossNamespacePodAffinity'] }, spec({}), false],
  ])('%s', (_, quota, pod, expected) => {
    const evaluator = evaluatorOf({ group: '', resource: 'pods' })!
    expect(isInScope(evaluator, { metadata: {}, spec: quota }, { metadata: {}, ...pod })).toBe(expected)
  })
  test('a scope of pods is never met by what is no pod', () => {
    const evaluator = evaluatorOf({ group: '', resource: 'services' })!
    expect(isInScope(evaluator, { metadata: {}, spec: { scopes: ['BestEffort'] } }, { metadata: {} })).toBe(false)
  })
})
