import { beforeEach, describe, expect, test } from 'vitest'
import type { DaemonSet } from '../../../../src/api/apps/v1.ts'
import { NODES } from '../../../../src/controllers/simulation/simulated-node.ts'
import { DAEMON_SETS } from '../../../../src/controllers/workloads/daemon-set/history.ts'
import { PODS } from '../../../../src/controllers/workloads/pods/pod-control.ts'
import { REVISIONS } from '../../../../src/controllers/workloads/templates/revisions.ts'
import { SimulatedPlane } from '../simulated-plane.ts'
import { named } from '../../../../src/controllers/client/resource-client.ts'

let simulated: SimulatedPlane
beforeEach(async () => {
  simulated = await SimulatedPlane.start('node-1', 'node-2', 'node-3')
})

const sets = () => simulated.clients.resource(DAEMON_SETS, 'default')
const status = async () => (await sets().get('agent'))!.status
const pods = () => simulated.clients.resource(PODS, 'default')
const revisions = async () =>
  (await simulated.clients.resource(REVISIONS, 'default').list()).sort(
    (a, b) => Number(a.revision) - Number(b.revision),
  )
const nodesOfPods = async () => (await simulated.pods()).map(({ spec }) => spec?.nodeName).sort()
const images = async () => (await simulated.pods()).map(({ spec }) => spec?.containers?.[0]?.image).sort()

async function apply(spec: DaemonSet['spec'] = {}, annotations: Record<string, string> = {}): Promise<void> {
  await sets().create({
    kind: 'DaemonSet',
    apiVersion: 'apps/v1',
    metadata: { name: 'agent', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: {
        metadata: { labels: { app: 'agent' }, annotations },
        spec: { containers: [{ name: 'agent', image: 'agent:1' }] },
      },
      ...spec,
    },
  })
  await simulated.settled()
}

async function change(edit: (set: DaemonSet) => void, seconds?: number): Promise<void> {
  await sets().updateWithRetries(named('agent'), edit)
  await simulated.settled(seconds)
}

const toImage = (image: string, seconds?: number) =>
  change(({ spec }) => void (spec!.template!.spec!.containers![0]!.image = image), seconds)

const taint = (node: string, effect: string) =>
  simulated.clients.resource(NODES).updateWithRetries(named(node), (object) => {
    object.spec = { ...object.spec, taints: [{ key: 'mine', effect }] }
  })

describe('a DaemonSet', () => {
  test('has a pod on every node, which the scheduler puts there', async () => {
    await apply()
    expect(await nodesOfPods()).toEqual(['node-1', 'node-2', 'node-3'])
    const [revision] = await revisions()
    const hash = revision?.metadata.labels?.['controller-revision-hash']
    expect(revision?.metadata.name).toBe(`agent-${hash}`)
    const [pod] = await simulated.pods()
    expect(pod?.metadata).toMatchObject({
      generateName: 'agent-',
      labels: { app: 'agent', 'controller-revision-hash': hash, 'pod-template-generation': '1' },
    })
    const { nodeName } = pod!.spec!
    expect(pod?.spec?.affinity).toEqual({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }],
        },
      },
    })
    expect(pod?.spec?.tolerations?.map(({ key, effect }) => `${key?.split('/')[1]}:${effect}`)).toEqual([
      'not-ready:NoExecute',
      'unreachable:NoExecute',
      'disk-pressure:NoSchedule',
      'memory-pressure:NoSchedule',
      'pid-pressure:NoSchedule',
      'unschedulable:NoSchedule',
    ])
    expect(await status()).toEqual({
      observedGeneration: 1,
      currentNumberScheduled: 3,
      desiredNumberScheduled: 3,
      numberAvailable: 3,
      numberMisscheduled: 0,
      numberReady: 3,
      updatedNumberScheduled: 3,
    })
    expect(simulated.plane.waiting).toEqual([])
  })

  test('follows nodes that come', async () => {
    await apply()
    await simulated.addNode('node-4')
    await simulated.settled()
    expect(await nodesOfPods()).toEqual(['node-1', 'node-2', 'node-3', 'node-4'])
  })

  test.each([
    ['NoSchedule', ['node-1', 'node-2', 'node-3'], { desiredNumberScheduled: 2, numberMisscheduled: 1 }],
    ['NoExecute', ['node-2', 'node-3'], { desiredNumberScheduled: 2, numberMisscheduled: 0 }],
    ['PreferNoSchedule', ['node-1', 'node-2', 'node-3'], { desiredNumberScheduled: 3, numberMisscheduled: 0 }],
  ])('on a node that gets a taint %s', async (effect, nodes, counts) => {
    await apply()
    await taint('node-1', effect)
    await simulated.settled()
    expect(await nodesOfPods()).toEqual(nodes)
    expect(await status()).toMatchObject(counts)
  })

  test('goes where its selector says, also when labels change', async () => {
    const labels = { disk: 'ssd' }
    await simulated.addNode('node-4', labels)
    await apply({
      template: {
        metadata: { labels: { app: 'agent' } },
        spec: { nodeSelector: labels, containers: [{ name: 'agent', image: 'agent:1' }] },
      },
    })
    expect(await nodesOfPods()).toEqual(['node-4'])
    const nodes = simulated.clients.resource(NODES)
    await nodes.updateWithRetries(named('node-1'), ({ metadata }) => void Object.assign(metadata.labels!, labels))
    await nodes.updateWithRetries(named('node-4'), ({ metadata }) => void delete metadata.labels!['disk'])
    await simulated.settled()
    expect(await nodesOfPods()).toEqual(['node-1'])
  })

  test('replaces one pod after the other, and goes back to a former revision', async () => {
    await apply()
    const [first] = await revisions()
    await toImage('agent:2')
    expect(await images()).toEqual(['agent:2', 'agent:2', 'agent:2'])
    await toImage('agent:1')
    expect(await images()).toEqual(['agent:1', 'agent:1', 'agent:1'])
    const all = await revisions()
    expect(all.map(({ revision }) => revision)).toEqual([2, 3])
    expect(all[1]?.metadata.name).toBe(first?.metadata.name)
  })

  test('leaves no more nodes without a pod that serves than it says', async () => {
    await apply()
    await change(({ spec }) => {
      spec!.template!.metadata!.annotations = { 'kedge.dev/ready': 'false' }
      spec!.template!.spec!.containers![0]!.image = 'agent:2'
    })
    expect(await images()).toEqual(['agent:1', 'agent:1', 'agent:2'])
    await change(({ spec }) => void (spec!.updateStrategy!.rollingUpdate!.maxUnavailable = '50%'))
    expect(await images()).toEqual(['agent:1', 'agent:2', 'agent:2'])
  })

  test('that surges has the next pod beside the former until it serves', async () => {
    await apply({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } })
    await change(({ spec }) => {
      spec!.template!.metadata!.annotations = { 'kedge.dev/ready-delay': '5' }
      spec!.template!.spec!.containers![0]!.image = 'agent:2'
    }, 3)
    expect(await images()).toEqual(['agent:1', 'agent:1', 'agent:1', 'agent:2'])
    await simulated.settled(30)
    expect(await images()).toEqual(['agent:2', 'agent:2', 'agent:2'])
    expect(await status()).toMatchObject({ numberAvailable: 3, updatedNumberScheduled: 3 })
  })

  test('replaces nothing by itself where that is left to deletion', async () => {
    await apply({ updateStrategy: { type: 'OnDelete' } })
    await toImage('agent:2')
    expect(await images()).toEqual(['agent:1', 'agent:1', 'agent:1'])
    await pods().delete(named((await simulated.pods())[0]!.metadata.name!))
    await simulated.settled()
    expect(await images()).toEqual(['agent:1', 'agent:1', 'agent:2'])
  })

  test('keeps no more former revisions than its limit says', async () => {
    await apply({ revisionHistoryLimit: 1 })
    for (const tag of ['2', '3', '4']) await toImage(`agent:${tag}`)
    expect((await revisions()).map(({ revision }) => revision)).toEqual([3, 4])
  })

  test('replaces pods that fail, later each time', async () => {
    await apply()
    const fail = async () => {
      const pod = (await simulated.pods()).find(({ spec }) => spec?.nodeName === 'node-1')!
      await pods().updateStatusWithRetries(named(pod.metadata.name!), (object) => {
        object.status = { ...object.status, phase: 'Failed' }
      })
      return pod.metadata.name!
    }
    const first = await fail()
    await simulated.settled(1)
    expect(await simulated.said('DaemonSet')).toContain(
      `Warning daemonset-controller FailedDaemonPod: Found failed daemon pod default/${first} on node node-1, will try to kill it`,
    )
    await fail()
    await simulated.settled(2)
    const third = await fail()
    await simulated.plane.pass(500)
    expect((await pods().get(third))?.status?.phase).toBe('Failed')
    await simulated.settled()
    expect(await pods().get(third)).toBeUndefined()
    expect(await nodesOfPods()).toEqual(['node-1', 'node-2', 'node-3'])
  })

  test('adopts pods that nobody controls', async () => {
    await apply()
    const [pod] = await simulated.pods()
    await pods().updateWithRetries(named(pod!.metadata.name!), ({ metadata }) => void delete metadata.ownerReferences)
    await simulated.settled()
    expect(await simulated.pods()).toHaveLength(3)
    expect((await pods().get(pod!.metadata.name!))?.metadata.ownerReferences).toMatchObject([{ kind: 'DaemonSet' }])
  })
})
