import { describe, expect, it, test } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { decodeObject } from '../../src/codec/decode/decode.ts'
import { canonical } from '../../src/codec/encode/encode.ts'
import { parseFeatureGates } from '../../src/api/feature-gates.ts'
import { builtInType, isBuiltInType, typeOfKind } from '../../src/schema/built-in.ts'
import { builtInResource } from '../../src/registry/built-in-resource.ts'
import { definitions } from '../../src/registry/definitions.ts'
import { builtInResources } from '../../src/registry/served/resources.ts'
import { defaultRules } from '../../src/schema/default-rules.ts'
import { applyDefaults } from '../../src/schema/defaulting.ts'
import table from '../../src/schema/defaults-table.json' with { type: 'json' }
import { imageTag } from '../../src/schema/image-tag.ts'

const kindDefaults = builtInResources({ runtimeConfig: 'api/all=true', featureGates: 'AllAlpha=true,AllBeta=true' })
  .resources.map((entry) => builtInResource(entry, '').kindDefaults)
  .filter((defaults) => defaults !== undefined)

/** Decodes, defaults and encodes an object of a kind. */
function defaulted(apiVersion: string, kind: string, object: JsonObject): JsonObject {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const type = typeOfKind({ group: group!, version: version!, kind })!
  const { object: decoded } = decodeObject(type, structuredClone(object))
  applyDefaults(type, decoded, {
    now: new Date('2026-01-02T03:04:05.678Z'),
    enabled: parseFeatureGates(undefined).enabled,
    ofKind: kindDefaults.find(({ type: name }) => name === type.name),
  })
  return canonical(type, decoded)
}

test('every type whose defaults take words has a rule, or is named here', () => {
  const elsewhere = ['io.k8s.api.core.v1.ResourceList'] // a map: defaulting.ts rounds its quantities
  const ruled = [...Object.keys(defaultRules), ...kindDefaults.map(({ type }) => type)]
  const missing = table.code.filter((type) => !elsewhere.includes(type) && !ruled.includes(type))
  expect(missing).toEqual([])
  for (const type of [...Object.keys(table.rows), ...ruled]) expect(isBuiltInType(type)).toBe(true)
  expect(new Set(ruled).size).toBe(ruled.length)
})

test('every version that a definition has defaults for is served', () => {
  const versions = definitions().flatMap(({ definition }) => Object.keys(definition.defaults ?? {}))
  expect(kindDefaults).toHaveLength(versions.length)
})

test('every path of the table is a field', () => {
  for (const [name, rows] of Object.entries(table.rows))
    for (const [path] of rows as [string][]) {
      let type = builtInType(name)
      for (const part of path.split('.')) {
        const field = type.field(part)
        expect(field, `${name}.${path}`).toBeDefined()
        if (field!.type.shape === 'struct') type = field!.type
      }
    }
})

describe('pods', () => {
  const pod = (spec: JsonObject) => defaulted('v1', 'Pod', { metadata: { name: 'p' }, spec }).spec as JsonObject

  it('fills in the smallest pod', () => {
    expect(pod({ containers: [{ name: 'c', image: 'busybox' }] })).toEqual({
      containers: [
        {
          name: 'c',
          image: 'busybox',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'Always',
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
    })
  })

  it('takes requests from limits, each in its own text', () => {
    const resources = { limits: { cpu: '1', memory: '1Gi', 'example.com/x': '1500u' }, requests: { cpu: '500m' } }
    expect(pod({ containers: [{ name: 'c', resources }] }).containers).toMatchObject([
      {
        resources: {
          limits: { cpu: '1', memory: '1Gi', 'example.com/x': '2m' },
          requests: { cpu: '500m', memory: '1Gi', 'example.com/x': '2m' },
        },
      },
    ])
  })

  it('sums up what the pod as a whole needs', () => {
    const container = (cpu: string, more: JsonObject = {}) => ({ name: 'c', resources: { requests: { cpu } }, ...more })
    const spec = {
      resources: { limits: { cpu: '10', memory: '1Gi', 'hugepages-2Mi': '4Mi' } },
      containers: [container('1'), container('500m')],
      initContainers: [container('1', { restartPolicy: 'Always' }), container('4')],
    }
    expect(pod(spec).resources).toEqual({
      limits: { cpu: '10', memory: '1Gi', 'hugepages-2Mi': '4Mi' },
      requests: { cpu: '5', memory: '1Gi', 'hugepages-2Mi': '4Mi' },
    })
  })

  it('opens host ports on the host network', () => {
    const containers = [{ name: 'c', ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 8081 }] }]
    expect(pod({ hostNetwork: true, containers }).containers).toMatchObject([
      { ports: [{ hostPort: 80, containerPort: 80, protocol: 'TCP' }, { hostPort: 8081 }] },
    ])
  })

  it('makes a volume without a source an empty directory', () => {
    expect(pod({ volumes: [{ name: 'v' }, { name: 'w', configMap: { name: 'x' } }] }).volumes).toEqual([
      { name: 'v', emptyDir: {} },
      { name: 'w', configMap: { name: 'x', defaultMode: 420 } },
    ])
  })

  it('defaults ephemeral containers like others', () => {
    expect(pod({ ephemeralContainers: [{ name: 'e', image: 'a:b' }] }).ephemeralContainers).toMatchObject([
      { imagePullPolicy: 'IfNotPresent', terminationMessagePolicy: 'File' },
    ])
  })

  it('does less in templates', () => {
    const template = { spec: { containers: [{ name: 'c', resources: { limits: { cpu: '1' } } }] } }
    const object = defaulted('v1', 'PodTemplate', { template })
    expect(object).toMatchObject({ template: { spec: { containers: [{ resources: { limits: { cpu: '1' } } }] } } })
    expect(object).not.toHaveProperty('template.spec.enableServiceLinks')
    expect(object).not.toHaveProperty('template.spec.containers.0.resources.requests')
  })
})

test.each([
  ['busybox', 'latest'],
  ['busybox:1', '1'],
  ['localhost:5000/a/b', 'latest'],
  ['localhost:5000/a/b:v1', 'v1'],
  ['Registry/a', 'latest'],
  [`a@sha256:${'0'.repeat(64)}`, ''],
  [`a:latest@sha256:${'0'.repeat(64)}`, 'latest'],
  ['a@sha256:00', ''],
  ['Busybox', ''],
  ['a:b:c', ''],
  ['', ''],
  ['0'.repeat(64), ''],
])('the tag of %j is %j', (image, tag) => {
  expect(imageTag(image)).toBe(tag)
})

describe('services', () => {
  const spec = (spec: JsonObject) => defaulted('v1', 'Service', { spec }).spec

  test.each<[string, JsonObject, JsonObject]>([
    [
      'the smallest',
      { ports: [{ port: 80 }] },
      {
        ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
        type: 'ClusterIP',
        sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster',
      },
    ],
    [
      'a load balancer',
      { type: 'LoadBalancer' },
      {
        type: 'LoadBalancer',
        sessionAffinity: 'None',
        externalTrafficPolicy: 'Cluster',
        allocateLoadBalancerNodePorts: true,
        internalTrafficPolicy: 'Cluster',
      },
    ],
    ['a name elsewhere', { type: 'ExternalName' }, { type: 'ExternalName', sessionAffinity: 'None' }],
    [
      'one with affinity',
      { sessionAffinity: 'ClientIP', externalIPs: ['1.2.3.4'] },
      {
        type: 'ClusterIP',
        externalIPs: ['1.2.3.4'],
        sessionAffinity: 'ClientIP',
        externalTrafficPolicy: 'Cluster',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
        internalTrafficPolicy: 'Cluster',
      },
    ],
  ])('%s', (_, given, expected) => {
    expect(spec(given)).toEqual(expected)
  })
})

test.each<[string, string, JsonObject, JsonObject]>([
  [
    'apps/v1',
    'Deployment',
    { strategy: { rollingUpdate: { maxSurge: 1 } } },
    {
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: 1 } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    },
  ],
  [
    'apps/v1',
    'Deployment',
    { strategy: { type: 'Recreate' }, replicas: 0 },
    { replicas: 0, strategy: { type: 'Recreate' } },
  ],
  [
    'apps/v1',
    'StatefulSet',
    { volumeClaimTemplates: [{}] },
    {
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: [{ kind: 'PersistentVolumeClaim', status: { phase: 'Pending' } }],
    },
  ],
  [
    'batch/v1',
    'Job',
    { parallelism: 2 },
    { parallelism: 2, backoffLimit: 6, completionMode: 'NonIndexed', suspend: false },
  ],
  ['batch/v1', 'Job', { backoffLimitPerIndex: 1 }, { completions: 1, parallelism: 1, backoffLimit: 2147483647 }],
  ['networking.k8s.io/v1', 'NetworkPolicy', { egress: [{}] }, { policyTypes: ['Ingress', 'Egress'] }],
  [
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    { behavior: { scaleUp: { selectPolicy: 'Min' } } },
    {
      minReplicas: 1,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } }],
      behavior: {
        scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Min', policies: [{ value: 4 }, { value: 100 }] },
        scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
      },
    },
  ],
  [
    'v1',
    'LimitRange',
    {
      limits: [
        { type: 'Container', max: { cpu: '2' }, min: { cpu: '1', memory: '1Gi' } },
        { type: 'Pod', max: { cpu: '1' } },
      ],
    },
    {
      limits: [
        { default: { cpu: '2' }, defaultRequest: { cpu: '2', memory: '1Gi' } },
        { type: 'Pod', max: { cpu: '1' } },
      ],
    },
  ],
  [
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    { names: { kind: 'CronTab', plural: 'crontabs' } },
    { names: { singular: 'crontab', listKind: 'CronTabList' }, conversion: { strategy: 'None' } },
  ],
])('%s %s %j', (apiVersion, kind, spec, expected) => {
  expect(defaulted(apiVersion, kind, { spec }).spec).toMatchObject(expected)
})

test('a namespace has its name as a label', () => {
  expect(defaulted('v1', 'Namespace', { metadata: { name: 'n' } })).toMatchObject({
    metadata: { labels: { 'kubernetes.io/metadata.name': 'n' } },
    status: { phase: 'Active' },
  })
})

test('the time of a taint is the time given', () => {
  const devices = [{ name: 'd', taints: [{ key: 'k', effect: 'NoSchedule' }] }]
  expect(defaulted('resource.k8s.io/v1', 'ResourceSlice', { spec: { devices } })).toMatchObject({
    spec: { devices: [{ taints: [{ timeAdded: '2026-01-02T03:04:05Z' }] }] },
  })
})

test('runtime classes are not defaulted', () => {
  const podFixed = { cpu: '100u' }
  expect(defaulted('node.k8s.io/v1', 'RuntimeClass', { overhead: { podFixed } })).toMatchObject({
    overhead: { podFixed },
  })
})

describe('versions that are not stable', () => {
  const NOW = '2026-01-02T03:04:05Z'
  const RESOURCE = 'resource.k8s.io'

  test.each<[what: string, kind: string, versions: string[], sent: JsonObject, expected: JsonObject]>([
    [
      'what a policy matches',
      'MutatingAdmissionPolicy',
      ['v1', 'v1beta1', 'v1alpha1'].map((version) => `admissionregistration.k8s.io/${version}`),
      { spec: { matchConstraints: { resourceRules: [{ resources: ['pods'] }] } } },
      {
        spec: {
          failurePolicy: 'Fail',
          matchConstraints: {
            matchPolicy: 'Equivalent',
            namespaceSelector: {},
            objectSelector: {},
            resourceRules: [{ resources: ['pods'], scope: '*' }],
          },
        },
      },
    ],
    [
      'what a binding without parameters does',
      'MutatingAdmissionPolicyBinding',
      ['admissionregistration.k8s.io/v1alpha1'],
      { spec: { paramRef: { name: 'p' } } },
      { spec: { paramRef: { name: 'p', parameterNotFoundAction: 'Deny' } } },
    ],
    [
      'how many devices are asked for',
      'ResourceClaim',
      [`${RESOURCE}/v1`, `${RESOURCE}/v1beta2`],
      {
        spec: {
          devices: { requests: [{ name: 'a', exactly: { deviceClassName: 'c', tolerations: [{ key: 'k' }] } }] },
        },
      },
      {
        spec: {
          devices: {
            requests: [
              {
                exactly: { allocationMode: 'ExactCount', count: 1, tolerations: [{ key: 'k', operator: 'Equal' }] },
              },
            ],
          },
        },
      },
    ],
    [
      'how many devices are asked for, and nothing beside alternatives',
      'ResourceClaim',
      [`${RESOURCE}/v1beta1`],
      {
        spec: {
          devices: {
            requests: [
              { name: 'a', deviceClassName: 'c' },
              { name: 'b', firstAvailable: [{ name: 'x', deviceClassName: 'c' }] },
            ],
          },
        },
      },
      {
        spec: {
          devices: {
            requests: [
              { name: 'a', deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 },
              {
                name: 'b',
                deviceClassName: '',
                firstAvailable: [{ name: 'x', deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 }],
              },
            ],
          },
        },
      },
    ],
    [
      'since when a device is tainted',
      'ResourceSlice',
      [`${RESOURCE}/v1beta1`],
      { spec: { devices: [{ name: 'd', basic: { taints: [{ key: 'k', effect: 'NoExecute' }] } }] } },
      { spec: { devices: [{ basic: { taints: [{ timeAdded: NOW }] } }] } },
    ],
    [
      'of how much a device is made',
      'ResourceSlice',
      [`${RESOURCE}/v1`, `${RESOURCE}/v1beta2`],
      { spec: { devices: [{ name: 'd', nodeAllocatableResourceMappings: { cpu: { capacityKey: 'c' } } }] } },
      { spec: { devices: [{ nodeAllocatableResourceMappings: { cpu: { allocationMultiplier: '1' } } }] } },
    ],
    [
      'since when a rule taints',
      'DeviceTaintRule',
      [`${RESOURCE}/v1beta2`, `${RESOURCE}/v1alpha3`],
      { spec: { taint: { key: 'k', effect: 'NoExecute' } } },
      { spec: { taint: { timeAdded: NOW } } },
    ],
    [
      'how much is told',
      'ResourcePoolStatusRequest',
      [`${RESOURCE}/v1alpha3`],
      { spec: { driver: 'd' } },
      { spec: { limit: 100 } },
    ],
    [
      'how long a certificate lasts',
      'PodCertificateRequest',
      ['certificates.k8s.io/v1beta1'],
      { spec: {} },
      { spec: { maxExpirationSeconds: 86400 } },
    ],
    ['who is disrupted', 'PodGroup', ['scheduling.k8s.io/v1alpha2'], { spec: {} }, { spec: { disruptionMode: 'Pod' } }],
  ])('%s', (_, kind, versions, sent, expected) => {
    for (const version of versions) expect(defaulted(version, kind, sent)).toMatchObject(expected)
  })

  test('v1 and v1beta1 leave a binding without parameters to its writer', () => {
    for (const version of ['v1', 'v1beta1'])
      expect(
        defaulted(`admissionregistration.k8s.io/${version}`, 'MutatingAdmissionPolicyBinding', {
          spec: { paramRef: { name: 'p' } },
        }).spec,
      ).toEqual({ paramRef: { name: 'p' } })
  })
})

test('an empty list of policies is not defaulted', () => {
  const { spec } = defaulted('autoscaling/v2', 'HorizontalPodAutoscaler', {
    spec: { maxReplicas: 1, behavior: { scaleUp: { policies: [] } } },
  }) as { spec: { behavior: { scaleUp: JsonObject; scaleDown: { policies: JsonObject[] } } } }
  expect(spec.behavior.scaleUp).not.toHaveProperty('policies.0')
  expect(spec.behavior.scaleDown.policies).toHaveLength(1)
})
