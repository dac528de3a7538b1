/**
 * A webhook may refuse a write with 404 or 409. Then the object is as it was, and the work is not done. What is refused
 * is tried again, however long that takes.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { StatusError } from '../../src/api/status.ts'
import { ResourceClient } from '../../src/controllers/client/resource-client.ts'
import type { ControlPlaneInMemory } from './control-plane.ts'
import { EVENTS, newsIn } from './control-plane.ts'
import { SimulatedPlane } from './workloads/simulated-plane.ts'

const core = (resource: string) => ({ group: '', resource })

let simulated: SimulatedPlane
let plane: ControlPlaneInMemory
beforeEach(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  simulated = await SimulatedPlane.start('n')
  ;({ plane } = simulated)
})
afterEach(() => vi.restoreAllMocks())

type Write = 'add' | 'apply' | 'delete' | 'patch' | 'putStatus' | 'updateWithRetries'

/** The next write of this form is refused. */
const refuse = (write: Write, code: number) =>
  vi.spyOn(ResourceClient.prototype, write).mockRejectedValueOnce(new StatusError(code, undefined, 'refused'))

/** Does what is due, and tries again what fails. @returns how often something failed */
async function settled(seconds: number): Promise<number> {
  let failures = 0
  for (let second = 0; second < seconds; second++) await plane.pass(1_000).catch(() => failures++)
  return failures
}

const object = (kind: string, apiVersion: string, metadata: JsonObject, spec: JsonObject = {}): JsonObject => ({
  kind,
  apiVersion,
  metadata,
  spec,
})
const containers = [{ name: 'c', image: 'i' }]
const pod = (name: string) =>
  plane.create(core('pods'), object('Pod', 'v1', { name, namespace: 'default' }, { nodeName: 'n', containers }))

test('a namespace gets its ServiceAccount and its ConfigMap after all', async () => {
  refuse('add', 409).mockRejectedValueOnce(new StatusError(409, undefined, 'refused'))
  await plane.create(core('namespaces'), object('Namespace', 'v1', { name: 'shop' }))
  expect(await settled(3)).toBe(2)
  expect(await plane.names(core('serviceaccounts'), 'shop')).toEqual(['default'])
  expect(await plane.get(core('configmaps'), 'shop', 'kube-root-ca.crt')).toBeDefined()
})

test('a namespace goes after all', async () => {
  await plane.create(core('namespaces'), object('Namespace', 'v1', { name: 'shop' }))
  await plane.settle()
  await plane.delete(core('namespaces'), '', 'shop')
  const write = ResourceClient.prototype.updateWithRetries
  let refused = 0
  vi.spyOn(ResourceClient.prototype, 'updateWithRetries').mockImplementation(function (this: ResourceClient, ...args) {
    if (args[2] === 'finalize' && refused++ === 0) return Promise.reject(new StatusError(404, undefined, 'refused'))
    return write.apply(this, args)
  })
  expect(await settled(10)).toBe(1)
  expect(await plane.names(core('namespaces'), '')).not.toContain('shop')
})

test('a policy gets its status after all', async () => {
  const policies = { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies' }
  const refused = refuse('apply', 404)
  const spec = {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['pods'] }],
    },
    validations: [{ expression: 'true' }],
  }
  const kind = 'ValidatingAdmissionPolicy'
  await plane.create(policies, object(kind, 'admissionregistration.k8s.io/v1', { name: 'p' }, spec))
  expect(await settled(10)).toBe(1)
  expect(refused).toHaveBeenCalled()
  expect(await plane.get(policies, '', 'p')).toMatchObject({ status: { observedGeneration: 1 } })
})

test('a claim that nobody uses goes after all', async () => {
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  const metadata = { name: 'data', namespace: 'default', finalizers: ['kubernetes.io/pvc-protection'] }
  await plane.create(core('persistentvolumeclaims'), object('PersistentVolumeClaim', 'v1', metadata, claim))
  await plane.settle()
  await plane.delete(core('persistentvolumeclaims'), 'default', 'data')
  await plane.settle()
  refuse('updateWithRetries', 404)
  expect(await settled(30)).toBe(1)
  expect(await plane.names(core('persistentvolumeclaims'), 'default')).toEqual([])
})

test('a StatefulSet tells of no deletion, and tries again', async () => {
  const sets = { group: 'apps', resource: 'statefulsets' }
  const template = { metadata: { labels: { app: 'db' } }, spec: { containers } }
  const spec = { replicas: 1, serviceName: 'db', selector: { matchLabels: { app: 'db' } }, template }
  await plane.create(sets, object('StatefulSet', 'apps/v1', { name: 'db', namespace: 'default' }, spec))
  await settled(5)
  const scale = async (replicas: number) =>
    (await plane.client(sets, 'default')).updateWithRetries({ named: 'db' }, (set) =>
      Object.assign((set as unknown as { spec: object }).spec, { replicas }),
    )
  await scale(0)
  refuse('delete', 404)
  await plane.settle().catch(() => undefined)
  expect(await simulated.said('StatefulSet')).toContainEqual(expect.stringMatching(/FailedDelete: .* refused$/))
  await settled(5)
  expect(await plane.names(core('pods'), 'default')).toEqual([])
})

test('a Job goes after its time', async () => {
  const jobs = { group: 'batch', resource: 'jobs' }
  const template = { spec: { restartPolicy: 'Never', containers } }
  const spec = { ttlSecondsAfterFinished: 10, template }
  await plane.create(jobs, object('Job', 'batch/v1', { name: 'work', namespace: 'default' }, spec))
  await settled(9)
  const refused = refuse('delete', 404)
  expect(await settled(5)).toBe(1)
  expect(refused).toHaveBeenCalled()
  expect(await plane.names(jobs, 'default')).toEqual([])
})

test.each([404, 409])('a simulated pod runs after its status was refused with %i', async (code) => {
  await pod('a')
  refuse('putStatus', code)
  await settled(5)
  const [running] = await simulated.pods()
  expect(running?.status?.phase).toBe('Running')
  expect(newsIn(await (await plane.client(EVENTS, 'default')).list())).toEqual([])
})

test('a simulated pod whose status is refused for hours runs when it is allowed', async () => {
  await pod('a')
  const refusal = new StatusError(403, undefined, 'refused')
  const put = vi.spyOn(ResourceClient.prototype, 'putStatus').mockRejectedValue(refusal)
  for (let minutes = 0; minutes < 180; minutes += 5) await plane.pass(300_000)
  put.mockRestore()
  await plane.pass(300_000)
  expect((await simulated.pods())[0]?.status?.phase).toBe('Running')
})
