import { beforeEach, describe, expect, test } from 'vitest'
import type { Deployment, ReplicaSet } from '../../../../src/api/apps/v1.ts'
import type { Pod } from '../../../../src/api/core/v1.ts'
import { clientsetFor } from '../../../../src/controllers/client/clientset.ts'
import type { Clientset } from '../../../../src/controllers/client/clientset.ts'
import { NODES } from '../../../../src/controllers/simulation/simulated-node.ts'
import { DEPLOYMENTS } from '../../../../src/controllers/workloads/deployment/deployment.ts'
import { PODS } from '../../../../src/controllers/workloads/pods/pod-control.ts'
import { REPLICA_SETS } from '../../../../src/controllers/workloads/replica-set.ts'
import { ControlPlaneInMemory } from '../../control-plane.ts'
import { named } from '../../../../src/controllers/client/resource-client.ts'

let plane: ControlPlaneInMemory
let clients: Clientset

beforeEach(async () => {
  plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  clients = clientsetFor(await plane.context(), 'somebody')
  for (const name of ['node-1', 'node-2'])
    await clients
      .resource(NODES)
      .create({ kind: 'Node', apiVersion: 'v1', metadata: { name, labels: { 'kedge.dev/simulated': 'true' } } })
  await plane.settle()
})

const deployments = () => clients.resource(DEPLOYMENTS, 'default')
const sets = () => clients.resource(REPLICA_SETS, 'default').list()
const pods = () => clients.resource(PODS, 'default').list()

async function deploy(spec: Partial<Deployment['spec']> = {}): Promise<void> {
  await deployments().create({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
      ...spec,
    },
  })
  await settled()
}

/** Rollouts look at ready pods, whose times have whole seconds. */
async function settled(): Promise<void> {
  for (let look = 0; look < 20; look++) await plane.pass(1_000)
}

async function change(edit: (deployment: Deployment) => void): Promise<void> {
  await deployments().updateWithRetries(named('web'), edit)
  await settled()
}

const image = ({ spec }: Pod | undefined = { metadata: {} }) => spec?.containers?.[0]?.image
const conditions = (deployment: Deployment | undefined) =>
  deployment?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`).sort()
const revisions = (all: readonly ReplicaSet[]) =>
  all
    .map(({ metadata, spec }) => `${metadata.annotations?.['deployment.kubernetes.io/revision']}: ${spec?.replicas}`)
    .sort()

describe('a Deployment', () => {
  test('has as many pods as it asks for, which run on nodes', async () => {
    await deploy()
    const running = await pods()
    expect(running.map(({ status }) => status?.phase)).toEqual(['Running', 'Running', 'Running'])
    expect(new Set(running.map(({ spec }) => spec?.nodeName))).toEqual(new Set(['node-1', 'node-2']))
    expect(new Set(running.map(({ status }) => status?.podIP)).size).toBe(3)
    const deployment = await deployments().get('web')
    expect(deployment?.status).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
    })
    expect(conditions(deployment)).toEqual([
      'Available=True MinimumReplicasAvailable',
      'Progressing=True NewReplicaSetAvailable',
    ])
  })

  test('rolls a new template out, and back to a former one, whose ReplicaSet it uses again', async () => {
    await deploy()
    const [first] = await sets()
    await change(({ spec }) => void (spec!.template!.spec!.containers![0]!.image = 'web:2'))
    expect((await pods()).map(image)).toEqual(['web:2', 'web:2', 'web:2'])
    expect(revisions(await sets())).toEqual(['1: 0', '2: 3'])
    await change(({ spec }) => void (spec!.template!.spec!.containers![0]!.image = 'web:1'))
    expect((await pods()).map(image)).toEqual(['web:1', 'web:1', 'web:1'])
    const all = await sets()
    expect(revisions(all)).toEqual(['2: 0', '3: 3'])
    const again = all.find(({ metadata }) => metadata.uid === first?.metadata.uid)
    expect(again?.metadata.annotations).toMatchObject({ 'deployment.kubernetes.io/revision-history': '1' })
  })

  test('counts on from a revision of 64 bits', async () => {
    await deploy()
    const [first] = await sets()
    const name = first?.metadata.name ?? ''
    await clients.resource(REPLICA_SETS, 'default').updateWithRetries(named(name), ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'deployment.kubernetes.io/revision': '3546343826724305832' }
    })
    await change(({ spec }) => (spec!.template!.spec!.containers![0]!.image = 'web:2'))
    expect(revisions(await sets())).toEqual(['3546343826724305832: 0', '3546343826724305833: 3'])
  })

  test('keeps no more revisions than its limit says', async () => {
    await deploy({ revisionHistoryLimit: 1 })
    for (const tag of ['2', '3', '4'])
      await change(({ spec }) => void (spec!.template!.spec!.containers![0]!.image = `web:${tag}`))
    expect(revisions(await sets())).toEqual(['3: 0', '4: 3'])
  })

  test('that is scaled changes the size of its ReplicaSet', async () => {
    await deploy()
    await change(({ spec }) => void (spec!.replicas = 5))
    expect(await pods()).toHaveLength(5)
    await change(({ spec }) => void (spec!.replicas = 1))
    expect(await pods()).toHaveLength(1)
    expect(revisions(await sets())).toEqual(['1: 1'])
  })

  test('that recreates starts new pods when no old one is left', async () => {
    await deploy({ strategy: { type: 'Recreate' } })
    await change(({ spec }) => void (spec!.template!.spec!.containers![0]!.image = 'web:2'))
    expect((await pods()).map(image)).toEqual(['web:2', 'web:2', 'web:2'])
  })

  test('that is paused keeps its pods, and says so', async () => {
    await deploy()
    await change(({ spec }) => {
      spec!.paused = true
      spec!.template!.spec!.containers![0]!.image = 'web:2'
    })
    expect((await pods()).map(image)).toEqual(['web:1', 'web:1', 'web:1'])
    expect(conditions(await deployments().get('web'))).toContain('Progressing=Unknown DeploymentPaused')
    await plane.pass(700_000)
    expect(plane.waiting).toEqual([])
    await change(({ spec }) => void delete spec!.paused)
    expect((await pods()).map(image)).toEqual(['web:2', 'web:2', 'web:2'])
  })

  test('whose pods never get ready says so when its deadline has passed', async () => {
    await deploy({
      progressDeadlineSeconds: 60,
      template: {
        metadata: { labels: { app: 'web' }, annotations: { 'kedge.dev/ready': 'false' } },
        spec: { containers: [{ name: 'web', image: 'web:1' }] },
      },
    })
    expect(conditions(await deployments().get('web'))).toEqual([
      'Available=False MinimumReplicasUnavailable',
      'Progressing=True ReplicaSetUpdated',
    ])
    await plane.pass(61_000)
    await settled()
    expect(conditions(await deployments().get('web'))).toContain('Progressing=False ProgressDeadlineExceeded')
  })
})

describe('a ReplicaSet', () => {
  test('replaces a pod that is deleted', async () => {
    await deploy()
    const [pod] = await pods()
    await clients.resource(PODS, 'default').delete(named(pod!.metadata.name!))
    await settled()
    const running = await pods()
    expect(running).toHaveLength(3)
    expect(running.map(({ metadata }) => metadata.uid)).not.toContain(pod!.metadata.uid)
  })

  test('lets go of a pod whose labels change, and adopts it when they change back', async () => {
    await deploy()
    const [pod] = await pods()
    const relabel = async (app: string) => {
      await clients
        .resource(PODS, 'default')
        .updateWithRetries(named(pod!.metadata.name!), ({ metadata }) => void (metadata.labels!['app'] = app))
      await settled()
    }
    await relabel('elsewhere')
    expect((await clients.resource(PODS, 'default').get(pod!.metadata.name!))?.metadata.ownerReferences).toBeUndefined()
    expect(await pods()).toHaveLength(4)
    await relabel('web')
    expect(await pods()).toHaveLength(3)
  })
})
