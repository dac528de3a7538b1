// The rights of a node beyond its pods: tokens, ResourceSlices, claims, certificates and volumes.
import { row } from './row.ts'
import type { Row } from './row.ts'

const FORBIDDEN = '403 Forbidden'
const A = '/api/v1/namespaces/a'
const merge = (body: unknown) => ({ headers: { 'Content-Type': 'application/merge-patch+json' }, body })
const SLICES = '/apis/resource.k8s.io/v1/resourceslices'
const slice = (spec: object) => ({
  body: {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name: 'tried' },
    spec: { driver: 'd.example.com', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, devices: [], ...spec },
  },
})
const CSI = '/apis/storage.k8s.io/v1/csinodes'
const csiNode = (name: string) => ({ body: { metadata: { name }, spec: { drivers: [] } } })
const mirror = (metadata: object, spec: object = {}) => ({
  body: {
    metadata: { name: 'mirror', annotations: { 'kubernetes.io/config.mirror': 'x' }, ...metadata },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], ...spec },
  },
})
const owner = (change: object) => ({
  ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'x', controller: true, ...change }],
})
const volume = (source: object) => ({ volumes: [{ name: 'v', ...source }] })

export const nodeRules: readonly Row[] = [
  // tokens
  ...['vault', 'https://kubernetes.default.svc.cluster.local', ''].map((audience) =>
    row(
      `a token for ${audience || 'nobody'} of a pod that has none`,
      'node',
      `POST ${A}/serviceaccounts/default/token`,
      FORBIDDEN,
      async (world) => {
        const { text } = await world.send('admin', 'GET', `${A}/pods/pod-n1`)
        const { metadata } = JSON.parse(text) as { metadata: { uid: string } } // a Pod
        const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'pod-n1', uid: metadata.uid }
        return { body: { spec: { boundObjectRef, ...(audience === '' ? {} : { audiences: [audience] }) } } }
      },
    ),
  ),
  row('a token bound to the pod’s name and another uid', 'node', `POST ${A}/serviceaccounts/default/token`, FORBIDDEN, {
    body: { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'pod-n1', uid: 'x' } } },
  }),
  row('a token bound to a Secret', 'node', `POST ${A}/serviceaccounts/default/token`, FORBIDDEN, {
    body: { spec: { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'one' } } },
  }),
  row('a token bound to the node', 'node', `POST ${A}/serviceaccounts/default/token`, FORBIDDEN, {
    body: { spec: { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'n1' } } },
  }),
  row(
    'a token of an account in another namespace',
    'node',
    'POST /api/v1/namespaces/b/serviceaccounts/default/token',
    FORBIDDEN,
    { body: { spec: {} } },
  ),
  // ResourceSlices
  row('devices of its own', 'node', `POST ${SLICES}?dryRun=All`, '201', slice({ nodeName: 'n1' })),
  row('devices of another node', 'node', `POST ${SLICES}?dryRun=All`, FORBIDDEN, slice({ nodeName: 'n2' })),
  row('devices of all nodes', 'node', `POST ${SLICES}?dryRun=All`, FORBIDDEN, slice({ allNodes: true })),
  row('all devices', 'node', `GET ${SLICES}`, FORBIDDEN),
  row('the devices of another node', 'node', `GET ${SLICES}?fieldSelector=spec.nodeName%3Dn2`, FORBIDDEN),
  row('its own devices', 'node', `GET ${SLICES}?fieldSelector=spec.nodeName%3Dn1`, '200'),
  row('its own devices and those of others', 'node', `GET ${SLICES}?fieldSelector=spec.nodeName!%3Dn1`, FORBIDDEN),
  row('all devices are not removed', 'node', `DELETE ${SLICES}?dryRun=All`, FORBIDDEN),
  row(
    'claims of devices in a namespace',
    'node',
    '/apis/resource.k8s.io/v1/namespaces/a/resourceclaims'.replace(/^/, 'GET '),
    FORBIDDEN,
  ),
  row(
    'a claim that none of its pods has',
    'node',
    'GET /apis/resource.k8s.io/v1/namespaces/a/resourceclaims/x',
    FORBIDDEN,
  ),
  // its own objects of storage
  row('its CSINode', 'node', `POST ${CSI}?dryRun=All`, '201', csiNode('n1')),
  row('the CSINode of another', 'node', `POST ${CSI}?dryRun=All`, FORBIDDEN, csiNode('n2')),
  row('is not removed', 'node', `DELETE ${CSI}/n2?dryRun=All`, FORBIDDEN),
  row('a volume that none of its pods has', 'node', 'GET /api/v1/persistentvolumes/x', FORBIDDEN),
  row('a claim that none of its pods has', 'node', `GET ${A}/persistentvolumeclaims/x`, FORBIDDEN),
  row('all claims', 'node', `GET ${A}/persistentvolumeclaims`, FORBIDDEN),
  row('attachments of others', 'node', 'GET /apis/storage.k8s.io/v1/volumeattachments/x', FORBIDDEN),
  row(
    'the status of a claim that none of its pods has',
    'node',
    `PATCH ${A}/persistentvolumeclaims/x/status?dryRun=All`,
    FORBIDDEN,
    merge({ status: {} }),
  ),
  // pods selected by their node
  row('pods of all nodes', 'node', 'GET /api/v1/pods', FORBIDDEN),
  row('pods of another node', 'node', 'GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn2', FORBIDDEN),
  row('its own pods', 'node', 'GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn1', '200'),
  row('its own pods in a namespace', 'node', `GET ${A}/pods?fieldSelector=spec.nodeName%3Dn1`, '200'),
  row('pods of others beside its own', 'node', 'GET /api/v1/pods?fieldSelector=spec.nodeName!%3Dn1', FORBIDDEN),
  row(
    'a watch of its own pods',
    'node',
    'GET /api/v1/pods?watch=1&timeoutSeconds=1&fieldSelector=spec.nodeName%3Dn1',
    '200',
  ),
  row('a pod of another node by name', 'node', `GET ${A}/pods/pod-n2`, FORBIDDEN),
  row('a pod of its own by name', 'node', `GET ${A}/pods/pod-n1`, '200'),
  row('other nodes by name', 'node', 'GET /api/v1/nodes/n2', FORBIDDEN),
  row('all nodes', 'node', 'GET /api/v1/nodes', FORBIDDEN),
  row('a watch of all nodes', 'node', 'GET /api/v1/nodes?watch=1&timeoutSeconds=1', FORBIDDEN),
  // mirror pods
  row('a mirror pod without an owner', 'node', `POST ${A}/pods?dryRun=All`, FORBIDDEN, mirror({})),
  row('one that another node owns', 'node', `POST ${A}/pods?dryRun=All`, FORBIDDEN, mirror(owner({ name: 'n2' }))),
  row(
    'one that a Deployment owns',
    'node',
    `POST ${A}/pods?dryRun=All`,
    FORBIDDEN,
    mirror(owner({ apiVersion: 'apps/v1', kind: 'Deployment' })),
  ),
  row(
    'one of two owners',
    'node',
    `POST ${A}/pods?dryRun=All`,
    FORBIDDEN,
    mirror({ ownerReferences: [...owner({}).ownerReferences, { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'y' }] }),
  ),
  row('one whose owner is another uid', 'node', `POST ${A}/pods?dryRun=All`, FORBIDDEN, mirror(owner({}))),
  ...[
    { secret: { secretName: 'one' } },
    { configMap: { name: 'one' } },
    { persistentVolumeClaim: { claimName: 'one' } },
    { projected: { sources: [{ secret: { name: 'one' } }] } },
    { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
    { projected: { sources: [{ clusterTrustBundle: { name: 'x', path: 't' } }] } },
  ].map((source) =>
    row(
      `a mirror pod with ${JSON.stringify(source).slice(0, 60)}`,
      'node',
      `POST ${A}/pods?dryRun=All`,
      FORBIDDEN,
      mirror({}, volume(source)),
    ),
  ),
  row(
    'a mirror pod with the environment of a Secret',
    'node',
    `POST ${A}/pods?dryRun=All`,
    FORBIDDEN,
    mirror({}, { containers: [{ name: 'c', image: 'i', envFrom: [{ secretRef: { name: 'one' } }] }] }),
  ),
  row(
    'a mirror pod with claims of devices',
    'node',
    `POST ${A}/pods?dryRun=All`,
    FORBIDDEN,
    mirror({}, { resourceClaims: [{ name: 'c', resourceClaimName: 'x' }] }),
  ),
  row(
    'a mirror pod with a pull secret',
    'node',
    `POST ${A}/pods?dryRun=All`,
    FORBIDDEN,
    mirror({}, { imagePullSecrets: [{ name: 'one' }] }),
  ),
  // statuses
  row(
    'claims of devices in the status of a pod',
    'node',
    `PATCH ${A}/pods/pod-n1/status?dryRun=All`,
    FORBIDDEN,
    merge({ status: { resourceClaimStatuses: [{ name: 'c', resourceClaimName: 'x' }] } }),
  ),
  row(
    'annotations by the status of a pod',
    'node',
    `PATCH ${A}/pods/pod-n1/status?dryRun=All`,
    '200',
    merge({ metadata: { annotations: { x: 'y' } } }),
  ),
  row(
    'finalizers by the status of a pod',
    'node',
    `PATCH ${A}/pods/pod-n1/status?dryRun=All`,
    '200',
    merge({ metadata: { finalizers: ['x.io/y'] } }),
  ),
  row(
    'owners by the status of a pod',
    'node',
    `PATCH ${A}/pods/pod-n1/status?dryRun=All`,
    '200',
    merge({ metadata: owner({}) }),
  ),
  row(
    'the nominated node of a pod',
    'node',
    `PATCH ${A}/pods/pod-n1/status?dryRun=All`,
    '422 Invalid',
    merge({ status: { nominatedNodeName: 'n2' } }),
  ),
  row(
    'labels by its own status',
    'node',
    'PATCH /api/v1/nodes/n1/status?dryRun=All',
    FORBIDDEN,
    merge({ metadata: { labels: { 'node-restriction.kubernetes.io/x': 'y' } } }),
  ),
  row(
    'owners by its own status',
    'node',
    'PATCH /api/v1/nodes/n1/status?dryRun=All',
    FORBIDDEN,
    merge({ metadata: owner({ name: 'n2' }) }),
  ),
  row(
    'taints by an update',
    'node',
    'PATCH /api/v1/nodes/n1?dryRun=All',
    FORBIDDEN,
    merge({ spec: { unschedulable: true, taints: [{ key: 'k', effect: 'NoExecute' }] } }),
  ),
  row('cordoning itself', 'node', 'PATCH /api/v1/nodes/n1?dryRun=All', '200', merge({ spec: { unschedulable: true } })),
  ...[
    'node.kubernetes.io/exclude-from-external-load-balancers',
    'kubernetes.io/hostname',
    'topology.kubernetes.io/zone',
    'node.kubernetes.io/instance-type',
    'kubelet.kubernetes.io/x',
  ].map((label) =>
    row(
      `the label ${label}`,
      'node',
      'PATCH /api/v1/nodes/n1?dryRun=All',
      '200',
      merge({ metadata: { labels: { [label]: 'x' } } }),
    ),
  ),
  ...['node-role.kubernetes.io/master', 'kubernetes.io/role', 'x.kubernetes.io/y'].map((label) =>
    row(
      `the label ${label}`,
      'node',
      'PATCH /api/v1/nodes/n1?dryRun=All',
      FORBIDDEN,
      merge({ metadata: { labels: { [label]: 'x' } } }),
    ),
  ),
  // objects of other nodes
  row(
    'resizing a pod',
    'node',
    `PATCH ${A}/pods/pod-n1/resize?dryRun=All`,
    FORBIDDEN,
    merge({ spec: { containers: [] } }),
  ),
  row(
    'containers for a pod',
    'node',
    `PATCH ${A}/pods/pod-n1/ephemeralcontainers?dryRun=All`,
    FORBIDDEN,
    merge({ spec: {} }),
  ),
  row('a shell in a pod', 'node', `GET ${A}/pods/pod-n1/exec?command=sh`, FORBIDDEN),
  row('the log of a pod', 'node', `GET ${A}/pods/pod-n1/log`, FORBIDDEN),
  row('the proxy of a node', 'node', 'GET /api/v1/nodes/n1/proxy/x', FORBIDDEN),
  row(
    'a lease of the schedulers',
    'node',
    'GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler',
    FORBIDDEN,
  ),
  row('all leases of nodes', 'node', 'GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', FORBIDDEN),
  row('events of its own', 'node', `POST ${A}/events?dryRun=All`, '201', {
    body: { metadata: { name: 'e', namespace: 'a' }, involvedObject: { namespace: 'a' } },
  }),
  row('a review of a token', 'node', 'POST /apis/authentication.k8s.io/v1/tokenreviews', '201', {
    body: { spec: { token: 'x' } },
  }),
  row('a review of what somebody may do', 'node', 'POST /apis/authorization.k8s.io/v1/subjectaccessreviews', '201', {
    body: { spec: { user: 'x', nonResourceAttributes: { path: '/', verb: 'get' } } },
  }),
  row('a class of runtimes', 'node', 'GET /apis/node.k8s.io/v1/runtimeclasses', '200'),
  row(
    'a webhook',
    'node',
    'POST /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations?dryRun=All',
    FORBIDDEN,
    {
      body: { metadata: { name: 'x' } },
    },
  ),
  row('somebody else’s name', 'node', 'GET /api/v1/nodes/n2', FORBIDDEN, {
    headers: { 'Impersonate-User': 'system:node:n1' },
  }),
]
