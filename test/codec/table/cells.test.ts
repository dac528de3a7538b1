import { describe, expect, test } from 'vitest'
import type { Json, KubeObject } from '../../../src/api/object.ts'
import { builtInLayout } from '../../../src/codec/table.ts'
import { zeroObject } from '../../../src/codec/encode/zero-object.ts'
import { encodeJson } from '../../../src/codec/encode/encode.ts'
import { builtInResources } from '../../../src/registry/served/resources.ts'
import { fakeRequest, fakeScope, NOW } from '../fake-scope.ts'

const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000).toISOString()
const created = ago(300)

type State = { metadata?: object; [field: string]: unknown }

function cellsOf(resource: string, state: State): Json[] {
  const { printer } = builtInLayout(fakeScope(resource, fakeRequest('GET /')).resource)
  const metadata = { name: 'x', creationTimestamp: created, ...state.metadata }
  return printer.cells({ ...state, metadata } as unknown as KubeObject, NOW)
}

const everything = builtInResources({ runtimeConfig: 'api/all=true', featureGates: 'AllAlpha=true,AllBeta=true' })
const listed = everything.resources.filter(({ verbs }) => verbs.includes('list'))

describe('every kind', () => {
  test.each(listed.map(({ group, version, resource }) => `${group === '' ? '' : `${group}/`}${version}/${resource}`))(
    '%s: a cell for each column, even of nothing',
    (resource) => {
      const scope = fakeScope(resource, fakeRequest('GET /'))
      const layout = builtInLayout(scope.resource)
      const zero = zeroObject(scope.resource, {})
      // the form in storage, which includes the nulls that are always written
      const stored = JSON.parse(encodeJson(scope.resource.storageType, { ...zero, metadata: {} })) as KubeObject
      const columns = JSON.parse(layout.columns) as unknown[]
      // kube-apiserver prints an extra age cell without a column for this resource
      const extra = resource.endsWith('/ipaddresses') ? 1 : 0
      expect(layout.printer.cells(zero, NOW)).toHaveLength(columns.length + extra)
      expect(layout.printer.cells(stored, NOW)).toEqual(layout.printer.cells(zero, NOW))
    },
  )
})

const terminated = (more: object) => ({ state: { terminated: { exitCode: 0, ...more } } })
const waiting = (reason?: string) => ({ state: { waiting: reason === undefined ? {} : { reason } } })
const running = { state: { running: {} }, ready: true }
const READY = [{ type: 'Ready', status: 'True' }]

describe('pods', () => {
  const containers = [{ name: 'a' }, { name: 'b' }]
  const podCells = (status: object, spec: object = {}, metadata: object = {}) =>
    cellsOf('v1/pods', { metadata, spec: { containers, ...spec }, status })

  test.each<[what: string, status: object, expected: [ready: string, status: string, restarts: string]]>([
    ['phase', { phase: 'Pending' }, ['0/2', 'Pending', '0']],
    ['reason', { phase: 'Failed', reason: 'Evicted' }, ['0/2', 'Evicted', '0']],
    [
      'gated',
      { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
      ['0/2', 'SchedulingGated', '0'],
    ],
    ['running', { phase: 'Running', containerStatuses: [running, running] }, ['2/2', 'Running', '0']],
    [
      'the first that waits',
      { phase: 'Running', containerStatuses: [waiting('CrashLoopBackOff'), waiting('ImagePullBackOff')] },
      ['0/2', 'CrashLoopBackOff', '0'],
    ],
    ['waits without a reason', { phase: 'Pending', containerStatuses: [waiting()] }, ['0/2', 'Pending', '0']],
    [
      'signal and exit code',
      { phase: 'Running', containerStatuses: [terminated({ signal: 9, exitCode: 137 })] },
      ['0/2', 'Signal:9', '0'],
    ],
    ['exit code', { phase: 'Running', containerStatuses: [terminated({ exitCode: 3 })] }, ['0/2', 'ExitCode:3', '0']],
    [
      'completed beside a ready one',
      { phase: 'Running', conditions: READY, containerStatuses: [terminated({ reason: 'Completed' }), running] },
      ['1/2', 'Running', '0'],
    ],
    [
      'completed beside one that is not ready',
      { phase: 'Running', containerStatuses: [terminated({ reason: 'Completed' }), running] },
      ['1/2', 'NotReady', '0'],
    ],
    [
      'completed beside an error',
      {
        phase: 'Running',
        containerStatuses: [terminated({ reason: 'Completed' }), terminated({ reason: 'Error', exitCode: 1 })],
      },
      ['0/2', 'Error', '0'],
    ],
    [
      'restarts with and without a time',
      {
        phase: 'Running',
        containerStatuses: [
          { ...running, restartCount: 2, lastState: { terminated: { finishedAt: ago(180) } } },
          { ...running, restartCount: 1, lastState: { terminated: { finishedAt: null } } },
        ],
      },
      ['2/2', 'Running', '3 (3m ago)'],
    ],
  ])('%s', (_, status, expected) => expect(podCells(status).slice(1, 4)).toEqual(expected))

  const initContainers = [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }]

  test.each<[what: string, initContainerStatuses: object[], expected: [ready: string, status: string]]>([
    ['first', [{ name: 'i', ...waiting('PodInitializing') }], ['0/3', 'Init:0/2']],
    ['failed', [{ name: 'i', ...terminated({ exitCode: 1, reason: 'Error' }) }], ['0/3', 'Init:Error']],
    ['exit code', [{ name: 'i', ...terminated({ exitCode: 2 }) }], ['0/3', 'Init:ExitCode:2']],
    ['waits', [{ name: 'i', ...waiting('ErrImagePull') }], ['0/3', 'Init:ErrImagePull']],
    [
      'sidecar starts',
      [
        { name: 'i', ...terminated({}) },
        { name: 's', ...waiting() },
      ],
      ['0/3', 'Init:1/2'],
    ],
    [
      'over',
      [
        { name: 'i', ...terminated({}) },
        { name: 's', ...running, started: true },
      ],
      ['1/3', 'Pending'],
    ],
  ])('init containers: %s', (_, initContainerStatuses, expected) =>
    expect(podCells({ phase: 'Pending', initContainerStatuses }, { initContainers }).slice(1, 3)).toEqual(expected),
  )

  test('being deleted', () => {
    const deleted = { deletionTimestamp: created }
    expect(podCells({ phase: 'Running' }, {}, deleted)[2]).toBe('Terminating')
    expect(podCells({ phase: 'Succeeded' }, {}, deleted)[2]).toBe('Succeeded')
    expect(podCells({ phase: 'Running', reason: 'NodeLost' }, {}, deleted)[2]).toBe('Unknown')
  })

  test('wide', () => {
    const conditions = [{ type: 'example.com/a', status: 'True' }]
    const spec = { nodeName: 'n', readinessGates: [{ conditionType: 'example.com/a' }, { conditionType: 'b' }] }
    const status = { podIPs: [{ ip: '10.0.0.1' }], nominatedNodeName: 'm', conditions }
    expect(podCells(status, spec).slice(5)).toEqual(['10.0.0.1', 'n', 'm', '1/2'])
    expect(podCells({}).slice(5)).toEqual(['<none>', '<none>', '<none>', '<none>'])
  })

  test('finished ones are marked', () => {
    const { printer } = builtInLayout(fakeScope('v1/pods', fakeRequest('GET /')).resource)
    const conditions = (phase: string) => printer.conditions?.({ metadata: {}, status: { phase } } as KubeObject)
    expect(conditions('Succeeded')).toEqual([
      { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' },
    ])
    expect(conditions('Running')).toBeUndefined()
  })
})

const template = {
  spec: {
    containers: [
      { name: 'a', image: 'i:1' },
      { name: 'b', image: 'j' },
    ],
  },
}
const selector = { matchLabels: { b: '1' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['z', 'y'] }] }
const SELECTOR = 'a in (y,z),b=1'
const AGE = '5m'

describe('other kinds', () => {
  test.each<[resource: string, state: State, cells: Json[]]>([
    [
      'v1/podtemplates',
      { template: { ...template, metadata: { labels: { b: '1', a: '2' } } } },
      ['x', 'a,b', 'i:1,j', 'a=2,b=1'],
    ],
    [
      'v1/replicationcontrollers',
      { spec: { replicas: 3, template, selector: { a: '1' } }, status: { replicas: 2, readyReplicas: 1 } },
      ['x', 3, 2, 1, AGE, 'a,b', 'i:1,j', 'a=1'],
    ],
    [
      'v1/services',
      {
        spec: {
          type: 'NodePort',
          clusterIPs: ['10.96.0.9'],
          ports: [
            { port: 80, nodePort: 30080, protocol: 'TCP' },
            { port: 53, protocol: 'UDP' },
          ],
        },
      },
      ['x', 'NodePort', '10.96.0.9', '<none>', '80:30080/TCP,53/UDP', AGE, '<none>'],
    ],
    [
      'v1/services',
      {
        spec: { type: 'LoadBalancer', externalIPs: ['9.9.9.9'], selector: { b: '1', a: '2' } },
        status: { loadBalancer: { ingress: [{ hostname: 'h' }, { ip: '1.1.1.1' }] } },
      },
      ['x', 'LoadBalancer', '<none>', '1.1.1.1,h,9.9.9.9', '<none>', AGE, 'a=2,b=1'],
    ],
    [
      'v1/services',
      { spec: { type: 'LoadBalancer' } },
      ['x', 'LoadBalancer', '<none>', '<pending>', '<none>', AGE, '<none>'],
    ],
    [
      'v1/services',
      { spec: { type: 'ExternalName', externalName: 'e.com' } },
      ['x', 'ExternalName', '<none>', 'e.com', '<none>', AGE, '<none>'],
    ],
    [
      'v1/endpoints',
      { subsets: [{ addresses: [{ ip: '10.0.0.1' }, { ip: '2001:db8::1' }], ports: [{ port: 80 }, { port: 443 }] }] },
      ['x', '10.0.0.1:80,[2001:db8::1]:80,10.0.0.1:443 + 1 more...', AGE],
    ],
    ['v1/endpoints', { subsets: [{ addresses: [{ ip: '10.0.0.1' }] }] }, ['x', '10.0.0.1', AGE]],
    ['v1/endpoints', {}, ['x', '<none>', AGE]],
    ['v1/namespaces', { status: { phase: 'Active' } }, ['x', 'Active', AGE]],
    ['v1/secrets', { type: 'Opaque', data: { a: '', b: '' } }, ['x', 'Opaque', 2, AGE]],
    ['v1/configmaps', { data: { a: '' }, binaryData: { b: '', c: '' } }, ['x', 3, AGE]],
    [
      'v1/nodes',
      {
        metadata: { labels: { 'node-role.kubernetes.io/b': '', 'kubernetes.io/role': 'a', other: '' } },
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: 'Ready', status: 'Unknown' }],
          addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
          nodeInfo: { kubeletVersion: 'v1.36.0', kernelVersion: '6.1', architecture: 'arm64' },
        },
      },
      [
        'x',
        'NotReady,SchedulingDisabled',
        'a,b',
        AGE,
        'v1.36.0',
        '10.0.0.1',
        '<none>',
        '<unknown>',
        '6.1 (arm64)',
        '<unknown>',
      ],
    ],
    [
      'v1/persistentvolumes',
      {
        metadata: { deletionTimestamp: created, annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } },
        spec: {
          capacity: { storage: '5Gi' },
          accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
          persistentVolumeReclaimPolicy: 'Retain',
          claimRef: { namespace: 'n', name: 'c' },
          storageClassName: 'new',
          volumeMode: 'Block',
        },
        status: { phase: 'Bound', reason: 'R' },
      },
      ['x', '5Gi', 'RWO,RWX', 'Retain', 'Terminating', 'n/c', 'old', '<unset>', 'R', AGE, 'Block'],
    ],
    [
      'v1/persistentvolumeclaims',
      {
        spec: { volumeName: 'v', storageClassName: 's', volumeAttributesClassName: 'g' },
        status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOncePod'] },
      },
      ['x', 'Bound', 'v', '1Gi', 'RWOP', 's', 'g', AGE, '<unset>'],
    ],
    [
      'v1/persistentvolumeclaims',
      { spec: { resources: { requests: { storage: '1Gi' } } }, status: { phase: 'Pending' } },
      ['x', 'Pending', '', '', '', '', '<unset>', AGE, '<unset>'],
    ],
    [
      'v1/resourcequotas',
      { status: { hard: { pods: '4', 'limits.cpu': '2', 'requests.cpu': '1' }, used: { pods: '1' } } },
      ['x', 'pods: 1/4, requests.cpu: 0/1', 'limits.cpu: 0/2', AGE],
    ],
    [
      'v1/events',
      {
        involvedObject: { kind: 'Pod', name: 'p', fieldPath: 'spec' },
        type: 'Warning',
        reason: 'R',
        message: ' hello\n',
        source: { component: 'c', host: 'h' },
        firstTimestamp: ago(60),
        lastTimestamp: ago(30),
        eventTime: null,
        count: 7,
      },
      ['30s', 'Warning', 'R', 'pod/p', 'spec', 'c, h', 'hello', '60s', 7, 'x'],
    ],
    [
      'v1/events',
      {
        involvedObject: { kind: 'Node' },
        firstTimestamp: null,
        lastTimestamp: null,
        eventTime: ago(60),
        reportingComponent: 'r',
      },
      ['60s', '', '', 'node', '', 'r', '', '60s', 1, 'x'],
    ],
    [
      'v1/events',
      {
        involvedObject: {},
        firstTimestamp: null,
        lastTimestamp: null,
        eventTime: null,
        series: { count: 3, lastObservedTime: ago(10) },
      },
      ['10s', '', '', '', '', '', '', '<unknown>', 3, 'x'],
    ],
    [
      'v1/componentstatuses',
      { conditions: [{ type: 'Healthy', status: 'False', message: 'm', error: 'e' }] },
      ['x', 'Unhealthy', 'm', 'e'],
    ],
    [
      'apps/v1/deployments',
      {
        spec: { replicas: 3, selector, template },
        status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
      },
      ['x', '1/3', 2, 1, AGE, 'a,b', 'i:1,j', SELECTOR],
    ],
    [
      'apps/v1/replicasets',
      { spec: { replicas: 3, selector, template }, status: { replicas: 2, readyReplicas: 1 } },
      ['x', 3, 2, 1, AGE, 'a,b', 'i:1,j', SELECTOR],
    ],
    [
      'apps/v1/statefulsets',
      { spec: { replicas: 3, template }, status: { readyReplicas: 2 } },
      ['x', '2/3', AGE, 'a,b', 'i:1,j'],
    ],
    [
      'apps/v1/daemonsets',
      {
        spec: { selector, template: { spec: { ...template.spec, nodeSelector: { d: 'ssd' } } } },
        status: {
          desiredNumberScheduled: 5,
          currentNumberScheduled: 4,
          numberReady: 3,
          updatedNumberScheduled: 2,
          numberAvailable: 1,
        },
      },
      ['x', 5, 4, 3, 2, 1, 'd=ssd', AGE, 'a,b', 'i:1,j', SELECTOR],
    ],
    [
      'apps/v1/controllerrevisions',
      {
        metadata: { ownerReferences: [{ kind: 'DaemonSet', apiVersion: 'apps/v1', name: 'd', controller: true }] },
        revision: 4,
      },
      ['x', 'daemonset.apps/d', 4, AGE],
    ],
    ['apps/v1/controllerrevisions', { revision: 1 }, ['x', '<none>', 1, AGE]],
    [
      'batch/v1/jobs',
      {
        spec: { completions: 5, selector, template },
        status: { succeeded: 2, startTime: ago(100), conditions: [{ type: 'Suspended', status: 'False' }] },
      },
      ['x', 'Running', '2/5', '100s', AGE, 'a,b', 'i:1,j', SELECTOR],
    ],
    [
      'batch/v1/jobs',
      {
        spec: { parallelism: 3 },
        status: { startTime: ago(7200), completionTime: ago(3600), conditions: [{ type: 'Complete', status: 'True' }] },
      },
      ['x', 'Complete', '0/1 of 3', '60m', AGE, '', '', '<none>'],
    ],
    [
      'batch/v1/jobs',
      { metadata: { deletionTimestamp: created }, spec: { parallelism: 1 } },
      ['x', 'Terminating', '0/1', '', AGE, '', '', '<none>'],
    ],
    [
      'batch/v1/cronjobs',
      {
        spec: { schedule: '* * * * *', timeZone: 'Etc/UTC', suspend: true, jobTemplate: { spec: { template } } },
        status: { active: [{}, {}], lastScheduleTime: ago(60) },
      },
      ['x', '* * * * *', 'Etc/UTC', 'True', 2, '60s', AGE, 'a,b', 'i:1,j', '<none>'],
    ],
    [
      'autoscaling/v2/horizontalpodautoscalers',
      {
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'd' },
          minReplicas: 2,
          maxReplicas: 9,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } },
            { type: 'Pods', pods: { target: { averageValue: '1k' } } },
            { type: 'External', external: { target: { value: '5' } } },
          ],
        },
        status: {
          currentReplicas: 4,
          currentMetrics: [{ type: 'Resource', resource: { current: { averageUtilization: 33 } } }],
        },
      },
      ['x', 'Deployment/d', 'cpu: 33%/80%, <unknown>/1k + 1 more...', '2', 9, 4, AGE],
    ],
    [
      'autoscaling/v2/horizontalpodautoscalers',
      {
        spec: {
          scaleTargetRef: {},
          maxReplicas: 1,
          metrics: [
            { type: 'External', external: { target: { averageValue: '5' } } },
            { type: 'ContainerResource', containerResource: { name: 'memory', target: { averageValue: '1Gi' } } },
          ],
        },
        status: {
          currentMetrics: [
            { type: 'External', external: { current: { averageValue: '4' } } },
            { type: 'ContainerResource', containerResource: { current: {} } },
          ],
        },
      },
      ['x', '/', '4/5 (avg), memory: <nil>/1Gi', '<unset>', 1, 0, AGE],
    ],
    [
      'policy/v1/poddisruptionbudgets',
      { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 2 } },
      ['x', '50%', 'N/A', 2, AGE],
    ],
    [
      'networking.k8s.io/v1/ingresses',
      {
        spec: {
          ingressClassName: 'c',
          rules: [{ host: 'a' }, {}, { host: 'b' }, { host: 'c' }, { host: 'd' }],
          tls: [{}],
        },
        status: { loadBalancer: { ingress: [{ ip: '2.2.2.2' }, { ip: '1.1.1.1' }] } },
      },
      ['x', 'c', 'a,b,c + 2 more...', '1.1.1.1,2.2.2.2', '80, 443', AGE],
    ],
    ['networking.k8s.io/v1/ingresses', {}, ['x', '<none>', '*', '', '80', AGE]],
    [
      'networking.k8s.io/v1/ingressclasses',
      {
        metadata: { annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
        spec: { controller: 'c', parameters: { apiGroup: 'g', kind: 'K', name: 'n' } },
      },
      ['x (default)', 'c', 'K.g/n', AGE],
    ],
    ['networking.k8s.io/v1/networkpolicies', { spec: { podSelector: selector } }, ['x', SELECTOR, AGE]],
    ['networking.k8s.io/v1/networkpolicies', { spec: { podSelector: {} } }, ['x', '<none>', AGE]],
    [
      'networking.k8s.io/v1/servicecidrs',
      { spec: { cidrs: ['10.0.0.0/8', '2001:db8::/64'] } },
      ['x', '10.0.0.0/8,2001:db8::/64', AGE],
    ],
    [
      'networking.k8s.io/v1/ipaddresses',
      { spec: { parentRef: { resource: 'services', namespace: 'n', name: 's' } } },
      ['x', 'services/n/s', AGE],
    ],
    [
      'discovery.k8s.io/v1/endpointslices',
      {
        addressType: 'IPv4',
        ports: [{ port: 80 }, { name: 'b' }, {}],
        endpoints: [{ addresses: ['1', '2'] }, { addresses: null }, { addresses: ['3', '4'] }],
      },
      ['x', 'IPv4', '80,b,*', '1,2,3 + 1 more...', AGE],
    ],
    [
      'discovery.k8s.io/v1/endpointslices',
      { addressType: 'FQDN', ports: null, endpoints: null },
      ['x', 'FQDN', '<unset>', '<unset>', AGE],
    ],
    [
      'storage.k8s.io/v1/storageclasses',
      {
        metadata: { annotations: { 'storageclass.beta.kubernetes.io/is-default-class': 'true' } },
        provisioner: 'p',
        allowVolumeExpansion: true,
      },
      ['x (default)', 'p', 'Delete', 'Immediate', true, AGE],
    ],
    [
      'storage.k8s.io/v1/csidrivers',
      {
        spec: {
          attachRequired: false,
          tokenRequests: [{ audience: '' }, { audience: 'a' }],
          volumeLifecycleModes: ['Persistent', 'Ephemeral'],
        },
      },
      ['x', false, false, false, ',a', false, 'Persistent,Ephemeral', AGE],
    ],
    ['storage.k8s.io/v1/csinodes', { spec: { drivers: null } }, ['x', 0, AGE]],
    [
      'storage.k8s.io/v1/volumeattachments',
      { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } }, status: { attached: true } },
      ['x', 'a', 'v', 'n', true, AGE],
    ],
    ['storage.k8s.io/v1/csistoragecapacities', { storageClassName: 'a' }, ['x', created]],
    ['storage.k8s.io/v1/volumeattributesclasses', { driverName: 'd' }, ['x', 'd', AGE]],
    ['admissionregistration.k8s.io/v1/validatingwebhookconfigurations', { webhooks: [{}, {}] }, ['x', 2, AGE]],
    [
      'admissionregistration.k8s.io/v1/validatingadmissionpolicies',
      { spec: { validations: [{}], paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } },
      ['x', 1, 'v1/ConfigMap', AGE],
    ],
    [
      'admissionregistration.k8s.io/v1/mutatingadmissionpolicies',
      { spec: { mutations: [{}] } },
      ['x', 1, '<unset>', AGE],
    ],
    [
      'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
      { spec: { policyName: 'p', paramRef: { name: 'n' } } },
      ['x', 'p', '*/n', AGE],
    ],
    [
      'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
      {
        spec: {
          policyName: 'p',
          paramRef: {
            selector: {
              matchLabels: { b: '1', a: '2' },
              matchExpressions: [{ key: 'k', operator: 'In', values: ['v', 'w'] }],
            },
          },
        },
      },
      [
        'x',
        'p',
        '&LabelSelector{MatchLabels:map[string]string{a: 2,b: 1,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[v w],},},}',
        AGE,
      ],
    ],
    [
      'rbac.authorization.k8s.io/v1/rolebindings',
      {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'Group', name: 'g' },
          { kind: 'ServiceAccount', namespace: 'n', name: 's' },
          { kind: 'User', name: 'v' },
        ],
      },
      ['x', 'Role/r', AGE, 'u, v', 'g', 'n/s'],
    ],
    ['rbac.authorization.k8s.io/v1/roles', { rules: null }, ['x', created]],
    [
      'certificates.k8s.io/v1/certificatesigningrequests',
      {
        spec: { signerName: 's', username: 'u', expirationSeconds: 3600 },
        status: { conditions: [{ type: 'Approved' }, { type: 'Failed' }], certificate: 'Yw==' },
      },
      ['x', AGE, 's', 'u', '60m', 'Approved,Failed,Issued'],
    ],
    [
      'certificates.k8s.io/v1beta1/podcertificaterequests',
      { spec: { podName: 'p' }, status: { conditions: [{ type: 'Denied' }] } },
      ['x', 'p', '', '', '', 'Denied', '<none>'],
    ],
    ['coordination.k8s.io/v1/leases', { spec: { holderIdentity: 'h' } }, ['x', 'h', AGE]],
    ['node.k8s.io/v1/runtimeclasses', { handler: 'h' }, ['x', 'h', AGE]],
    ['scheduling.k8s.io/v1/priorityclasses', { value: -5, preemptionPolicy: 'Never' }, ['x', -5, false, AGE, 'Never']],
    [
      'flowcontrol.apiserver.k8s.io/v1/flowschemas',
      {
        spec: {
          priorityLevelConfiguration: { name: 'p' },
          matchingPrecedence: 9,
          distinguisherMethod: { type: 'ByUser' },
        },
        status: { conditions: [{ type: 'Dangling', status: 'False' }] },
      },
      ['x', 'p', 9, 'ByUser', AGE, 'False'],
    ],
    [
      'flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
      { spec: { type: 'Exempt' } },
      ['x', 'Exempt', '<none>', '<none>', '<none>', '<none>', AGE],
    ],
    [
      'flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
      {
        spec: {
          type: 'Limited',
          limited: {
            nominalConcurrencyShares: 30,
            limitResponse: { queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
          },
        },
      },
      ['x', 'Limited', 30, 64, 8, 50, AGE],
    ],
    [
      'resource.k8s.io/v1/resourceclaims',
      { status: { allocation: {}, reservedFor: [{}] } },
      ['x', 'allocated,reserved', AGE],
    ],
    ['resource.k8s.io/v1/resourceclaims', { metadata: { deletionTimestamp: created } }, ['x', 'deleted', AGE]],
    ['resource.k8s.io/v1/resourceslices', { spec: { driver: 'd', pool: { name: 'p' } } }, ['x', '', 'd', 'p', AGE]],
    [
      'resource.k8s.io/v1alpha3/resourcepoolstatusrequests',
      {
        spec: { driver: 'd' },
        status: {
          poolCount: 3,
          pools: [
            { totalDevices: 4, allocatedDevices: 1 },
            { totalDevices: 2, validationError: 'e' },
          ],
          conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: ago(60) }],
        },
      },
      ['x', 'd', '6', '0', '1', '0', '1', 3, 'Complete (2/3 pools)', '60s'],
    ],
    [
      'apiregistration.k8s.io/v1/apiservices',
      {
        spec: { service: { namespace: 'n', name: 's' } },
        status: { conditions: [{ type: 'Available', status: 'False', reason: 'R' }] },
      },
      ['x', 'n/s', 'False (R)', AGE],
    ],
    [
      'apiregistration.k8s.io/v1/apiservices',
      { status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] } },
      ['x', 'Local', 'True', AGE],
    ],
    [
      'internal.apiserver.k8s.io/v1alpha1/storageversions',
      { status: { storageVersions: [{ apiServerID: 'a', encodingVersion: 'v1' }] } },
      ['x', '<unset>', 'a=v1', AGE],
    ],
    [
      'storagemigration.k8s.io/v1beta1/storageversionmigrations',
      {
        spec: { resource: { group: 'g', resource: 'r' } },
        status: { conditions: [{ type: 'Running', status: 'True' }] },
      },
      ['x', 'r.g', 'Running'],
    ],
  ])('%s %o', (resource, state, cells) => expect(cellsOf(resource, state)).toEqual(cells))
})

test('the cell of Endpoints takes no address for each port', () => {
  let read = 0
  const address = (at: number) => ({
    get ip() {
      read++
      return `10.0.${at >> 8}.${at & 255}`
    },
  })
  const many = Array.from({ length: 1_000 }, (_, at) => address(at))
  const ports = Array.from({ length: 1_000 }, (_, at) => ({ name: `p${at}`, port: at + 1 }))
  const subsets = [
    { addresses: many.slice(0, 2), ports: ports.slice(0, 1) },
    { addresses: [address(9)] },
    { addresses: many, ports },
  ]
  expect(cellsOf('v1/endpoints', { subsets } as unknown as State)[1]).toBe(
    '10.0.0.0:1,10.0.0.1:1,10.0.0.9 + 1000000 more...',
  )
  expect(read).toBeLessThan(20)
})
