// What a ControlPlane switches, with the definition that docs/controlplanes.yaml has.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { beforeEach, expect, test } from 'vitest'
import type { CustomResourceDefinition } from '../../../src/api/apiextensions/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { StatusError } from '../../../src/api/status.ts'
import { typedResource } from '../../../src/controllers/client/clientset.ts'
import { NODES } from '../../../src/controllers/simulation/simulated-node.ts'
import { DEPLOYMENTS } from '../../../src/controllers/workloads/deployment/deployment.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { simulatedNode } from '../../../src/api/simulated-node.ts'
import { storedResources } from '../../../src/registry/served/written-types.ts'
import { freshControlSnapshot } from '../../../src/tenancy/control-snapshot.ts'
import { switchesOf } from '../../../src/tenancy/workload-switches.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'

type ControlPlane = KubeObject & { spec?: object }
const PLANES = typedResource<ControlPlane>('kedge.dev', 'controlplanes')

// the test knows what stands in the file
const documented = load(
  readFileSync(join(import.meta.dirname, '../../../docs/controlplanes.yaml'), 'utf8'),
) as KubeObject & CustomResourceDefinition

let plane: ControlPlaneInMemory
async function start(mode: 'off' | 'simulated'): Promise<void> {
  plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: mode })
  const established = {
    ...documented,
    status: {
      acceptedNames: documented.spec?.names,
      conditions: [{ type: 'Established', status: 'True' }],
      storedVersions: ['v1alpha1'],
    },
  }
  await plane.server.put('apiextensions.k8s.io', 'customresourcedefinitions', established as never)
}
beforeEach(() => start('off'))

const says = async (spec: object, name = 'root'): Promise<void> => {
  const planes = await plane.client(PLANES, '')
  const object: ControlPlane = { kind: 'ControlPlane', apiVersion: 'kedge.dev/v1alpha1', metadata: { name }, spec }
  if ((await planes.get(name)) === undefined) await planes.create(object as never)
  else await planes.updateWithRetries(named(name), (live: ControlPlane) => void (live.spec = spec))
  await plane.settle()
}

async function deploy(name: string): Promise<void> {
  const labels = { app: name }
  await plane.create(DEPLOYMENTS, {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name, namespace: 'default' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  })
  await plane.settle()
}

const apps = async (): Promise<(string | undefined)[]> =>
  (await plane.all(PODS)).map(({ metadata }) => metadata.labels?.['app']).sort()

test('a control plane that is switched on looks at what was there, and has its nodes', async () => {
  await deploy('before')
  expect([await apps(), plane.waiting]).toEqual([[], []])
  await says({ workloads: 'simulated', nodes: 2 })
  expect(await plane.names(NODES)).toEqual(['node-1', 'node-2'])
  expect(await apps()).toEqual(['before'])
  await deploy('later')
  expect(await apps()).toEqual(['before', 'later'])
  const pods = await plane.all(PODS)
  expect(pods.map((pod) => (pod as { status?: { phase?: string } }).status?.phase)).toEqual(['Running', 'Running'])
})

const STORAGE_CLASSES = typedResource('storage.k8s.io', 'storageclasses')
const CLUSTER_ROLES = typedResource('rbac.authorization.k8s.io', 'clusterroles')
const METRICS_READER = 'system:aggregated-metrics-reader'

test('one that is switched to simulated begins as a server that is started so', async () => {
  await says({ workloads: 'simulated', nodes: 1 })
  expect(await plane.names(STORAGE_CLASSES)).toEqual(['simulated'])
  expect(await plane.names(CLUSTER_ROLES)).toContain(METRICS_READER)
  const made = await plane.get(STORAGE_CLASSES, '', 'simulated')
  expect(made?.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['kedge-start'])
  // what is deleted then stays away until the spec changes
  await plane.delete(STORAGE_CLASSES, '', 'simulated')
  await plane.pass(200_000)
  expect(await plane.names(STORAGE_CLASSES)).toEqual([])
})

test.each(['simulated', 'controllers'])(
  'one that is switched to %s and simulates nothing has no class and no role',
  async (workloads) => {
    if (workloads === 'controllers') await plane.create(NODES, simulatedNode(1))
    await says({ workloads })
    expect(await plane.names(STORAGE_CLASSES)).toEqual([])
    expect(await plane.names(CLUSTER_ROLES)).not.toContain(METRICS_READER)
  },
)

test('one that has a class keeps it alone', async () => {
  await plane.create(STORAGE_CLASSES, {
    kind: 'StorageClass',
    apiVersion: 'storage.k8s.io/v1',
    metadata: { name: 'own' },
    provisioner: 'example.com/disks',
  })
  await says({ workloads: 'simulated', nodes: 1 })
  expect(await plane.names(STORAGE_CLASSES)).toEqual(['own'])
})

test('one that says off has no controllers awake', async () => {
  await start('simulated')
  await says({ workloads: 'off' })
  plane.tried.length = 0
  await deploy('web')
  expect([plane.tried, plane.waiting, await apps()]).toEqual([[], [], []])
})

test('work that waits when it is switched off is dropped', async () => {
  await says({ workloads: 'controllers' })
  plane.add('deployment', 'default/web', 1_000)
  await says({ workloads: 'off' })
  await plane.pass(200_000)
  expect(plane.waiting).toEqual([])
})

test('what a request writes by the switches of before is found later', async () => {
  await says({ workloads: 'controllers' })
  // as a server writes that has not heard of it
  await plane.server.put('apps', 'replicasets', {
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: { name: 'slow', namespace: 'default' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'slow' } },
      template: { metadata: { labels: { app: 'slow' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  } as never)
  await plane.settle()
  expect(await apps()).toEqual([])
  await plane.pass(120_000)
  expect(await apps()).toEqual(['slow'])
})

test('controllers are switched one by one', async () => {
  await says({ workloads: 'controllers', controllers: '*,-replicaset-controller' })
  await deploy('web')
  expect(await apps()).toEqual([])
  await says({ workloads: 'controllers' })
  expect(await apps()).toEqual(['web'])
})

test('without the object the settings of the server hold again', async () => {
  await start('simulated')
  await says({ workloads: 'off' })
  await deploy('web')
  await plane.delete(PLANES, '', 'root')
  await plane.settle()
  expect(await apps()).toEqual(['web'])
})

test('a backup has it', async () => {
  await says({ workloads: 'controllers' })
  const { env, tenant } = plane.server
  expect(storedResources(tenant, await freshControlSnapshot({ env, tenant }))).toContainEqual(
    expect.objectContaining({ group: 'kedge.dev', resource: 'controlplanes' }),
  )
})

test.each([
  ['root', { workloads: 'controllers', controllers: 'red' }, /spec\.controllers: .*"red" is not in the list/],
  ['other', { workloads: 'off' }, /metadata\.name: Forbidden: the only control plane is "root"/],
])('%s with %j is refused', async (name, spec, message) => {
  const refused = says(spec, name)
  await expect(refused).rejects.toThrow(StatusError)
  await expect(refused).rejects.toThrow(message)
})

test('a stored spec that cannot be read switches everything off', async () => {
  await start('simulated')
  await says({ workloads: 'controllers' })
  const { env, tenant, put } = plane.server
  await plane.delete(PLANES, '', 'root')
  await put('kedge.dev', 'controlplanes', {
    kind: 'ControlPlane',
    apiVersion: 'kedge.dev/v1alpha1',
    metadata: { name: 'root' },
    spec: { workloads: 'all' },
  } as never)
  await freshControlSnapshot({ env, tenant })
  expect(switchesOf({ env, tenant }).workloads).toBe('off')
})
