import { expect, test } from 'vitest'
import { clientsetFor } from '../../../src/controllers/client/clientset.ts'
import { NODES } from '../../../src/controllers/simulation/simulated-node.ts'
import { DEPLOYMENTS } from '../../../src/controllers/workloads/deployment/deployment.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'

async function deployed(mode: 'off' | 'simulated') {
  const plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: mode })
  const clients = clientsetFor(await plane.context(), 'somebody')
  await clients
    .resource(NODES)
    .create({ kind: 'Node', apiVersion: 'v1', metadata: { name: 'n', labels: { 'kedge.dev/simulated': 'true' } } })
  await clients.resource(DEPLOYMENTS, 'default').create({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  })
  await plane.settle()
  const phases = async () => (await clients.resource(PODS, 'default').list()).map(({ status }) => status?.phase)
  return { plane, phases }
}

test('work that is left from before is dropped where workloads are off', async () => {
  const { plane, phases } = await deployed('off')
  plane.add('deployment', 'default/web', 0)
  await plane.settle()
  expect([await phases(), plane.waiting]).toEqual([[], []])
})

test('what was written while they were off is looked at when they begin', async () => {
  const { plane, phases } = await deployed('off')
  Object.assign(plane.server, { env: { ...plane.server.env, KEDGE_WORKLOADS: 'simulated' } })
  plane.add('workloads-begin', '', 0)
  await plane.settle()
  expect(await phases()).toEqual(['Running'])
})
