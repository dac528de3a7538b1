/** Two schedulers at once, as where one takes the Lease of another: a claim has the devices that were written first. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Pod } from '../../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../../src/api/object.ts'
import type { DeviceClass } from '../../../../src/api/resource/v1.ts'
import type { Clientset } from '../../../../src/controllers/client/clientset.ts'
import { clientsetFor, typedResource } from '../../../../src/controllers/client/clientset.ts'
import { ClaimWrites, NotReserved } from '../../../../src/controllers/scheduling/devices/claim-writes.ts'
import { DeviceFacts } from '../../../../src/controllers/scheduling/devices/device-facts.ts'
import type { Claim } from '../../../../src/controllers/scheduling/devices/requests.ts'
import { PODS } from '../../../../src/controllers/workloads/pods/pod-control.ts'
import { RESOURCE_CLAIMS } from '../../../../src/controllers/workloads/resource-claim/templates.ts'
import { ControlPlaneInMemory } from '../../control-plane.ts'
import { named } from '../../../../src/controllers/client/resource-client.ts'

const CLASSES = typedResource<DeviceClass & KubeObject>('resource.k8s.io', 'deviceclasses')

let plane: ControlPlaneInMemory
let clients: Clientset
beforeEach(async () => {
  plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'off' })
  clients = clientsetFor(await plane.context(), 'somebody')
  const kind = { kind: 'DeviceClass', apiVersion: 'resource.k8s.io/v1' }
  await clients.resource(CLASSES).create({ ...kind, metadata: { name: 'gpus' }, spec: {} })
})

const claims = () => clients.resource(RESOURCE_CLAIMS, 'default')
const scheduler = () =>
  new ClaimWrites(
    clients,
    new DeviceFacts(),
    () => plane.now,
    () => true,
  )
const addClaim = (name: string): Promise<Claim> =>
  claims().create({
    kind: 'ResourceClaim',
    apiVersion: 'resource.k8s.io/v1',
    metadata: { name, namespace: 'default' },
    spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpus' } }] } },
  })
const addPod = (name: string): Promise<Pod> =>
  clients.resource(PODS, 'default').create({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  })
const device = (name: string) => ({
  devices: { results: [{ request: 'gpu', driver: 'gpu.example', pool: 'p', device: name }] },
})
const deviceOf = ({ status }: Claim) => status?.allocation?.devices?.results?.map((result) => result.device)

describe('a claim that was read before another scheduler wrote it', () => {
  test('keeps the devices that it got, whichever way the other one decided', async () => {
    const read = await addClaim('one')
    const pod = await addPod('web')
    await scheduler().reserve([{ claim: read, allocation: device('x') }], pod)
    const late = scheduler().reserve([{ claim: read, allocation: device('y') }], pod)
    await expect(late).rejects.toThrow(NotReserved)
    await expect(late).rejects.toThrow('claim default/one got allocated elsewhere in the meantime')
    expect(deviceOf((await claims().get('one'))!)).toEqual(['x'])
  })

  test('is written by one of many who try at the same moment', async () => {
    const read = await addClaim('one')
    const pods = await Promise.all(['a', 'b', 'c', 'd'].map(addPod))
    const tried = await Promise.allSettled(
      pods.map((pod, at) => scheduler().reserve([{ claim: read, allocation: device(`d${at}`) }], pod)),
    )
    expect(tried.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
    const winner = tried.findIndex(({ status }) => status === 'fulfilled')
    const stored = (await claims().get('one'))!
    expect(deviceOf(stored)).toEqual([`d${winner}`])
    expect(stored.status?.reservedFor?.map(({ name }) => name)).toEqual([pods[winner]?.metadata.name])
  })

  test('is not written where it was made anew under its name', async () => {
    const read = await addClaim('one')
    await claims().delete(named('one'))
    await addClaim('one')
    const pod = await addPod('web')
    const late = scheduler().reserve([{ claim: read, allocation: device('x') }], pod)
    await expect(late).rejects.toThrow('resourceclaims.resource.k8s.io "one" not found')
    expect(deviceOf((await claims().get('one'))!)).toBeUndefined()
  })
})
