import { beforeEach, describe, expect, test } from 'vitest'
import type { Pod } from '../../../../src/api/core/v1.ts'
import { NODES } from '../../../../src/controllers/simulation/simulated-node.ts'
import { PODS } from '../../../../src/controllers/workloads/pods/pod-control.ts'
import { SimulatedPlane } from '../simulated-plane.ts'
import { named } from '../../../../src/controllers/client/resource-client.ts'

let simulated: SimulatedPlane
beforeEach(async () => {
  simulated = await SimulatedPlane.start('node-1')
})

const pods = () => simulated.clients.resource(PODS, 'default')

const pod = (spec: Pod['spec'] = {}): Pod => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'alone', namespace: 'default', finalizers: ['example.com/seen'] },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})

describe('a pod', () => {
  test.each([
    ['whose node goes', 'node-1'],
    ['of a node that never was', 'nowhere'],
  ])('%s ends after a while', async (_, nodeName) => {
    await pods().create(pod({ nodeName }))
    await simulated.settled(2)
    if (nodeName === 'node-1') await simulated.clients.resource(NODES).delete(named(nodeName))
    await simulated.settled(30)
    expect((await pods().get('alone'))?.metadata.deletionTimestamp).toBeUndefined()
    await simulated.settled(12)
    const ended = await pods().get('alone')
    expect(ended?.metadata.deletionTimestamp).toBeDefined()
    expect(ended?.status?.phase).toBe('Failed')
    expect(ended?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
    })
  })

  test('whose node comes back in time stays', async () => {
    await pods().create(pod({ nodeName: 'node-1' }))
    await simulated.clients.resource(NODES).delete(named('node-1'))
    await simulated.settled(30)
    await simulated.addNode('node-1')
    await simulated.settled(30)
    expect((await pods().get('alone'))?.status?.phase).toBe('Running')
  })

  test('that is deleted before it has a node ends at once', async () => {
    await pods().create(pod({ nodeSelector: { no: 'where' } }))
    await simulated.settled(1)
    await pods().delete(named('alone'), { gracePeriodSeconds: 30 })
    await simulated.settled(1)
    const ended = await pods().get('alone')
    expect(ended?.status?.phase).toBe('Failed')
    expect(ended?.metadata.deletionGracePeriodSeconds).toBe(0)
  })

  test('that is deleted on a node out of service does not wait for it', async () => {
    const nodes = simulated.clients.resource(NODES)
    await nodes.create({ kind: 'Node', apiVersion: 'v1', metadata: { name: 'real' } })
    await pods().create(pod({ nodeName: 'real' }))
    await pods().delete(named('alone'))
    await simulated.settled(1)
    expect((await pods().get('alone'))?.status?.phase).not.toBe('Failed')
    await nodes.updateWithRetries(named('real'), (node) => {
      node.spec = { taints: [{ key: 'node.kubernetes.io/out-of-service', value: 'down', effect: 'NoExecute' }] }
    })
    await simulated.settled(1)
    expect((await pods().get('alone'))?.status?.phase).toBe('Failed')
  })
})
