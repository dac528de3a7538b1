// Which nodes reach the volumes of a pod, in the words of kube-scheduler 1.36.3.
import { expect, test } from 'vitest'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../src/api/core/v1.ts'
import type { StorageClass } from '../../../src/api/storage/v1.ts'
import { atOnce } from '../../../src/base/slices.ts'
import type { Clientset } from '../../../src/controllers/client/clientset.ts'
import { NodeState } from '../../../src/controllers/scheduling/node-state.ts'
import { choose, failureMessage } from '../../../src/controllers/scheduling/schedule.ts'
import { VolumeFacts } from '../../../src/controllers/scheduling/volume-facts.ts'
import { filtersFor } from './filters-for.ts'

const ZONE = 'topology.kubernetes.io/zone'
const BETA_ZONE = 'failure-domain.beta.kubernetes.io/zone'

const nodes = ['a', 'b'].map(
  (name) =>
    new NodeState({
      metadata: { name, labels: { [ZONE]: name } },
      status: { allocatable: { cpu: '4', memory: '8Gi', pods: '9' } },
    }),
)

interface Stored {
  readonly metadata: { readonly name?: string }
  readonly spec?: object
  readonly storageClassName?: string
  readonly nodeTopology?: object
  readonly capacity?: string
}

interface Given {
  readonly spec?: PersistentVolumeClaim['spec']
  readonly annotations?: Record<string, string>
  readonly volumeLabels?: Record<string, string>
  readonly volume?: PersistentVolume['spec']
  readonly phase?: string
  /** Further claims of the pod. */
  readonly more?: readonly string[]
  /** Sizes by zone. */
  readonly capacities?: Readonly<Record<string, string>>
}

const BOUND = { 'pv.kubernetes.io/bind-completed': 'yes' }
const volumeName = 'pv'
const ONE = { resources: { requests: { storage: '1Gi' } } }
const LATE = { storageClassName: 'late' }
const classes: readonly StorageClass[] = [
  { metadata: { name: 'late' }, provisioner: 'x', volumeBindingMode: 'WaitForFirstConsumer' },
]

async function outcome({
  spec = {},
  annotations = {},
  volumeLabels,
  volume,
  phase,
  more = [],
  capacities,
}: Given): Promise<string> {
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'default' },
    spec: {
      containers: [{ name: 'c' }],
      volumes: ['c', ...more].map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
    },
  }
  const claim: PersistentVolumeClaim = {
    metadata: { name: 'c', namespace: 'default', annotations },
    spec,
    status: { phase },
  }
  const volumes: readonly PersistentVolume[] =
    volumeLabels === undefined
      ? []
      : [{ metadata: { name: volumeName, labels: volumeLabels }, ...(volume && { spec: volume }) }]
  const stored: Readonly<Record<string, readonly Stored[]>> = {
    persistentvolumeclaims: [claim],
    persistentvolumes: volumes,
    storageclasses: classes,
    csidrivers: capacities === undefined ? [] : [{ metadata: { name: 'x' }, spec: { storageCapacity: true } }],
    csistoragecapacities: Object.entries(capacities ?? {}).map(([zone, capacity]) => ({
      metadata: {},
      storageClassName: 'late',
      nodeTopology: { matchLabels: { [ZONE]: zone } },
      capacity,
    })),
  }
  const clients = {
    resource: ({ resource }: { resource: string }) => ({
      get: (name: string) => Promise.resolve(stored[resource]?.find(({ metadata }) => metadata.name === name)),
      each: () => stored[resource] ?? [],
    }),
  } as unknown as Clientset // what VolumeFacts reads
  const choice = atOnce(choose(filtersFor(pod, nodes, await VolumeFacts.of([pod], clients))))
  return 'node' in choice ? choice.node.name : failureMessage(choice, '')
}

test('a claim that is missing is named before one that is lost', async () => {
  expect(await outcome({ spec: { volumeName }, phase: 'Lost', more: ['missing'] })).toBe(
    '0/2 nodes are available: persistentvolumeclaim "missing" not found.',
  )
})

test.each<[what: string, given: Given, expected: string]>([
  [
    'a claim whose volume is gone',
    { spec: { volumeName }, annotations: BOUND },
    '0/2 nodes are available: persistentvolume "pv" not found.',
  ],
  [
    'a claim that names its volume and is not bound yet',
    { spec: { ...LATE, volumeName }, volumeLabels: {} },
    '0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.',
  ],
  ['a claim that waits for its consumer', { spec: LATE }, 'a'],
  [
    'a claim for which a provisioner makes a volume already',
    { spec: LATE, annotations: { 'volume.kubernetes.io/selected-node': 'b' } },
    'b',
  ],
  [
    'a claim for which only one node has the space',
    { spec: { ...LATE, ...ONE }, capacities: { a: '500Mi', b: '1Gi' } },
    'b',
  ],
  [
    'a claim for which no node has the space',
    { spec: { ...LATE, ...ONE }, capacities: { a: '500Mi' } },
    '0/2 nodes are available: 2 node(s) did not have enough free storage.',
  ],
  [
    'a claim whose reserved volume the node does not reach: another is made',
    {
      spec: LATE,
      volumeLabels: {},
      volume: {
        claimRef: { namespace: 'default', name: 'c' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'no', operator: 'Exists' }] }] } },
      },
    },
    'a',
  ],
  ['a volume of a zone', { spec: { volumeName }, annotations: BOUND, volumeLabels: { [ZONE]: 'b' } }, 'b'],
  [
    'a volume with the old label of a zone',
    { spec: { volumeName }, annotations: BOUND, volumeLabels: { [BETA_ZONE]: 'b' } },
    'b',
  ],
])('%s', async (_, given, expected) => {
  expect(await outcome(given)).toBe(expected)
})
