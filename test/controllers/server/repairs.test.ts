import { describe, expect, test } from 'vitest'
import type { APIService } from '../../../src/api/apiregistration/v1.ts'
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import type { PolicyRule, Subject } from '../../../src/api/rbac/v1.ts'
import type { AccessObject } from '../../../src/bootstrap/access-repair.ts'
import { DEFINITIONS } from '../../../src/registry/custom-resources/definition.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'
import type { ControlPlaneInMemory } from '../control-plane.ts'
import { definition } from '../definition.ts'
import { newPlane, of, reconcile } from '../reconcile.ts'

const RBAC = 'rbac.authorization.k8s.io'
const ROLES = { group: RBAC, resource: 'clusterroles' }
const BINDINGS = { group: RBAC, resource: 'clusterrolebindings' }
const API_SERVICES = { group: 'apiregistration.k8s.io', resource: 'apiservices' }
const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate'
const DEFAULTS = { labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' }, annotations: { [AUTOUPDATE]: 'true' } }
const KEPT = { [AUTOUPDATE]: 'false' }

const own: PolicyRule = { verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] }
const bob: Subject = { kind: 'User', apiGroup: RBAC, name: 'bob' }
const group = (name: string): Subject => ({ kind: 'Group', apiGroup: RBAC, name })

type Resource = typeof ROLES

const change = async <O extends KubeObject>(
  plane: ControlPlaneInMemory,
  resource: Resource,
  name: string,
  edit: (object: O) => void,
  namespace = '',
): Promise<unknown> =>
  // the resource has objects of this type
  (await plane.client(resource, namespace)).updateWithRetries(named(name), (object) => edit(object as O))

const read = async <O extends KubeObject>(
  plane: ControlPlaneInMemory,
  resource: Resource,
  name: string,
  namespace = '',
) => (await plane.get(resource, namespace, name)) as O | undefined

const role = (plane: ControlPlaneInMemory, name: string) => read<AccessObject>(plane, ROLES, name)
const binding = (plane: ControlPlaneInMemory, name: string) => read<AccessObject>(plane, BINDINGS, name)

async function started(plane: ControlPlaneInMemory, key = ''): Promise<void> {
  await reconcile(plane, 'server-edition', key)
  await plane.settle()
}

test('a role gets the rules that it lacks, in parts, and keeps those of an administrator', async () => {
  const plane = await newPlane()
  await change<AccessObject>(plane, ROLES, 'system:node', (object) => {
    const isOfServices = ({ resources }: PolicyRule): boolean => resources?.includes('services') === true
    object.rules = [...(object.rules ?? []).filter((rule) => !isOfServices(rule)), own]
  })
  const before = await role(plane, 'system:node')
  await started(plane, 'clusterroles.rbac.authorization.k8s.io/system:node-proxier')
  expect(await role(plane, 'system:node')).toEqual(before)
  await started(plane, 'clusterroles.rbac.authorization.k8s.io/system:node')
  const after = await role(plane, 'system:node')
  expect(after?.rules).toEqual([
    ...(before?.rules ?? []),
    { verbs: ['get'], apiGroups: [''], resources: ['services'] },
    { verbs: ['list'], apiGroups: [''], resources: ['services'] },
    { verbs: ['watch'], apiGroups: [''], resources: ['services'] },
  ])
  await started(plane)
  expect((await role(plane, 'system:node'))?.metadata.resourceVersion).toBe(after?.metadata.resourceVersion)
})

test('labels and annotations come back, and values of users stay', async () => {
  const plane = await newPlane()
  await change(plane, ROLES, 'system:node-problem-detector', ({ metadata }) => {
    metadata.labels = {}
    metadata.annotations = { mine: 'yes' }
  })
  const labels = { 'kubernetes.io/bootstrapping': 'mine' }
  await change(plane, ROLES, 'system:heapster', ({ metadata }) => void (metadata.labels = labels))
  await started(plane)
  expect((await role(plane, 'system:node-problem-detector'))?.metadata).toMatchObject({
    labels: DEFAULTS.labels,
    annotations: { ...DEFAULTS.annotations, mine: 'yes' },
  })
  expect((await role(plane, 'system:heapster'))?.metadata.labels).toEqual(labels)
})

test('an object whose annotation says so stays as it is', async () => {
  const plane = await newPlane()
  await change<AccessObject>(plane, ROLES, 'system:kube-dns', (object) => {
    object.rules = []
    object.metadata.annotations = KEPT
  })
  await plane.delete(BINDINGS, '', 'system:kube-dns')
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' }
  const metadata = { name: 'system:kube-dns', annotations: KEPT }
  await plane.create(BINDINGS, of(`${RBAC}/v1`, 'ClusterRoleBinding', { metadata, roleRef, subjects: [bob] }))
  const before = [await role(plane, 'system:kube-dns'), await binding(plane, 'system:kube-dns')]
  await started(plane)
  expect([await role(plane, 'system:kube-dns'), await binding(plane, 'system:kube-dns')]).toEqual(before)
})

test('an aggregated role gets its selectors, another one loses them', async () => {
  const plane = await newPlane()
  const mine = { matchLabels: { mine: 'yes' } }
  for (const name of ['view', 'system:node-bootstrapper'])
    await change<AccessObject>(plane, ROLES, name, (object) => {
      object.aggregationRule = { clusterRoleSelectors: [mine] }
    })
  await started(plane)
  expect((await role(plane, 'view'))?.aggregationRule?.clusterRoleSelectors).toEqual([
    mine,
    { matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
  ])
  expect(await role(plane, 'system:node-bootstrapper')).not.toHaveProperty('aggregationRule')
})

test('bindings get their subjects, and are made anew where they bind another role', async () => {
  const plane = await newPlane()
  await change<AccessObject>(plane, BINDINGS, 'cluster-admin', (object) => void (object.subjects = [bob]))
  await change<AccessObject>(plane, BINDINGS, 'system:kube-scheduler', (object) => void delete object.subjects)
  const fresh = await binding(plane, 'system:volume-scheduler')
  await plane.delete(BINDINGS, '', 'system:volume-scheduler')
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' }
  const metadata = { name: 'system:volume-scheduler' }
  await plane.create(BINDINGS, of(`${RBAC}/v1`, 'ClusterRoleBinding', { metadata, roleRef, subjects: [bob] }))
  await started(plane)
  expect((await binding(plane, 'cluster-admin'))?.subjects).toEqual([bob, group('system:masters')])
  expect((await binding(plane, 'system:kube-scheduler'))?.subjects).toHaveLength(1)
  const after = await binding(plane, 'system:volume-scheduler')
  expect(after).toMatchObject({ roleRef: fresh?.roleRef, subjects: fresh?.subjects, metadata: DEFAULTS })
  expect(after?.metadata.uid).not.toBe(fresh?.metadata.uid)
})

test('roles and bindings of namespaces are put right too', async () => {
  const plane = await newPlane()
  const name = 'system:controller:bootstrap-signer'
  const roles = { group: RBAC, resource: 'roles' }
  const bindings = { group: RBAC, resource: 'rolebindings' }
  await plane.delete(roles, 'kube-public', name)
  await change<AccessObject>(plane, bindings, name, (object) => void delete object.subjects, 'kube-system')
  await started(plane)
  expect(await read(plane, roles, name, 'kube-public')).toBeDefined()
  expect((await read<AccessObject>(plane, bindings, name, 'kube-system'))?.subjects).toHaveLength(1)
})

test('what a newer object took over comes of the older one, as the administrator left it', async () => {
  const plane = await newPlane()
  await plane.delete(BINDINGS, '', 'system:public-info-viewer')
  await plane.delete(ROLES, '', 'system:aggregate-to-edit')
  await change<AccessObject>(plane, BINDINGS, 'system:discovery', (object) => {
    object.subjects = [bob]
    object.metadata.annotations = KEPT
  })
  await change<AccessObject>(plane, ROLES, 'edit', (object) => {
    delete object.aggregationRule
    object.rules = [own]
    object.metadata.annotations = KEPT
  })
  await started(plane)
  expect(await binding(plane, 'system:public-info-viewer')).toMatchObject({
    metadata: { labels: DEFAULTS.labels, annotations: KEPT },
    roleRef: { name: 'system:public-info-viewer' },
    subjects: [bob],
  })
  expect((await role(plane, 'system:aggregate-to-edit'))?.rules).toEqual([own])
})

describe('APIServices', () => {
  const service = (plane: ControlPlaneInMemory, name: string) =>
    read<KubeObject & APIService>(plane, API_SERVICES, name)
  const changed = (plane: ControlPlaneInMemory, name: string, label: string | undefined) =>
    change<KubeObject & APIService>(plane, API_SERVICES, name, ({ metadata, spec }) => {
      metadata.labels = label === undefined ? {} : { 'kube-aggregator.kubernetes.io/automanaged': label }
      spec!.versionPriority = 3
    })
  const stale = (name: string, label: string | undefined): JsonObject =>
    of('apiregistration.k8s.io/v1', 'APIService', {
      metadata: {
        name: `v1.${name}`,
        ...(label === undefined ? {} : { labels: { 'kube-aggregator.kubernetes.io/automanaged': label } }),
      },
      spec: { group: name, version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 },
    })

  test('those of built-in versions come back, get their spec, or go; not those without the label', async () => {
    const plane = await newPlane()
    await plane.delete(API_SERVICES, '', 'v1.apps')
    await changed(plane, 'v1.autoscaling', 'onstart')
    await changed(plane, 'v1.storage.k8s.io', 'true')
    await changed(plane, 'v1.batch', undefined)
    await plane.create(API_SERVICES, stale('stale.example', 'onstart'))
    await plane.create(API_SERVICES, stale('mine.example', undefined))
    await plane.server.put(DEFINITIONS.group, DEFINITIONS.resource, definition('things', 'example.com'))
    await plane.create(API_SERVICES, stale('example.com', 'onstart'))
    await started(plane)
    expect(await service(plane, 'v1.apps')).toMatchObject({ spec: { versionPriority: 15 } })
    expect((await service(plane, 'v1.autoscaling'))?.spec?.versionPriority).toBe(15)
    expect((await service(plane, 'v1.storage.k8s.io'))?.spec?.versionPriority).toBe(15)
    expect((await service(plane, 'v1.batch'))?.spec?.versionPriority).toBe(3)
    expect(await service(plane, 'v1.stale.example')).toBeUndefined()
    expect(await service(plane, 'v1.mine.example')).toBeDefined()
    expect((await service(plane, 'v1.example.com'))?.spec?.versionPriority).toBe(100)
  })
})
