import { afterEach, expect, test, vi } from 'vitest'
import type { Event, Pod } from '../../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../../src/api/object.ts'
import { clientsetFor, typedResource } from '../../../../src/controllers/client/clientset.ts'
import { EventRecorder } from '../../../../src/controllers/workloads/events/events.ts'
import { ControlPlaneInMemory } from '../../control-plane.ts'
import { named, ResourceClient } from '../../../../src/controllers/client/resource-client.ts'
import { StatusError } from '../../../../src/api/status.ts'
import { StorageError } from '../../../../src/storage/errors.ts'
import { statusFor } from '../../../../src/storage/storage-status.ts'

const EVENTS = typedResource<KubeObject & Event>('', 'events')

const pod: Pod = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'web', namespace: 'default', uid: 'u1' } }

afterEach(() => vi.restoreAllMocks())

async function recording() {
  const plane = new ControlPlaneInMemory()
  const clients = clientsetFor(await plane.context(), 'replicaset-controller')
  const events = clients.resource(EVENTS, 'default')
  const recorder = new EventRecorder(clients, 'test', () => plane.now)
  const counts = async () => (await events.list()).map(({ reason, count }) => [reason, count])
  return { events, recorder, counts }
}

test('the same news count up one Event, other news are one of their own', async () => {
  const { recorder, counts } = await recording()
  for (let round = 0; round < 3; round++) await recorder.normal(pod, 'Same', 'the same')
  await recorder.normal(pod, 'Other', 'another')
  expect((await counts()).toSorted()).toEqual([
    ['Other', 1],
    ['Same', 3],
  ])
})

test('an Event that went is made anew', async () => {
  const { events, recorder, counts } = await recording()
  for (let round = 0; round < 2; round++) await recorder.normal(pod, 'Same', 'the same')
  for (const { metadata } of await events.list()) await events.delete(named(metadata.name ?? ''))
  await recorder.normal(pod, 'Same', 'the same')
  expect(await counts()).toEqual([['Same', 1]])
})

test('a warning that is told once is not counted', async () => {
  const { recorder, counts } = await recording()
  await recorder.warning(pod, 'Once', 'once')
  for (let round = 0; round < 2; round++) await recorder.warnOnce(pod, 'Once', 'once')
  expect(await counts()).toEqual([['Once', 1]])
})

test.each([403, 404, 409, 500, 503, 599])('an Event that a webhook refuses with %i is left out', async (code) => {
  const { recorder, counts } = await recording()
  await recorder.normal(pod, 'Same', 'the same')
  for (const write of ['add', 'updateWithRetries'] as const)
    vi.spyOn(ResourceClient.prototype, write).mockRejectedValue(new StatusError(code, undefined, 'refused'))
  await recorder.normal(pod, 'Same', 'the same')
  await recorder.normal(pod, 'Other', 'another')
  expect(await counts()).toEqual([['Same', 1]])
})

test('an Event that storage cannot take is told', async () => {
  const { recorder } = await recording()
  const fault = statusFor(new StorageError('Unavailable'), { group: '', resource: 'events' }, 'web')
  vi.spyOn(ResourceClient.prototype, 'add').mockRejectedValue(fault)
  await expect(recorder.normal(pod, 'Same', 'the same')).rejects.toBe(fault)
})
