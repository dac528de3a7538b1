/** A run of the kubelets leaves pods whose writes take long, and ends. */
import { beforeEach, expect, test } from 'vitest'
import type { Pod } from '../../../src/api/core/v1.ts'
import type { JsonObject } from '../../../src/api/object.ts'
import { controllerOf } from '../../../src/controllers/controllers.ts'
import { allowing, hook } from '../../admission/webhooks/creating.ts'
import { frontAnswering } from '../../webhooks/front.ts'
import { SimulatedPlane } from '../workloads/simulated-plane.ts'

const PODS = { group: '', resource: 'pods' }

let simulated: SimulatedPlane
let silence: PromiseWithResolvers<void>
let calls: readonly unknown[]

beforeEach(async () => {
  silence = Promise.withResolvers<void>()
  const front = frontAnswering(async (called) => {
    await silence.promise
    return allowing(called)
  })
  ;({ calls } = front)
  simulated = await SimulatedPlane.startWith({ OUTGOING: front.binding }, 'n')
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['pods/status'] }]
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'silent' } }
  const { answers: _, ...webhook } = hook('a', allowing, { rules, namespaceSelector, timeoutSeconds: 30 })
  await simulated.plane.server.put('admissionregistration.k8s.io', 'validatingwebhookconfigurations', {
    metadata: { name: 'configuration' },
    webhooks: [webhook] as unknown as JsonObject[], // they are JSON
  })
  for (const name of ['silent', 'other'])
    await simulated.plane.create(
      { group: '', resource: 'namespaces' },
      { kind: 'Namespace', apiVersion: 'v1', metadata: { name, labels: { 'kubernetes.io/metadata.name': name } } },
    )
})

const create = (namespace: string, name: string) =>
  simulated.plane.create(PODS, {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { namespace, name },
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
  })

/** A run that others wait for once it has begun all writes that it begins. */
async function run(): Promise<void> {
  const overdue = new Promise<void>((resolve) => setTimeout(resolve, 100))
  await controllerOf('simulated-pods')!.reconcile('', { ...(await simulated.plane.context('simulated-pods')), overdue })
}

const running = async () => {
  const pods = (await simulated.plane.all(PODS)) as Pod[]
  return pods.flatMap(({ metadata, status }) => (status?.phase === 'Running' ? metadata.name! : [])).sort()
}

test('pods of other namespaces start meanwhile, with addresses of their own', async () => {
  for (const name of ['a', 'b', 'c']) await create('silent', name)
  await run()
  expect(calls).toHaveLength(3)
  await create('other', 'd')
  await run()
  await simulated.plane.pass(2_000)
  expect(await running()).toEqual(['d'])
  expect(calls).toHaveLength(3)
  silence.resolve()
  await simulated.settled()
  expect(await running()).toEqual(['a', 'b', 'c', 'd'])
  const pods = (await simulated.plane.all(PODS)) as Pod[]
  expect(new Set(pods.map(({ status }) => status?.podIP)).size).toBe(4)
})

test('a pod that changes meanwhile is handled once more', async () => {
  await create('silent', 'a')
  await run()
  await simulated.plane.delete(PODS, 'silent', 'a', { gracePeriodSeconds: 1 })
  await run()
  expect(calls).toHaveLength(1)
  silence.resolve()
  await simulated.settled()
  expect(await simulated.plane.get(PODS, 'silent', 'a')).toBeUndefined()
})

test('further pods of the namespace wait, and the run begins no more of them', async () => {
  for (let n = 0; n < 8; n++) await create('silent', `a-${n}`)
  await run()
  for (let n = 0; n < 8; n++) await create('silent', `b-${n}`)
  await run()
  expect(calls).toHaveLength(8)
  silence.resolve()
  await simulated.settled()
  expect(await running()).toHaveLength(16)
})
