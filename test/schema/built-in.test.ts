import { describe, expect, it, test } from 'vitest'
import { builtInType, builtInTypeNames, structuralOf, typeOfKind } from '../../src/schema/built-in.ts'
import type { Structural, StructType } from '../../src/schema/structural.ts'

const core = (kind: string) => builtInType(`io.k8s.api.core.v1.${kind}`)

test('every type expands, and refers to types only', () => {
  const seen = new Set<Structural>()
  const walk = (type: Structural): void => {
    if (seen.has(type)) return
    seen.add(type)
    if (type.shape === 'list') walk(type.element)
    else if (type.shape === 'map') walk(type.value)
    else if (type.shape === 'struct') for (const field of type.fields) walk(field.type)
    else if (type.shape === 'special' && type.of !== undefined) walk(type.of())
  }
  const names = builtInTypeNames()
  expect(names.length).toBeGreaterThan(1200)
  for (const name of names) walk(structuralOf(name))
  expect(seen.size).toBeGreaterThan(1200)
})

test('field numbers of a message are all different', () => {
  for (const name of builtInTypeNames()) {
    const type = structuralOf(name)
    if (type.shape !== 'struct' || type.message === undefined) continue
    const numbers = type.message.map((member) => ('inline' in member ? member.number : member.field.number))
    expect(new Set(numbers).size, name).toBe(numbers.length)
    expect(Math.min(1, ...numbers), name).toBe(1)
  }
})

/** Decoding, encoding and defaulting read and write fields of built-in types by plain index access. */
test('no field has a name of Object.prototype', () => {
  for (const name of builtInTypeNames()) {
    const type = structuralOf(name)
    const fields = type.shape === 'struct' ? type.fields : []
    expect(fields.filter((field) => Object.hasOwn(Object.prototype, field.name))).toEqual([])
  }
})

describe('fields', () => {
  test.each<[StructType, string, object]>([
    [core('Pod'), 'spec', { omit: 'empty', pointer: false, number: 2 }],
    [
      core('Container'),
      'ports',
      { mergeKey: 'containerPort', type: { listType: 'map', keys: ['containerPort', 'protocol'] } },
    ],
    [
      core('ContainerPort'),
      'protocol',
      { default: 'TCP', type: { enum: ['SCTP', 'TCP', 'UDP'], goType: 'v1.Protocol' } },
    ],
    [
      core('PodSpec'),
      'volumes',
      { patchStrategy: { merge: true, retainKeys: true, replace: false }, mergeKey: 'name' },
    ],
    [core('PodSpec'), 'tolerations', { type: { shape: 'list', listType: 'atomic', declaredListType: 'atomic' } }],
    [core('Volume'), 'emptyDir', { within: [2], embeddedIn: ['VolumeSource'], number: 2 }],
    [core('EphemeralContainer'), 'livenessProbe', { within: [1], embeddedIn: ['EphemeralContainerCommon'] }],
    [core('PersistentVolumeSpec'), 'claimRef', { declaredMapType: 'granular', type: { mapType: 'granular' } }],
    [core('ResourceRequirements'), 'limits', { type: { goType: 'v1.ResourceList', value: { special: 'quantity' } } }],
    [builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'), 'creationTimestamp', { omit: 'zero' }],
    [builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.APIResource'), 'verbs', { type: { wrapper: 'v1.Verbs' } }],
  ])('$name %s', (type, name, expected) => {
    expect(type.field(name)).toMatchObject(expected)
  })

  it('stand in the order of the struct, inline ones in their place', () => {
    const names = core('Volume').fields.map(({ name }) => name)
    expect(names.slice(0, 3)).toEqual(['name', 'hostPath', 'emptyDir'])
    expect(core('Volume').field('nothing')).toBeUndefined()
    expect(core('Volume').field('toString')).toBeUndefined()
  })
})

describe('kinds', () => {
  test.each([
    ['', 'v1', 'Pod', 'io.k8s.api.core.v1.Pod'],
    ['apps', 'v1', 'DeploymentList', 'io.k8s.api.apps.v1.DeploymentList'],
    ['', 'v1', 'Status', 'io.k8s.apimachinery.pkg.apis.meta.v1.Status'],
    ['apps', 'v1', 'DeleteOptions', 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'],
    ['meta.k8s.io', 'v1', 'Table', 'io.k8s.apimachinery.pkg.apis.meta.v1.Table'],
    ['meta.k8s.io', 'v1beta1', 'PartialObjectMetadata', 'io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata'],
    [
      'apiextensions.k8s.io',
      'v1',
      'CustomResourceDefinition',
      'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
    ],
  ])('%s/%s %s', (group, version, kind, name) => {
    expect(typeOfKind({ group, version, kind })?.name).toBe(name)
  })

  test.each([
    ['', 'v1', 'PodSpec'],
    ['apps', 'v1', 'Status'],
    ['apps', 'v1', 'Pod'],
    ['example.com', 'v1', 'ListOptions'],
    ['', 'v1', 'toString'],
    ['', 'v9', 'Pod'],
  ])('%s/%s %s is none', (group, version, kind) => {
    expect(typeOfKind({ group, version, kind })).toBeUndefined()
  })

  it('refuses names of other shapes', () => {
    expect(() => builtInType('io.k8s.apimachinery.pkg.api.resource.Quantity')).toThrow('is a special')
    expect(() => builtInType('io.k8s.api.core.v1.Nothing')).toThrow('no built-in type')
  })
})
