import { describe, expect, test } from 'vitest'
import { nodeRestriction } from '../../../src/admission/plugins/node-restriction.ts'
import type { Asked } from '../plugin-outcome.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'

const server = await serverWith({
  persistentvolumeclaims: [
    { metadata: { name: 'unbound', namespace: 'blue' }, spec: {} } as never,
    { metadata: { name: 'bound', namespace: 'blue' }, spec: { volumeName: 'v' } } as never,
    { metadata: { name: 'migrated', namespace: 'blue' }, spec: { volumeName: 'former' } } as never,
    { metadata: { name: 'nowhere', namespace: 'blue' }, spec: { volumeName: 'nowhere' } } as never,
  ],
  persistentvolumes: [
    { metadata: { name: 'v' }, spec: { csi: { driver: 'known' } } } as never,
    {
      metadata: { name: 'former' },
      spec: { claimRef: { namespace: 'blue', name: 'migrated' }, azureFile: { shareName: 's', secretName: 's' } },
    } as never,
    { metadata: { name: 'nowhere' }, spec: { azureFile: { shareName: 's', secretName: 's' } } } as never,
  ],
  'csidrivers.storage.k8s.io': [
    { metadata: { name: 'known' }, spec: { tokenRequests: [{ audience: 'of-driver' }] } } as never,
    { metadata: { name: 'file.csi.azure.com' }, spec: { tokenRequests: [{ audience: 'files' }] } } as never,
    { metadata: { name: 'ebs.csi.aws.com' }, spec: { tokenRequests: [{ audience: 'disks' }] } } as never,
  ],
  nodes: [{ metadata: { name: 'mine', uid: 'u-mine' } }],
  pods: [
    {
      metadata: { name: 'here', namespace: 'blue', uid: 'u-here' },
      spec: { nodeName: 'mine', volumes: [tokenVolume('vault')] },
    } as never,
    { metadata: { name: 'there', namespace: 'blue', uid: 'u-there' }, spec: { nodeName: 'other' } } as never,
    {
      metadata: { name: 'claims', namespace: 'blue', uid: 'u-claims' },
      spec: {
        nodeName: 'mine',
        volumes: [
          { name: 'gone', persistentVolumeClaim: { claimName: 'gone' } },
          { name: 'unbound', persistentVolumeClaim: { claimName: 'unbound' } },
          { name: 'bound', persistentVolumeClaim: { claimName: 'bound' } },
          { name: 'unknown', csi: { driver: 'unknown' } },
        ],
      },
    } as never,
    withVolume('migrated', { persistentVolumeClaim: { claimName: 'migrated' } }),
    withVolume('share', { azureFile: { shareName: 's', secretName: 's' } }),
    withVolume('disk', { awsElasticBlockStore: { volumeID: 'aws://zone/vol-1' } }),
    withVolume('no-disk', { awsElasticBlockStore: { volumeID: 'aws://zone/1' } }),
    withVolume('blob', { azureDisk: { diskName: 'd', diskURI: 'u', kind: 'Shared' } }),
    withVolume('nowhere', { persistentVolumeClaim: { claimName: 'nowhere' } }),
  ],
})

function withVolume(name: string, source: object) {
  const metadata = { name, namespace: 'blue', uid: `u-${name}` }
  return { metadata, spec: { nodeName: 'mine', volumes: [{ name: 'v', ...source }] } } as never
}

function tokenVolume(audience: string) {
  return { name: 'v', projected: { sources: [{ serviceAccountToken: { audience, path: 't' } }] } }
}

const NODE = { user: 'system:node:mine', groups: ['system:nodes'] }
const brief = (outcome: unknown) => (typeof outcome === 'string' ? outcome : 'taken')
const ask = async (asked: Asked) => brief(await outcomeOf(nodeRestriction, server, { ...NODE, ...asked }))
const forbiddenPod = (why: string) => `403 pods "p" is forbidden: ${why}`

test('only nodes are restricted, and they have a name', async () => {
  expect(await ask({ at: 'nodes', name: 'x', user: 'eve', groups: [], object: {} })).toBe('not asked')
  expect(await ask({ at: 'nodes', name: 'x', user: 'system:node:', object: {} })).toMatch(
    'could not determine node from user "system:node:"',
  )
  expect(await ask({ at: 'configmaps', object: {} })).toBe('taken')
})

test('a connection is no write', async () => {
  expect(await ask({ at: 'pods/exec', name: 'there', operation: 'CONNECT', object: {} })).toBe('not asked')
})

test('feature gates take restrictions away', async () => {
  const gates = 'ServiceAccountNodeAudienceRestriction=false,AllowInsecureKubeletCertificateSigningRequests=true'
  const lax = await serverWith(
    { pods: [{ metadata: { name: 'here', namespace: 'blue', uid: 'u-here' }, spec: { nodeName: 'mine' } } as never] },
    { KEDGE_FEATURE_GATES: gates },
  )
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'here', uid: 'u-here' }
  const token = { at: 'serviceaccounts/token', object: { spec: { audiences: ['a', 'b'], boundObjectRef } } as never }
  const request = {
    at: 'certificatesigningrequests.certificates.k8s.io',
    object: { spec: { signerName: 'kubernetes.io/kubelet-serving', request: '' } } as never,
  }
  for (const asked of [token, request]) {
    expect(await ask(asked)).toMatch('403')
    expect(brief(await outcomeOf(nodeRestriction, lax, { ...NODE, ...asked }))).toBe('taken')
  }
})

describe('mirror pods', () => {
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'mine', uid: 'u-mine', controller: true }
  const mirror = (spec: object = {}, metadata: object = {}): Asked => ({
    at: 'pods',
    object: {
      metadata: {
        name: 'p',
        annotations: { 'kubernetes.io/config.mirror': 'x' },
        ownerReferences: [owner],
        ...metadata,
      },
      spec: { nodeName: 'mine', ...spec },
    } as never,
  })
  const WHO = 'node "mine" can only create pods with'
  test.each<[string, Asked, string]>([
    ['on the node, owned by it', mirror(), 'taken'],
    [
      'without the annotation',
      mirror({}, { annotations: {} }),
      'pod does not have "kubernetes.io/config.mirror" annotation, node "mine" can only create mirror pods',
    ],
    ['on another node', mirror({ nodeName: 'other' }), `${WHO} spec.nodeName set to itself`],
    ['without an owner', mirror({}, { ownerReferences: [] }), `${WHO} an owner reference set to itself`],
    [
      'with two owners',
      mirror({}, { ownerReferences: [owner, owner] }),
      `${WHO} a single owner reference set to itself`,
    ],
    [
      'of another node',
      mirror({}, { ownerReferences: [{ ...owner, name: 'other' }] }),
      `${WHO} an owner reference set to itself`,
    ],
    [
      'whose owner does not control it',
      mirror({}, { ownerReferences: [{ ...owner, controller: false }] }),
      `${WHO} a controller owner reference set to itself`,
    ],
    [
      'whose owner waits for it',
      mirror({}, { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
      'node "mine" must not set blockOwnerDeletion on an owner reference',
    ],
    [
      'of a node that was there before',
      mirror({}, { ownerReferences: [{ ...owner, uid: 'u-old' }] }),
      'node mine UID mismatch: expected u-old got u-mine',
    ],
    ...(
      [
        [{ serviceAccountName: 'a' }, 'serviceaccounts'],
        [{ containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 's' } } }] }] }, 'secrets'],
        [{ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }, 'persistentvolumeclaims'],
        [{ volumes: [{ name: 'v', csi: { driver: 'd' } }] }, 'csidrivers (via CSI volumes)'],
      ] as const
    ).map(([spec, what]): [string, Asked, string] => [
      `that refer to ${what}`,
      mirror(spec),
      `node "mine" can not create pods that reference ${what}`,
    ]),
  ])('%s', async (_what, asked, expected) => {
    expect(await ask(asked)).toBe(expected === 'taken' ? expected : forbiddenPod(expected))
  })
})

describe('pods that are there', () => {
  const pod = (nodeName: string, more: object = {}) =>
    ({ metadata: { name: 'p' }, spec: { nodeName }, ...more }) as never
  test.each<[string, Asked, string]>([
    ['its own is deleted', { at: 'pods', operation: 'DELETE', name: 'p', oldObject: pod('mine') }, 'taken'],
    [
      "another's is deleted",
      { at: 'pods', operation: 'DELETE', name: 'p', oldObject: pod('other') },
      'node "mine" can only delete pods with spec.nodeName set to itself',
    ],
    [
      'its own is changed',
      { at: 'pods', operation: 'UPDATE', name: 'p', object: pod('mine'), oldObject: pod('mine') },
      'unexpected operation "UPDATE", node "mine" can only create and delete mirror pods',
    ],
    [
      'its own has a status',
      { at: 'pods/status', operation: 'UPDATE', name: 'p', object: pod('mine'), oldObject: pod('mine') },
      'taken',
    ],
    [
      "another's has a status",
      { at: 'pods/status', operation: 'UPDATE', name: 'p', object: pod('other'), oldObject: pod('other') },
      'node "mine" can only update pod status for pods with spec.nodeName set to itself',
    ],
    [
      'labels by way of the status',
      {
        at: 'pods/status',
        operation: 'UPDATE',
        name: 'p',
        object: pod('mine', { metadata: { name: 'p', labels: { a: 'b' } } }),
        oldObject: pod('mine'),
      },
      'node "mine" cannot update labels through pod status',
    ],
    [
      'what kubelets do not use',
      { at: 'pods/binding', name: 'p', object: pod('mine') },
      `unexpected pod subresource "binding", only 'status' and 'eviction' are allowed`,
    ],
  ])('%s', async (_what, asked, expected) => {
    expect(await ask(asked)).toBe(expected === 'taken' ? expected : forbiddenPod(expected))
  })

  test('are evicted from the node itself', async () => {
    const evict = (name: string) => ask({ at: 'pods/eviction', name, object: { metadata: { name } } })
    expect(await evict('here')).toBe('taken')
    expect(await evict('there')).toBe(
      '403 pods "there" is forbidden: node mine can only evict pods with spec.nodeName set to itself',
    )
    expect(await evict('gone')).toBe('404 pod "gone" not found')
  })
})

describe('its Node', () => {
  const node = (metadata: object, spec: object = {}) => ({ metadata: { name: 'mine', ...metadata }, spec }) as never
  const write = (object: never, oldObject?: never, name = 'mine'): Asked => ({
    at: 'nodes',
    name,
    object,
    ...(oldObject === undefined ? {} : { operation: 'UPDATE', oldObject }),
  })
  test.each<[string, Asked, string]>([
    [
      'with labels of kubelets',
      write(node({ labels: { 'kubernetes.io/os': 'linux', 'kubelet.kubernetes.io/x': 'y', own: 'z' } })),
      'taken',
    ],
    [
      'with labels that steer pods',
      write(node({ labels: { 'node-restriction.kubernetes.io/a': '1', 'k8s.io/b': '2' } })),
      'node "mine" is not allowed to set the following labels: k8s.io/b, node-restriction.kubernetes.io/a',
    ],
    [
      'changed, as it is labelled',
      write(node({ labels: { 'k8s.io/b': '2' } }), node({ labels: { 'k8s.io/b': '2' } })),
      'taken',
    ],
    [
      'without such a label',
      write(node({}), node({ labels: { 'k8s.io/b': '2' } })),
      'is not allowed to modify labels: k8s.io/b',
    ],
    [
      'without its taints',
      write(node({}), node({}, { taints: [{ key: 'a' }] })),
      'node "mine" is not allowed to modify taints',
    ],
    [
      'with owners',
      write(node({ ownerReferences: [{ name: 'x' }] }), node({})),
      'node "mine" is not allowed to modify ownerReferences',
    ],
    [
      'of another',
      write(node({ name: 'other' }), undefined, 'other'),
      'node "mine" is not allowed to modify node "other"',
    ],
  ])('%s', async (_what, asked, expected) => {
    const name = asked.name ?? ''
    expect(await ask(asked)).toBe(expected === 'taken' ? expected : `403 nodes "${name}" is forbidden: ${expected}`)
  })
})

describe('tokens', () => {
  const token = (pod: object, audiences: string[] = []): Asked => ({
    at: 'serviceaccounts/token',
    name: 'default',
    object: { metadata: {}, spec: { audiences, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', ...pod } } } as never,
  })
  const refused = (why: string) => `403 serviceaccounts "default" is forbidden: ${why}`
  test.each<[string, Asked, string]>([
    ['of a pod on the node, for its audience', token({ name: 'here', uid: 'u-here' }, ['vault']), 'taken'],
    [
      'for another audience',
      token({ name: 'here', uid: 'u-here' }, ['bank']),
      refused(
        'audience "bank" not found in pod spec volume, system:node:mine is not authorized to request tokens for this audience',
      ),
    ],
    [
      'for two',
      token({ name: 'here', uid: 'u-here' }, ['vault', 'bank']),
      refused('node may only request 0 or 1 audiences'),
    ],
    ['of no pod', token({ kind: 'Secret', name: 's', uid: 'u' }), refused('node requested token not bound to a pod')],
    [
      'of any pod of that name',
      token({ name: 'here' }),
      refused('node requested token with a pod binding without a uid'),
    ],
    [
      'of a pod that was there before',
      token({ name: 'here', uid: 'u-old' }),
      refused(
        'the UID in the bound object reference (u-old) does not match the UID in record. The object might have been deleted and then recreated',
      ),
    ],
    [
      'of a pod elsewhere',
      token({ name: 'there', uid: 'u-there' }),
      refused('node requested token bound to a pod scheduled on a different node'),
    ],
    ['for an audience of a driver', token({ name: 'claims', uid: 'u-claims' }, ['of-driver']), 'taken'],
    [
      'for an audience of which the volumes cannot tell',
      token({ name: 'claims', uid: 'u-claims' }, ['bank']),
      refused(
        'error validating audience "bank": [persistentvolumeclaim "gone" not found, persistentvolume "" not found, csidriver.storage.k8s.io "unknown" not found]',
      ),
    ],
    ['of the driver that took over a volume', token({ name: 'migrated', uid: 'u-migrated' }, ['files']), 'taken'],
    ['of the driver that took over a share of the pod', token({ name: 'share', uid: 'u-share' }, ['files']), 'taken'],
    ['of the driver that took over a disk of the pod', token({ name: 'disk', uid: 'u-disk' }, ['disks']), 'taken'],
    [
      'of a disk without an id',
      token({ name: 'no-disk', uid: 'u-no-disk' }, ['disks']),
      refused(
        'error validating audience "disks": failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://zone/1)',
      ),
    ],
    [
      'of a disk that no driver took over',
      token({ name: 'blob', uid: 'u-blob' }, ['disks']),
      refused('error validating audience "disks": kind(Shared) is not supported in csi migration'),
    ],
    [
      'of a share without a namespace',
      token({ name: 'nowhere', uid: 'u-nowhere' }, ['files']),
      refused(
        'error validating audience "files": could not find a secret namespace in PersistentVolumeSource or ClaimRef',
      ),
    ],
    ['of a pod that is gone', token({ name: 'gone', uid: 'u' }), '404 pod "gone" not found'],
  ])('%s', async (_what, asked, expected) => expect(await ask(asked)).toBe(expected))
})

describe('objects with its name', () => {
  const LEASES = 'leases.coordination.k8s.io'
  const SLICES = 'resourceslices.resource.k8s.io'
  const named = (name: string) => ({ metadata: { name } })
  const slice = (nodeName: string) => ({ metadata: { name: 's' }, spec: { nodeName } })
  test.each<[string, Asked, string]>([
    ['its Lease', { at: LEASES, namespace: 'kube-node-lease', object: named('mine') }, 'taken'],
    [
      'another Lease',
      { at: LEASES, namespace: 'kube-node-lease', object: named('other') },
      'can only access node lease with the same name as the requesting node',
    ],
    [
      'a Lease elsewhere',
      { at: LEASES, object: named('mine') },
      'can only access leases in the "kube-node-lease" system namespace',
    ],
    ['its CSINode', { at: 'csinodes.storage.k8s.io', object: named('mine') }, 'taken'],
    [
      'another CSINode',
      { at: 'csinodes.storage.k8s.io', object: named('other') },
      'can only access CSINode with the same name as the requesting node',
    ],
    ['its ResourceSlice', { at: SLICES, object: slice('mine') }, 'taken'],
    [
      'another ResourceSlice',
      { at: SLICES, object: slice('other') },
      'can only create ResourceSlice with the same NodeName as the requesting node',
    ],
    [
      'another ResourceSlice, deleted',
      { at: SLICES, operation: 'DELETE', oldObject: slice('other') },
      'can only delete ResourceSlice with the same NodeName as the requesting node',
    ],
  ])('%s', async (_what, asked, expected) => {
    const outcome = await ask(asked)
    if (expected === 'taken') expect(outcome).toBe(expected)
    else expect(outcome).toMatch(new RegExp(`^403 .* is forbidden: ${expected.replace(/[()]/g, '\\$&')}$`))
  })
})

describe('certificates of pods', async () => {
  const CERTIFICATES = 'podcertificaterequests.certificates.k8s.io'
  const pod = (name: string, nodeName: string, metadata: object = {}) =>
    ({
      metadata: { name, namespace: 'blue', uid: `u-${name}`, ...metadata },
      spec: { nodeName, serviceAccountName: 'a' },
    }) as never
  const stored = {
    nodes: [{ metadata: { name: 'mine', uid: 'u-mine' } }],
    serviceaccounts: [{ metadata: { name: 'a', namespace: 'blue', uid: 'u-a' } }],
    pods: [
      pod('here', 'mine'),
      pod('there', 'other'),
      pod('mirror', 'mine', { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
    ],
  }
  const withGate = await serverWith(stored, { KEDGE_FEATURE_GATES: 'PodCertificateRequest=true' })
  const askFor = async (spec: object, more: Partial<Asked> = {}, of = withGate) => {
    const whole = {
      nodeName: 'mine',
      nodeUID: 'u-mine',
      podName: 'here',
      podUID: 'u-here',
      serviceAccountName: 'a',
      serviceAccountUID: 'u-a',
      ...spec,
    }
    const object = { metadata: { name: 'r' }, spec: whole } as never
    return brief(await outcomeOf(nodeRestriction, of, { ...NODE, at: CERTIFICATES, name: 'r', object, ...more }))
  }
  const refused = (why: string) => `403 ${CERTIFICATES} "r" is forbidden: ${why}`

  test.each<[string, object, string]>([
    ['of a pod on the node', {}, 'taken'],
    [
      'for another node',
      { nodeName: 'other' },
      refused('PodCertificateRequest.Spec.NodeName="other", which is not the requesting node "mine"'),
    ],
    [
      'for a node that was there before',
      { nodeUID: 'u-old' },
      '500 PodCertificateRequest for pod "blue/here" names node UID "u-old", inconsistent with the running node ("u-mine")',
    ],
    [
      'of a pod elsewhere',
      { podName: 'there', podUID: 'u-there' },
      refused('pod "blue/there" is not running on node "mine" named in the PodCertificateRequest'),
    ],
    [
      'of a pod that is gone',
      { podName: 'gone' },
      '500 while retrieving pod "blue/gone" named in the PodCertificateRequest: pod "gone" not found',
    ],
    [
      'of a pod that was there before',
      { podUID: 'u-old' },
      '500 PodCertificateRequest for pod "blue/here" contains pod UID ("u-old") which differs from running pod "u-here"',
    ],
    ['of a mirror pod', { podName: 'mirror', podUID: 'u-mirror' }, refused('pod "blue/mirror" is a mirror pod')],
    [
      'of another account',
      { serviceAccountName: 'admin' },
      refused(
        'PodCertificateRequest for pod "blue/here" contains serviceAccountName ("admin") that differs from running pod ("a")',
      ),
    ],
    [
      'of an account that was there before',
      { serviceAccountUID: 'u-old' },
      '500 PodCertificateRequest for pod "blue/here" names service account UID "u-old", which differs from the running service account ("u-a")',
    ],
  ])('%s', async (_what, spec, expected) => expect(await askFor(spec)).toBe(expected))

  test('are only asked for, and only with the feature', async () => {
    expect(await askFor({}, { operation: 'UPDATE' })).toBe(refused('unexpected operation UPDATE'))
    expect(await askFor({}, { at: `${CERTIFICATES}/status` })).toBe(refused('unexpected subresource status'))
    expect(await askFor({}, {}, server)).toBe(refused('PodCertificateRequest feature gate is disabled'))
  })
})
