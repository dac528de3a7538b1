// As whom the scheduler and the simulated kubelets write: policies and webhooks of clusters know their names.
import { expect, test } from 'vitest'
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../../src/api/admissionregistration/v1.ts'
import type { Node } from '../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { clientsetFor, typedResource } from '../../../src/controllers/client/clientset.ts'
import { NODES } from '../../../src/controllers/simulation/simulated-node.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'
import { plainPod } from '../plain-pod.ts'

const GROUP = 'admissionregistration.k8s.io'
const POLICIES = typedResource<KubeObject & ValidatingAdmissionPolicy>(GROUP, 'validatingadmissionpolicies')
const BINDINGS = typedResource<KubeObject & ValidatingAdmissionPolicyBinding>(
  GROUP,
  'validatingadmissionpolicybindings',
)

const node: KubeObject & Node = {
  kind: 'Node',
  apiVersion: 'v1',
  metadata: { name: 'n', labels: { 'kedge.dev/simulated': 'true' } },
}

test('a policy knows the scheduler by its name', async () => {
  const plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  const clients = clientsetFor(await plane.context(), 'somebody')
  await clients.resource(NODES).create(node)
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods/binding'], operations: ['CREATE'] }]
  await clients.resource(POLICIES).create({
    kind: 'ValidatingAdmissionPolicy',
    apiVersion: `${GROUP}/v1`,
    metadata: { name: 'binds' },
    spec: {
      matchConstraints: { resourceRules },
      validations: [
        {
          expression: "request.userInfo.username == 'system:kube-scheduler'",
          messageExpression: 'string(request.userInfo.username)',
        },
      ],
    },
  })
  await clients.resource(BINDINGS).create({
    kind: 'ValidatingAdmissionPolicyBinding',
    apiVersion: `${GROUP}/v1`,
    metadata: { name: 'binds' },
    spec: { policyName: 'binds', validationActions: ['Deny'] },
  })
  await plane.settle()
  await clients.resource(PODS, 'default').create(plainPod('web', {}))
  await plane.settle()
  const pod = await clients.resource(PODS, 'default').get('web')
  expect(pod?.spec?.nodeName).toBe('n')
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
