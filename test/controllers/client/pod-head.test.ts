import { describe, expect, test } from 'vitest'
import type { Pod } from '../../../src/api/core/v1.ts'
import { clientsetFor } from '../../../src/controllers/client/clientset.ts'
import { podHead } from '../../../src/controllers/client/pod-head.ts'
import { TooMuchListed } from '../../../src/controllers/work/list-room.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'
import { plainPod } from '../plain-pod.ts'

const LONG = 'x'.repeat(300_000)

const large = (name: string, more: object = {}): Pod => {
  const { metadata, spec } = plainPod(name)
  const [container] = spec?.containers ?? []
  return {
    metadata: { ...metadata, annotations: { short: 'a' } },
    spec: {
      ...spec,
      containers: [{ ...container!, name: 'c', env: [{ name: 'LONG', value: LONG }], ports: [{ containerPort: 80 }] }],
      volumes: [
        { name: 'claimed', persistentVolumeClaim: { claimName: 'a' } },
        { name: 'files', configMap: { name: 'f' } },
      ],
      ...more,
    },
  }
}

test('the head of a pod has what controllers read, and no version', () => {
  const pod = large('a')
  const whole = { ...pod, metadata: { ...pod.metadata, resourceVersion: '1', managedFields: [] } }
  whole.metadata.annotations = { ...whole.metadata.annotations, long: LONG }
  const { metadata, spec } = podHead(whole)
  expect(metadata).toEqual(pod.metadata)
  expect(spec?.volumes).toEqual([{ name: 'claimed', persistentVolumeClaim: { claimName: 'a' } }, { name: 'files' }])
  expect(spec?.containers?.[0]).toMatchObject({ name: 'c', ports: [{ containerPort: 80 }] })
  expect(spec?.containers?.[0]).not.toHaveProperty('env')
})

describe('a list of a controller', () => {
  async function listed() {
    const plane = new ControlPlaneInMemory()
    const clients = clientsetFor(await plane.context(), 'replicaset-controller')
    return { server: plane.server, clients, pods: clients.resource(PODS, 'default') }
  }

  test('has heads of large pods and small pods whole; a deletion reads the pod again', async () => {
    const { pods } = await listed()
    await pods.create(large('large'))
    await pods.create(plainPod('small'))
    const [head, small] = await pods.list()
    expect(head?.metadata).not.toHaveProperty('resourceVersion')
    expect(small).toEqual(await pods.get('small'))
    const deleted = await pods.delete(head!, {}, head)
    expect(deleted.object.metadata.name).toBe('large')
    expect(JSON.stringify(deleted.object)).toContain(LONG)
  })

  test('a head is never written in place of the pod', async () => {
    const { pods } = await listed()
    await pods.create(large('large'))
    const [head] = await pods.list()
    await expect(pods.update(head!)).rejects.toThrow('assertion failed: large is not as it was read')
    await expect(pods.putStatus(head!, head)).rejects.toThrow('assertion failed: large is not as it was read')
    expect(JSON.stringify(await pods.get('large'))).toContain(LONG)
  })

  test('of one namespace fails where its objects are too large together', async () => {
    const { server, clients } = await listed()
    const client = clients.resource({ group: '', resource: 'secrets' }, 'default')
    const data = { a: 'x'.repeat(1_000_000) }
    for (let n = 0; n < 75; n++)
      await server.put('', 'secrets', { metadata: { name: `c${n}`, namespace: 'default' }, data })
    await expect(client.list()).rejects.toThrow(TooMuchListed)
    let count = 0
    for await (const _ of client.each()) count++
    expect(count).toBe(75)
  })
})
