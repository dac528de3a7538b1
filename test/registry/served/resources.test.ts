import { describe, expect, test } from 'vitest'
import { customServing } from '../../../src/registry/custom-resources/custom-serving.ts'
import { builtInResources } from '../../../src/registry/served/resources.ts'
import { withDynamic, withGroups } from '../../../src/registry/served/served-groups.ts'
import type { ResourceEntry } from '../../../src/registry/served/resources.ts'
import { compareVersions } from '../../../src/api/version-order.ts'

const served = builtInResources()
const versionsOf = (group: string, from = served) => from.group(group)?.versions.map(({ version }) => version)

describe('the built-in resources of a default server', () => {
  test('68 resources in 21 groups, in the order of discovery', () => {
    expect(served.resources).toHaveLength(68)
    expect(served.groups.map(({ group }) => group)).toEqual([
      '',
      'apiregistration.k8s.io',
      'apps',
      'events.k8s.io',
      'authentication.k8s.io',
      'authorization.k8s.io',
      'autoscaling',
      'batch',
      'certificates.k8s.io',
      'networking.k8s.io',
      'policy',
      'rbac.authorization.k8s.io',
      'storage.k8s.io',
      'admissionregistration.k8s.io',
      'apiextensions.k8s.io',
      'scheduling.k8s.io',
      'coordination.k8s.io',
      'node.k8s.io',
      'discovery.k8s.io',
      'resource.k8s.io',
      'flowcontrol.apiserver.k8s.io',
    ])
    expect(versionsOf('autoscaling')).toEqual(['v2', 'v1'])
  })

  test('events of both groups are kept in one place', () => {
    expect(served.find('events.k8s.io', 'v1', 'events')?.storage).toEqual({
      group: '',
      version: 'v1',
      resource: 'events',
    })
    expect(served.find('autoscaling', 'v1', 'horizontalpodautoscalers')?.storage.version).toBe('v2')
    expect(served.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')?.storage.version).toBe('v1')
  })

  test('a kind finds its resource', () => {
    expect(served.findKind({ group: 'apps', version: 'v1', kind: 'Deployment' })?.resource).toBe('deployments')
    expect(served.findKind({ group: 'apps', version: 'v2', kind: 'Deployment' })).toBeUndefined()
  })

  test.each([
    ['', 'endpoints', 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'],
    ['', 'componentstatuses', 'v1 ComponentStatus is deprecated in v1.19+'],
    ['', 'pods', undefined],
  ])('deprecation of %s %s', (group, resource, text) => {
    expect(served.find(group, 'v1', resource)?.deprecationWarning).toBe(text)
  })
})

describe('the enabled resources', () => {
  test.each([
    ['api/all=true', undefined, 89],
    ['api/all=true', 'AllAlpha=true,AllBeta=true', 95],
    ['api/beta=true', undefined, 83],
    ['api/alpha=true', 'GenericWorkload=true', 76],
    ['api/all=false,apps/v1=true', undefined, 5],
    ['api/all=false,apps/v1=true,apps/v1/deployments=false,batch/v1/jobs=1', undefined, 5],
    ['batch/v1/jobs=false', undefined, 67],
    ['v1=false', undefined, 51],
  ])('%s with gates %s: %i resources', (runtimeConfig, featureGates, count) => {
    expect(builtInResources({ runtimeConfig, featureGates }).resources).toHaveLength(count)
  })

  test('a version whose resources are all behind a gate is not served', () => {
    expect(versionsOf('certificates.k8s.io', builtInResources({ runtimeConfig: 'api/all=true' }))).toEqual(['v1'])
  })

  test('beta versions that are no longer the newest warn', () => {
    const all = builtInResources({ runtimeConfig: 'api/all=true', featureGates: 'AllBeta=true' })
    expect(all.find('storage.k8s.io', 'v1beta1', 'volumeattributesclasses')?.deprecationWarning).toBe(
      'storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass',
    )
    expect(all.find('certificates.k8s.io', 'v1beta1', 'clustertrustbundles')?.deprecationWarning).toBeUndefined()
  })

  test.each([
    ['api/all=false', 'invalid runtime-config with only api/all=false'],
    ['api/all=maybe', 'invalid value api/all=maybe'],
    ['apps/v7=true', 'group version apps/v7 that has not been registered'],
    ['nope/v1=true,apps/v1=true', 'unknown api groups nope/v1'],
    ['a/b/c/d=true', 'runtime-config invalid key a/b/c/d'],
    ['apps/v1/Deployments=true', 'resource is always lowercase plural, not "Deployments"'],
    ['apps/v1=yes', 'invalid value of apps/v1: yes'],
  ])('%s is refused', (runtimeConfig, message) => {
    expect(() => builtInResources({ runtimeConfig })).toThrow(message)
  })

  test('unknown feature gates are refused', () => {
    expect(() => builtInResources({ featureGates: 'Nonsense=true' })).toThrow('unrecognized feature gate: Nonsense')
  })
})

describe('groups of custom resources', () => {
  const entry = (group: string, version: string, resource: string): ResourceEntry => ({
    ...served.find('', 'v1', 'configmaps')!,
    group,
    version,
    resource,
    serving: customServing,
  })
  const group = (name: string, priority = 1000, ...versions: string[]) => ({
    group: name,
    priority,
    versions: versions.map((version) => ({ version, priority: 100, resources: [entry(name, version, 'widgets')] })),
  })

  test('come after the built-in ones, by priority and name, versions in Kubernetes order', () => {
    const all = withDynamic(served, [
      group('b.example.com', 1000, 'v1alpha1', 'v2', 'v1', 'foo', 'v10', 'v2beta1'),
      group('a.example.com', 1000, 'v1'),
      group('first.example.com', 19000, 'v1'),
    ])
    const names = all.groups.map(({ group }) => group)
    expect(names.slice(-2)).toEqual(['a.example.com', 'b.example.com'])
    expect(names.slice(0, 4)).toEqual(['', 'apiregistration.k8s.io', 'first.example.com', 'apps'])
    expect(versionsOf('b.example.com', all)).toEqual(['v10', 'v2', 'v1', 'v2beta1', 'v1alpha1', 'foo'])
    expect(all.isBuiltInGroup('a.example.com')).toBe(false)
    expect(all.isBuiltInGroup('apps')).toBe(true)
    expect(all.find('a.example.com', 'v1', 'widgets')?.serving).toBe(customServing)
    expect(served.find('a.example.com', 'v1', 'widgets')).toBeUndefined()
  })

  test('a definition in a built-in group is shown, and not served', () => {
    const all = withDynamic(served, [group('apps', 1000, 'v9', 'v1')])
    expect(all.groups).toHaveLength(served.groups.length)
    expect(versionsOf('apps', all)).toEqual(['v9', 'v1'])
    expect(all.find('apps', 'v9', 'widgets')).toBeUndefined()
    expect(all.find('apps', 'v1', 'widgets')).toBeUndefined()
    expect(all.version('apps', 'v1')).toBe(served.version('apps', 'v1'))
  })
})

test('versions are compared as Kubernetes does', () => {
  const order = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10']
  expect([...order].reverse().sort(compareVersions)).toEqual(order)
})

test('a thousand groups are read some at a time, and once', async () => {
  const names = Array.from({ length: 1_000 }, (_, n) => `g${n}.example.com`)
  const read: string[] = []
  let turns = 0
  let most = 0
  let before = 0
  const many = withGroups(builtInResources(), names, (name) => {
    read.push(name)
    return []
  })
  await many.read(async () => {
    turns++
    most = Math.max(most, read.length - before)
    before = read.length
  })
  expect(turns).toBeGreaterThan(100)
  expect(most).toBeLessThan(10)
  expect(many.groups).toHaveLength(builtInResources().groups.length)
  expect(read).toEqual(names)
})
