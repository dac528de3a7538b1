// As whom controllers write: policies and webhooks of clusters know their names.
import { expect, test } from 'vitest'
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../src/api/admissionregistration/v1.ts'
import type { Job } from '../../src/api/batch/v1.ts'
import type { Node } from '../../src/api/core/v1.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { clientsetFor, typedResource } from '../../src/controllers/client/clientset.ts'
import { NODES } from '../../src/controllers/simulation/simulated-node.ts'
import { named } from '../../src/controllers/client/resource-client.ts'
import { VOLUMES } from '../../src/controllers/volumes/binding.ts'
import { PODS } from '../../src/controllers/workloads/pods/pod-control.ts'
import { ControlPlaneInMemory } from './control-plane.ts'
import { plainPod } from './plain-pod.ts'

const GROUP = 'admissionregistration.k8s.io'
const POLICIES = typedResource<KubeObject & ValidatingAdmissionPolicy>(GROUP, 'validatingadmissionpolicies')
const BINDINGS = typedResource<KubeObject & ValidatingAdmissionPolicyBinding>(
  GROUP,
  'validatingadmissionpolicybindings',
)

const JOBS = typedResource<KubeObject & Job>('batch', 'jobs')
const ATTRIBUTES_CLASSES = typedResource<KubeObject>('storage.k8s.io', 'volumeattributesclasses')

const node: KubeObject & Node = {
  kind: 'Node',
  apiVersion: 'v1',
  metadata: { name: 'n', labels: { 'kedge.dev/simulated': 'true' } },
}

/** A control plane whose policy denies these requests to all but one user. */
async function planeWith(user: string, resource: string, operation: string, condition = 'true') {
  const plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  const clients = clientsetFor(await plane.context(), 'somebody')
  const rule = { apiGroups: ['*'], apiVersions: ['*'], resources: [resource], operations: [operation] }
  await clients.resource(POLICIES).create({
    kind: 'ValidatingAdmissionPolicy',
    apiVersion: `${GROUP}/v1`,
    metadata: { name: 'only' },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      matchConditions: [{ name: 'some', expression: condition }],
      validations: [{ expression: `request.userInfo.username == '${user}'` }],
    },
  })
  await clients.resource(BINDINGS).create({
    kind: 'ValidatingAdmissionPolicyBinding',
    apiVersion: `${GROUP}/v1`,
    metadata: { name: 'only' },
    spec: { policyName: 'only', validationActions: ['Deny'] },
  })
  await plane.settle()
  return { plane, clients }
}

test('a policy knows the scheduler by its name', async () => {
  const { plane, clients } = await planeWith('system:kube-scheduler', 'pods/binding', 'CREATE')
  await clients.resource(NODES).create(node)
  await clients.resource(PODS, 'default').create(plainPod('web', {}))
  await plane.settle()
  expect((await clients.resource(PODS, 'default').get('web'))?.spec?.nodeName).toBe('n')
})

test.each([
  ['pv-protection-controller', VOLUMES],
  ['volumeattributesclass-protection-controller', ATTRIBUTES_CLASSES],
] as const)('a policy knows the %s by its name', async (name, resource) => {
  const releases = 'has(oldObject.metadata.finalizers) && !has(object.metadata.finalizers)'
  const user = `system:serviceaccount:kube-system:${name}`
  const { plane, clients } = await planeWith(user, resource.resource, 'UPDATE', releases)
  await clients.resource(resource as typeof VOLUMES).create(
    resource === VOLUMES
      ? {
          kind: 'PersistentVolume',
          apiVersion: 'v1',
          metadata: { name: 'a' },
          spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } },
        }
      : ({
          kind: 'VolumeAttributesClass',
          apiVersion: 'storage.k8s.io/v1',
          metadata: { name: 'a' },
          driverName: 'a.b',
          parameters: { a: 'b' },
        } as never),
  )
  await plane.settle()
  await clients.resource(resource as typeof VOLUMES).delete(named('a'))
  await plane.pass(5_000)
  await plane.pass(20_000)
  expect(await clients.resource(resource as typeof VOLUMES).get('a')).toBeUndefined()
})

test('a policy knows who deletes a Job after its time', async () => {
  const user = 'system:serviceaccount:kube-system:ttl-after-finished-controller'
  const { plane, clients } = await planeWith(user, 'jobs', 'DELETE')
  const spec = {
    ttlSecondsAfterFinished: 1,
    completions: 0,
    template: { spec: { ...plainPod('a').spec, restartPolicy: 'Never' } },
  }
  await clients
    .resource(JOBS, 'default')
    .create({ kind: 'Job', apiVersion: 'batch/v1', metadata: { name: 'a', namespace: 'default' }, spec })
  await plane.settle()
  await plane.pass(5_000)
  expect(await clients.resource(JOBS, 'default').get('a')).toBeUndefined()
})

test('the fields of a pod have the managers that they have in a cluster', async () => {
  const plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  const clients = clientsetFor(await plane.context(), 'somebody')
  const pods = clients.resource(PODS, 'default')
  const managers = async () =>
    (await pods.get('web'))?.metadata.managedFields
      ?.filter(({ subresource }) => subresource === 'status')
      .map(({ manager }) => manager)
  await pods.create(plainPod('web', {}))
  await plane.settle()
  expect(await managers()).toEqual(['kube-scheduler'])
  await clients.resource(NODES).create(node)
  await plane.settle()
  expect((await pods.get('web'))?.status?.phase).toBe('Running')
  expect(await managers()).toEqual(['kube-scheduler', 'kubelet'])
})
