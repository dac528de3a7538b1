import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { StatusError } from '../../src/api/status.ts'
import { typeOfKind } from '../../src/schema/built-in.ts'
import { customKindType } from '../../src/schema/from-openapi.ts'
import { Story, configMaps, deployments, services } from './story.ts'
import type { Actor } from './story.ts'

function refusal(run: () => unknown): { code: number; message: string; causes?: unknown } {
  try {
    run()
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const { causes } = error.status.details ?? {}
    return { code: error.code, message: error.message, ...(causes === undefined ? {} : { causes }) }
  }
  throw new Error('nothing was refused')
}

describe('one applier', () => {
  test('owns what it says, without the maps around it', () => {
    const story = new Story(configMaps).apply('ci', { data: { a: '1' } })
    expect(story.owners).toEqual({ 'Apply ci': { 'f:data': { 'f:a': {} } } })
  })

  test('that stops mentioning a key removes it', () => {
    const story = new Story(configMaps).apply('ci', { data: { a: '1', b: '2' } }).apply('ci', { data: { a: '1' } })
    expect(story.content).toEqual({ data: { a: '1' } })
    expect(story.owners).toEqual({ 'Apply ci': { 'f:data': { 'f:a': {} } } })
  })

  test('that says the same again changes nothing, not even a time', () => {
    const story = new Story(configMaps).apply('ci', { data: { a: '1' } })
    const before = story.object
    expect(story.apply('ci', { data: { a: '1' } }).object).toEqual(before)
  })

  test('is there without a time while it has changed nothing', () => {
    const story = new Story(configMaps).apply('a', { data: { x: '1' } }).apply('b', { data: { x: '1' } })
    expect(story.entries.map(({ manager, time }) => [manager, time])).toEqual([
      ['b', undefined],
      ['a', '2030-01-01T00:01:00Z'],
    ])
  })

  test('does not remove what an updater has put beside it', () => {
    const story = new Story(configMaps)
      .apply('a', { data: { x: '1' } })
      .write('u', { data: { x: '1', y: '1' } })
      .apply('a', {})
    expect(story.content).toEqual({ data: { y: '1' } })
  })

  test('shares what another one says too', () => {
    const story = new Story(configMaps)
      .apply('a', { data: { x: '1' } })
      .apply('b', { data: { x: '1' } })
      .apply('a', {})
    expect(story.content).toEqual({ data: { x: '1' } })
    expect(story.owners).toEqual({ 'Apply b': { 'f:data': { 'f:x': {} } } })
  })

  test('finds before-first-apply where nobody was tracked', () => {
    const story = new Story(configMaps)
      .write('u', { data: { x: '1' } })
      .write('u', { data: { x: '1' }, metadata: { managedFields: [] } })
    expect(refusal(() => story.apply('a', { data: { x: '2' } })).message).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.x',
    )
  })
})

describe('conflicts', () => {
  const story = () => new Story(configMaps).apply('a', { data: { x: '1', y: '1' } })

  test('with one field', () => {
    expect(refusal(() => story().apply('b', { data: { x: '2' } }))).toEqual({
      code: 409,
      message: 'Apply failed with 1 conflict: conflict with "a": .data.x',
      causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "a"', field: '.data.x' }],
    })
  })

  test('with several owners', () => {
    const twoOwners = story().write('u', { data: { x: '1', y: '1', z: '1' } })
    expect(refusal(() => twoOwners.apply('b', { data: { x: '2', y: '2', z: '2' } })).message).toBe(
      'Apply failed with 3 conflicts: conflicts with "a":\n- .data.x\n- .data.y\nconflicts with "u" using v1:\n- .data.z',
    )
  })

  test('of more fields than an answer has room for are counted, and many of them are told', () => {
    const all = (value: string) => ({
      data: Object.fromEntries(Array.from({ length: 12_000 }, (_, at) => [`k${at}`, value])),
    })
    const { message, causes } = refusal(() => new Story(configMaps).apply('a', all('1')).apply('b', all('2')))
    expect(message).toMatch(/^Apply failed with 12000 conflicts: conflicts with "a":\n- \.data\.k0\n/)
    expect(causes).toHaveLength(10_000)
  })

  test('are overcome by force, which takes what it changes', () => {
    const forced = story().apply('b', { data: { x: '2' } }, { force: true })
    expect(forced.content).toEqual({ data: { x: '2', y: '1' } })
    expect(forced.owners).toEqual({ 'Apply a': { 'f:data': { 'f:y': {} } }, 'Apply b': { 'f:data': { 'f:x': {} } } })
  })

  test('name the subresource', () => {
    const deployment = new Story(deployments)
      .write('m', { spec: { selector: {}, template: {} } })
      .edit('u', (object) => Object.assign(object, { status: { replicas: 1 } }), 'status')
    expect(refusal(() => deployment.apply('a', { status: { replicas: 2 } }, { subresource: 'status' })).message).toBe(
      'Apply failed with 1 conflict: conflict with "u" with subresource "status" using apps/v1: .status.replicas',
    )
  })
})

describe('kubectl moves to the server side', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', annotations: {} }, data: { x: '1' } }
  const start = () =>
    new Story(configMaps).write('kubectl-client-side-apply', {
      data: { x: '1' },
      metadata: { annotations: { [annotation]: JSON.stringify(config) } },
    })

  test('without conflicts about what it applied before, and keeps its annotation up to date', () => {
    const story = start().apply('kubectl', { data: { x: '2' } })
    expect(story.content['data']).toEqual({ x: '2' })
    const applied = (story.object!.metadata.annotations as Record<string, string>)[annotation]!
    expect(applied).toBe('{"apiVersion":"v1","data":{"x":"2"},"kind":"ConfigMap","metadata":{"name":"x"}}\n')
  })

  test('but not about what has changed since', () => {
    const story = start().edit('edit', (object) => Object.assign(object, { data: { x: '9' } }))
    expect(refusal(() => story.apply('kubectl', { data: { x: '2' } })).message).toBe(
      'Apply failed with 1 conflict: conflict with "edit" using v1: .data.x',
    )
  })

  test('and nobody else does', () => {
    expect(refusal(() => start().apply('other', { data: { x: '2' } })).code).toBe(409)
  })
})

describe('lists by key', () => {
  const ports = (...list: JsonObject[]): JsonObject => ({ spec: { clusterIP: 'None', ports: list } })

  test('a key that is left out counts as its default', () => {
    const story = new Story(services).apply('a', ports({ port: 53, name: 'tcp' }))
    expect(Object.keys((story.owners['Apply a']!['f:spec'] as { 'f:ports': JsonObject })['f:ports'])).toEqual([
      'k:{"port":53,"protocol":"TCP"}',
    ])
    expect(refusal(() => story.apply('b', ports({ port: 53, protocol: 'TCP', name: 'x' }))).message).toContain(
      '.spec.ports[port=53,protocol="TCP"].name',
    )
  })

  test('new elements come in the order of the configuration, between those that both have', () => {
    const story = new Story(services)
      .write('u', ports({ port: 1, name: 'a' }, { port: 2, name: 'b' }, { port: 3, name: 'c' }))
      .apply('a', ports({ port: 9, name: 'x' }, { port: 2, name: 'b' }, { port: 8, name: 'y' }))
    const { ports: list } = story.content['spec'] as { ports: { port: number }[] }
    expect(list.map(({ port }) => port)).toEqual([1, 9, 2, 3, 8])
  })
})

describe('values that do not fit their type', () => {
  test.each<[string, Actor, JsonObject, string]>([
    ['unknown', configMaps, { nope: 1 }, '.nope: field not declared in schema'],
    ['text', configMaps, { data: { x: 5 } }, '.data.x: expected string, got &value.valueUnstructured{Value:5}'],
    ['map', configMaps, { data: ['x'] }, '.data: expected map, got &{[x]}'],
    [
      'several',
      configMaps,
      { data: { x: 5, y: true } },
      'errors:\n  .data.x: expected string, got &value.valueUnstructured{Value:5}\n  .data.y: expected string, got &value.valueUnstructured{Value:true}',
    ],
    ['number', deployments, { spec: { replicas: '3' } }, '.spec.replicas: expected numeric (int or float), got string'],
    ['boolean', deployments, { spec: { paused: 'x' } }, '.spec.paused: expected boolean, got &{x}'],
    [
      'list',
      deployments,
      { spec: { template: { spec: { containers: 'x' } } } },
      '.spec.template.spec.containers: expected list, got &{x}',
    ],
    [
      'duplicate',
      deployments,
      { spec: { template: { spec: { containers: [{ name: 'c' }, { name: 'c' }] } } } },
      '.spec.template.spec.containers: duplicate entries for key [name="c"]',
    ],
    [
      'null',
      deployments,
      { spec: { template: { spec: { containers: [null] } } } },
      '.spec.template.spec.containers: element 0: associative list with keys may not have a null element',
    ],
  ])('%s', (_, of, config, message) => {
    const { group, version, kind } = of.kind
    expect(refusal(() => new Story(of).apply('a', config))).toEqual({
      code: 500,
      message: `failed to create typed patch object (/x; ${group}/${version}, Kind=${kind}): ${message}`,
    })
  })

  test('a value that passes for its shape alone', () => {
    const config = {
      spec: { template: { spec: { containers: [{ name: 'c', resources: { limits: { cpu: 'abc' } } }] } } },
    }
    expect(refusal(() => new Story(deployments).apply('a', config)).message).toMatch(
      /^failed to convert new object \(\/x; apps\/v1, Kind=Deployment\) to proper version: unable to convert unstructured object to apps\/v1, Kind=Deployment: quantities must match/,
    )
  })

  test.each([
    [{ kind: 'Nope' }, 'invalid object type: /v1, Kind=Nope'],
    [{ apiVersion: 'apps/v1' }, 'invalid object type: apps/v1, Kind=ConfigMap'],
    [{ metadata: { managedFields: [] } }, 'metadata.managedFields must be nil'],
  ])('%j is refused', (config, message) => {
    expect(refusal(() => new Story(configMaps).apply('a', config))).toEqual({ code: 400, message })
  })
})

test('a list whose elements lack their keys is one problem of an object without managers', () => {
  const { type, kind } = services
  const accounts: Actor = { kind: { ...kind, kind: 'ServiceAccount' }, resource: 'serviceaccounts', type }
  const story = new Story({ ...accounts, type: typeOfKind(accounts.kind)! }).write('u', {})
  Object.assign(story.object!, { secrets: [{}, {}] })
  delete story.object!.metadata.managedFields
  expect(refusal(() => story.apply('ci', {})).message).toMatch(/ to smd typed: \.secrets: element 0: [^:]*$/)
})

describe('custom resources', () => {
  const kind = { group: 'example.com', version: 'v1', kind: 'Story' }
  const stories = (properties: JsonObject, more: JsonObject = {}): Actor => ({
    kind,
    resource: 'stories',
    type: customKindType('com.example.v1.Story', kind, {
      type: 'object',
      properties: { spec: { type: 'object', properties, ...more } },
    }),
  })

  test('plain writes own the maps that they make, spec too', () => {
    const story = new Story(stories({ a: { type: 'string' } })).write('u', { spec: { a: '1' } })
    expect(story.owners).toEqual({ 'Update u': { 'f:spec': { '.': {}, 'f:a': {} } } })
  })

  test('sets are owned by value', () => {
    const set = { s: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' } }
    const story = new Story(stories(set))
      .apply('a', { spec: { s: ['x', 'y'] } })
      .apply('b', { spec: { s: ['y', 'z'] } })
    expect(story.content).toEqual({ spec: { s: ['x', 'y', 'z'] } })
    story.apply('a', { spec: { s: [] } })
    expect(story.content).toEqual({ spec: { s: ['y', 'z'] } })
  })

  test.each<[string, JsonObject]>([
    ['beside properties', { additionalProperties: true }],
    ['alone', { properties: undefined as never, additionalProperties: true }],
  ])('additionalProperties: true %s allows members of any type', (_, more) => {
    const story = new Story(stories({ a: { type: 'string' } }, more)).apply('u', { spec: { a: 'x', b: 1, l: [1] } })
    expect(story.owners).toEqual({ 'Apply u': { 'f:spec': { 'f:a': {}, 'f:b': {}, 'f:l': {} } } })
  })

  test('additionalProperties without a type allows a list', () => {
    const a = { additionalProperties: { type: 'string' }, 'x-kubernetes-preserve-unknown-fields': true }
    const story = new Story(stories({ a })).apply('u', { spec: { a: [1] } })
    expect(story.owners).toEqual({ 'Apply u': { 'f:spec': { 'f:a': {} } } })
    story.apply('u', { spec: { a: { b: 'x' } } })
    expect(story.owners).toEqual({ 'Apply u': { 'f:spec': { 'f:a': { 'f:b': {} } } } })
  })

  test('additionalProperties: false allows none', () => {
    const story = new Story(stories({}, { properties: undefined as never, additionalProperties: false }))
    const refused = refusal(() => story.apply('u', { spec: { a: {} } }))
    expect(refused.message).toMatch('.spec.a: field not declared in schema')
  })

  test('an object that no longer has its type is named by its own metadata', () => {
    const story = new Story(stories({ a: { type: 'string' } })).write('u', { spec: { a: 'x' } })
    Object.assign(story.object!, { spec: { a: 1 } })
    story.object!.metadata.namespace = 'there'
    expect(refusal(() => story.apply('ci', { spec: { a: 'y' } })).message).toMatch(
      /^failed to create typed live object \(there\/[^;]+; example.com\/v1, Kind=Story\): .spec.a: expected string/,
    )
  })

  test('an object without managers that no longer has its type has no first manager', () => {
    const story = new Story(stories({ a: { type: 'string' } })).write('u', { spec: { a: 'x' } })
    Object.assign(story.object!, { spec: { a: 1 } })
    delete story.object!.metadata.managedFields
    expect(refusal(() => story.apply('ci', { spec: { a: 'y' } })).message).toMatch(
      /^failed to create manager for existing fields: failed to convert new object \(\/[^;]+; example.com\/v1, Kind=Story\) to smd typed: .spec.a: expected string/,
    )
  })

  test('metadata has its own type where the root preserves unknown fields, and where an object inside declares it', () => {
    const embedded = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { metadata: { type: 'object' }, spec: { type: 'string' } },
    }
    const root = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { spec: embedded } }
    const actor: Actor = { kind, resource: 'stories', type: customKindType('com.example.v1.Story', kind, root) }
    const refused = (sent: JsonObject) => refusal(() => new Story(actor).apply('u', sent)).message
    expect(refused({ metadata: { name: 'a', unknown: 1 } })).toMatch('.metadata.unknown: field not declared in schema')
    expect(refused({ spec: { metadata: { unknown: 1 } } })).toMatch('.spec.metadata.unknown: field not declared')
    const story = new Story(actor).apply('u', { spec: { metadata: { finalizers: ['x'] } }, other: { a: 1 } })
    expect(story.owners).toEqual({
      'Apply u': { 'f:other': { '.': {}, 'f:a': {} }, 'f:spec': { 'f:metadata': { 'f:finalizers': { 'v:"x"': {} } } } },
    })
  })

  test('a schema that has properties, but no type, allows other values', () => {
    const any = { type: undefined as never, 'x-kubernetes-preserve-unknown-fields': true }
    const story = new Story(stories({ a: { type: 'string' } }, any))
    // no object has a list as its spec in TypeScript
    story.apply('u', { spec: [1] as never })
    expect(story.owners).toEqual({ 'Apply u': { 'f:spec': {} } })
    expect(refusal(() => story.apply('u', { spec: { a: 1 } })).message).toMatch('.spec.a: expected string')
  })

  test('lists without a type, and maps that say so, are owned as a whole', () => {
    const atomic = {
      l: { type: 'array', items: { type: 'string' } },
      m: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
    }
    const story = new Story(stories(atomic)).apply('a', { spec: { l: ['x'], m: { k: 'v' } } })
    expect(story.owners).toEqual({ 'Apply a': { 'f:spec': { 'f:l': {}, 'f:m': {} } } })
    expect(refusal(() => story.apply('b', { spec: { m: { other: 'v' } } })).message).toContain('.spec.m')
  })

  test('below what preserves unknown fields, maps are owned key by key and lists as a whole', () => {
    const story = new Story(stories({}, { 'x-kubernetes-preserve-unknown-fields': true })).apply('a', {
      spec: { any: { list: [{ a: 1 }], text: 'x' } },
    })
    expect(story.owners).toEqual({
      'Apply a': { 'f:spec': { 'f:any': { '.': {}, 'f:list': {}, 'f:text': {} } } },
    })
  })

  test('the metadata of an embedded object gets its normal form', () => {
    const pod = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    }
    const metadata = { name: 'x', labels: null, creationTimestamp: null, managedFields: [] }
    const story = new Story(stories({ pod })).apply('a', { spec: { pod: { apiVersion: 'v1', kind: 'Pod', metadata } } })
    expect(story.content).toEqual({ spec: { pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } } } })
  })

  test('a manager that owned parts of a list owns all of it once the list is atomic', () => {
    const items = { type: 'object', properties: { name: { type: 'string' }, v: { type: 'integer' } } }
    const list = { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }
    const story = new Story(stories({ l: list })).apply('a', { spec: { l: [{ name: 'i', v: 1 }] } })
    const later = new Story(stories({ l: { type: 'array', items, 'x-kubernetes-list-type': 'atomic' } }))
    later.object = story.object
    later.write('u', { spec: { l: [{ name: 'i', v: 1 }] } })
    expect(later.owners).toEqual({ 'Apply a': { 'f:spec': { 'f:l': {} } } })
  })
})
