import { describe, expect, test, vi } from 'vitest'
import { customServing } from '../../src/registry/custom-resources/custom-serving.ts'
import { customModelName } from '../../src/registry/custom-resources/custom-model-name.ts'
import { modelMembers } from '../../src/openapi/custom-resources.ts'
import { protobufPieces, protobufV2 } from '../../src/openapi/protobuf.ts'
import { textOf } from '../../src/openapi/members.ts'
import type { OpenApiDocument, OpenApiStream } from '../../src/openapi/documents.ts'
import { openApiDocuments } from '../../src/openapi/documents.ts'
import { builtInResources } from '../../src/registry/served/resources.ts'
import { withDynamic } from '../../src/registry/served/served-groups.ts'
import type { CustomOpenApi, ResourceEntry } from '../../src/registry/served/resources.ts'
import type { JsonObject } from '../../src/api/object.ts'

const served = builtInResources()

const entry = (openApi: Partial<CustomOpenApi>, more: Partial<ResourceEntry> = {}): ResourceEntry => ({
  ...served.find('', 'v1', 'configmaps')!,
  group: 'demo.example.com',
  version: 'v1',
  resource: 'things',
  kind: 'Thing',
  listKind: 'ThingList',
  type: customModelName('demo.example.com', 'v1', 'Thing'),
  serving: customServing,
  openApi: { schemaOf: { uid: 'uid', generation: 1 }, ...openApi },
  ...more,
})

const specOf = (version: 'v2' | 'v3', spec: JsonObject): unknown => {
  const schema = { type: 'object', properties: { spec } }
  const [, json] = modelMembers(entry({ schema }), version, () => undefined)[0]!
  const model: { properties: JsonObject } = JSON.parse(textOf(json()))
  return model.properties['spec']
}

const intOrString = [{ type: 'integer' }, { type: 'string' }]

const plain = { cbor: false }

const wholeOf = (document: OpenApiDocument | OpenApiStream): string =>
  'text' in document ? document.text : [...document.pieces()].join('')

describe('a schema as it is published', () => {
  test.each<[string, JsonObject, unknown, unknown]>([
    [
      'members come in a fixed order, v2 has no defaults',
      { default: 3, format: 'int32', minimum: 1, type: 'integer', description: 'how many' },
      { description: 'how many', type: 'integer', format: 'int32', default: 3, minimum: 1 },
      { description: 'how many', type: 'integer', format: 'int32', minimum: 1 },
    ],
    [
      'int-or-string is spelled out in v3',
      { 'x-kubernetes-int-or-string': true },
      { anyOf: intOrString, 'x-kubernetes-int-or-string': true },
      { 'x-kubernetes-int-or-string': true },
    ],
    [
      'int-or-string with another anyOf',
      { 'x-kubernetes-int-or-string': true, anyOf: [{ pattern: '^a' }, { minimum: 3 }] },
      {
        allOf: [{ anyOf: intOrString }],
        anyOf: [{ pattern: '^a' }, { minimum: 3 }],
        'x-kubernetes-int-or-string': true,
      },
      { 'x-kubernetes-int-or-string': true },
    ],
    [
      'nullable values have no type in v2',
      { type: 'array', items: { type: 'string' }, nullable: true },
      { type: 'array', nullable: true, items: { type: 'string' } },
      {},
    ],
    [
      'a nullable property is not required in v2',
      {
        type: 'object',
        required: ['x', 'y'],
        properties: { x: { type: 'string', nullable: true }, y: { type: 'string' } },
      },
      {
        type: 'object',
        required: ['x', 'y'],
        properties: { x: { type: 'string', nullable: true }, y: { type: 'string' } },
      },
      { type: 'object', required: ['y'], properties: { x: {}, y: { type: 'string' } } },
    ],
    [
      'preserved unknown fields have nothing told of them in v2',
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { q: { type: 'string' } } },
      { type: 'object', properties: { q: { type: 'string' } }, 'x-kubernetes-preserve-unknown-fields': true },
      { 'x-kubernetes-preserve-unknown-fields': true },
    ],
    [
      'logic is for v3',
      { type: 'object', not: { required: ['b'] }, oneOf: [{ properties: { a: { minLength: 2 } }, required: ['a'] }] },
      { type: 'object', oneOf: [{ required: ['a'], properties: { a: { minLength: 2 } } }], not: { required: ['b'] } },
      { type: 'object' },
    ],
    [
      'rules',
      { type: 'object', 'x-kubernetes-validations': [{ message: 'm', rule: 'self.x > 0' }] },
      { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.x > 0', message: 'm' }] },
      { type: 'object', 'x-kubernetes-validations': [{ message: 'm', rule: 'self.x > 0' }] },
    ],
    [
      'any further properties',
      { type: 'object', additionalProperties: true },
      { type: 'object', additionalProperties: true },
      { type: 'object', additionalProperties: true },
    ],
  ])('%s', (_, source, v3, v2) => {
    expect(JSON.stringify(specOf('v3', source))).toBe(JSON.stringify(v3))
    expect(JSON.stringify(specOf('v2', source))).toBe(JSON.stringify(v2))
  })

  test('an embedded resource has the fields of an object', () => {
    const embedded = specOf('v3', { type: 'object', 'x-kubernetes-embedded-resource': true }) as JsonObject
    expect(embedded['required']).toEqual(['kind', 'apiVersion'])
    expect(Object.keys(embedded['properties'] as JsonObject)).toEqual(['apiVersion', 'kind', 'metadata'])
  })

  test('selectable fields come behind the kind', () => {
    const models = modelMembers(
      entry({ schema: { type: 'object' }, selectableFields: ['.spec.f'] }),
      'v3',
      () => 'text',
    ).map(([name, json]): [string, JsonObject] => [name, JSON.parse(textOf(json()))])
    expect(models.map(([name]) => name)).toEqual(['com.example.demo.v1.Thing', 'com.example.demo.v1.ThingList'])
    for (const [, model] of models) expect(model['x-kubernetes-selectable-fields']).toEqual([{ fieldPath: 'spec.f' }])
    expect(Object.keys(models[0]![1])).toEqual([
      'type',
      'properties',
      'x-kubernetes-group-version-kind',
      'x-kubernetes-selectable-fields',
    ])
  })
})

describe('documents with custom resources', () => {
  const things = entry(
    { schema: { type: 'object' } },
    {
      verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
      subresources: [
        { name: 'status', kind: 'Thing', group: 'demo.example.com', version: 'v1', verbs: ['get', 'patch', 'update'] },
        { name: 'scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: ['get', 'patch', 'update'] },
      ],
    },
  )
  const all = withDynamic(served, [
    { group: 'demo.example.com', priority: 1000, versions: [{ version: 'v1', priority: 100, resources: [things] }] },
  ])

  test('v3 has a document of the group version, v2 its paths and definitions', async () => {
    const documents = openApiDocuments(all, plain)
    const document = JSON.parse(wholeOf((await documents.v3('apis/demo.example.com/v1'))!))
    expect(documents.keys).not.toContain('apis/demo.example.com')
    expect(document.info).toEqual({ title: 'Kubernetes CRD Swagger', version: 'v0.1.0' })
    expect(Object.keys(document.paths)).toEqual([
      '/apis/demo.example.com/v1/namespaces/{namespace}/things',
      '/apis/demo.example.com/v1/namespaces/{namespace}/things/{name}',
      '/apis/demo.example.com/v1/namespaces/{namespace}/things/{name}/scale',
      '/apis/demo.example.com/v1/namespaces/{namespace}/things/{name}/status',
      '/apis/demo.example.com/v1/things',
    ])
    expect(Object.keys(document.components.schemas)).toContain('io.k8s.api.autoscaling.v1.Scale')
    const swagger = JSON.parse(wholeOf(await documents.v2()))
    expect(swagger.definitions['com.example.demo.v1.ThingList'].required).toEqual(['items'])
    expect(swagger.paths['/apis/demo.example.com/v1/things'].get.operationId).toBe(
      'listDemoExampleComV1ThingForAllNamespaces',
    )
  })

  test('operations have names without dashes, whose parts begin with a capital', async () => {
    const status = { ...things.subresources[0]!, kind: 'small-thing' }
    const small = { ...things, kind: 'small-thing', subresources: [status] }
    const documents = openApiDocuments(
      withDynamic(served, [
        { group: things.group, priority: 1000, versions: [{ version: 'v1', priority: 100, resources: [small] }] },
      ]),
      plain,
    )
    const { paths } = JSON.parse(wholeOf((await documents.v3('apis/demo.example.com/v1'))!))
    const all = '/apis/demo.example.com/v1/things'
    const one = '/apis/demo.example.com/v1/namespaces/{namespace}/things/{name}'
    expect(paths[all].get.operationId).toBe('listDemoExampleComV1SmallThingForAllNamespaces')
    expect(paths[one].get.operationId).toBe('readDemoExampleComV1NamespacedsmallThing')
    expect(paths[`${one}/status`].get.operationId).toBe('readDemoExampleComV1NamespacedsmallThingStatus')
  })

  // kube-apiserver 1.36.3 writes the same names
  test('v2: a model that has the name of a built-in one gets a number', async () => {
    const named = (group: string, kind: string): ResourceEntry => ({
      ...things,
      ...{ group, kind, listKind: `${kind}List`, type: customModelName(group, 'v1', kind), subresources: [] },
    })
    const versionOf = (resource: ResourceEntry) => ({
      group: resource.group,
      priority: 1000,
      versions: [{ version: 'v1', priority: 100, resources: [resource] }],
    })
    const group = 'apps.api.k8s.io'
    const unserved = 'internal.api.k8s.io'
    const documents = openApiDocuments(
      withDynamic(served, [
        versionOf(named(group, 'Deployment')),
        versionOf(named(unserved, 'Thing')),
        versionOf(things),
      ]),
      plain,
    )
    const { definitions, paths } = JSON.parse(wholeOf(await documents.v2()))
    const own = 'io.k8s.api.apps.v1.Deployment'
    const kindOf = (name: string) => definitions[name]['x-kubernetes-group-version-kind'][0].group
    expect([own, `${own}List`, `${own}_v2`, `${own}List_v2`].map(kindOf)).toEqual(['apps', 'apps', group, group])
    expect(definitions[`${own}List`].properties.items.items).toEqual({ $ref: `#/definitions/${own}` })
    expect(definitions[`${own}List_v2`].properties.items.items).toEqual({ $ref: `#/definitions/${own}_v2` })
    const bodyOf = (apiGroup: string, resource: string) =>
      paths[`/apis/${apiGroup}/v1/namespaces/{namespace}/${resource}/{name}`].put.parameters[0].schema.$ref
    expect(bodyOf('apps', 'deployments')).toBe(`#/definitions/${own}`)
    expect(bodyOf(group, 'things')).toBe(`#/definitions/${own}_v2`)
    expect(bodyOf(unserved, 'things')).toBe('#/definitions/io.k8s.api.internal.v1.Thing')
    expect(bodyOf('demo.example.com', 'things')).toBe('#/definitions/com.example.demo.v1.Thing')
  })

  test('the hash of a v2 document of many resources builds no v3 document', async () => {
    const resources = Array.from({ length: 300 }, (_, n) => ({ ...things, resource: `things${n}` }))
    const many = withDynamic(served, [
      { group: things.group, priority: 1000, versions: [{ version: 'v1', priority: 100, resources }] },
    ])
    const documents = openApiDocuments(many, { cbor: true })
    const v3 = vi.spyOn(documents, 'v3')
    const { hash } = await documents.v2()
    expect(hash).toMatch(/^[0-9A-F]{128}$/)
    expect(v3).not.toHaveBeenCalled()
    await documents.hashes()
    expect(v3).toHaveBeenCalled()
  })

  test('a large version is made while it is read, its largest schemas in parts, and says the same', async () => {
    const properties = (count: number): JsonObject =>
      Object.fromEntries(
        Array.from({ length: count }, (_, n) => [
          `p${n}`,
          {
            type: 'object',
            description: 'x'.repeat(100),
            properties: { '<b>': { 'x-kubernetes-int-or-string': true } },
          },
        ]),
      )
    const large = entry({
      schema: { type: 'object', properties: { spec: { type: 'object', properties: properties(4_000) } } },
    })
    const of = (resources: readonly ResourceEntry[]) =>
      withDynamic(served, [
        { group: large.group, priority: 1000, versions: [{ version: 'v1', priority: 100, resources }] },
      ])
    const document = (await openApiDocuments(of([large]), plain).v3('apis/demo.example.com/v1'))!
    const pieces = 'text' in document ? [] : [...document.pieces()]
    expect(pieces.filter((piece) => piece === '').length).toBeGreaterThan(4_000 / 128)
    const { components } = JSON.parse(pieces.join(''))
    const few = JSON.parse(wholeOf((await openApiDocuments(all, plain).v3('apis/demo.example.com/v1'))!))
    for (const [name, model] of Object.entries(components.schemas))
      if (!name.startsWith('com.example.demo.')) expect(model).toEqual(few.components.schemas[name])
    const { spec } = components.schemas['com.example.demo.v1.Thing'].properties
    expect(Object.keys(spec.properties)).toHaveLength(4_000)
    expect(spec.properties.p3999.properties).toEqual({
      '<b>': { anyOf: intOrString, 'x-kubernetes-int-or-string': true },
    })
    expect(pieces.join('')).toContain('"\\u003cb\\u003e"')
  })

  test('documents of built-in versions stay what they are', async () => {
    const key = 'apis/apps/v1'
    expect(await openApiDocuments(all, plain).v3(key)).toBe(await openApiDocuments(served, plain).v3(key))
  })
})

// the tests rebuild a document of 4 MB many times
describe('v2 of many custom resources', { timeout: 30_000 }, () => {
  const long = 'x'.repeat(400_000)
  const many = (count: number, description = long, beside = served) =>
    withDynamic(
      beside,
      Array.from({ length: count }, (_, n) => {
        const group = `g${n}.example.com`
        const resource = entry(
          { schema: { type: 'object', description }, schemaOf: { uid: group, generation: description.length } },
          { group, verbs: ['get', 'list', 'create'], type: customModelName(group, 'v1', 'Thing') },
        )
        return { group, priority: 1000, versions: [{ version: 'v1', priority: 100, resources: [resource] }] }
      }),
    )

  test('is made while it is read, and says the same as the one that is made at once', async () => {
    const [few, large] = await Promise.all([1, 8].map((count) => openApiDocuments(many(count), plain).v2()))
    expect('text' in few!).toBe(true)
    expect('text' in large!).toBe(false)
    const [one, eight] = [few!, large!].map((document) => JSON.parse(wholeOf(document)))
    expect(Object.keys(eight)).toEqual(Object.keys(one))
    for (const part of ['paths', 'definitions', 'parameters']) {
      expect(eight[part]).toMatchObject(one[part])
      expect(Object.keys(eight[part])).toEqual(Object.keys(eight[part]).sort())
    }
    expect(Object.keys(eight.definitions).filter((name) => name.startsWith('com.example.g'))).toHaveLength(16)
  })

  test('is the same as protobuf, made in pieces', async () => {
    const document = await openApiDocuments(many(8), plain).v2()
    if (!('members' in document)) throw new Error('it is large')
    const whole = protobufV2({ text: wholeOf(document) })
    const pieces = [...protobufPieces(document.members)]
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(1_000_000)
    expect(Buffer.concat(pieces).equals(whole)).toBe(true)
  })

  test('has an ETag of what it is made of', async () => {
    const hashOf = async (count: number, description?: string) =>
      (await openApiDocuments(many(count, description), plain).v2()).hash
    expect(await hashOf(8)).toBe(await hashOf(8))
    expect(await hashOf(9)).not.toBe(await hashOf(8))
    expect(await hashOf(8, `${long}.`)).not.toBe(await hashOf(8))
    expect((await openApiDocuments(many(8), { cbor: true }).v2()).hash).not.toBe(await hashOf(8))
    const fewer = builtInResources({ runtimeConfig: 'batch/v1/jobs=false' })
    expect((await openApiDocuments(many(8, long, fewer), plain).v2()).hash).not.toBe(await hashOf(8))
  })

  test('has its ETag before any of it is made', async () => {
    let read = 0
    const groups = Array.from({ length: 300 }, (_, n) => {
      const group = `g${n}.example.com`
      const shown = entry({}, { group, verbs: ['get'], type: customModelName(group, 'v1', 'Thing') })
      const openApi = {
        schemaOf: { uid: `uid ${n}`, generation: 1 },
        get schema() {
          read++
          return { type: 'object' }
        },
      }
      const resources = [{ ...shown, openApi }]
      return { group, priority: 1000, versions: [{ version: 'v1', priority: 100, resources }] }
    })
    const documents = openApiDocuments(withDynamic(served, groups), plain)
    const document = await documents.v2()
    expect(document.hash).toMatch(/^[0-9A-F]{128}$/)
    expect(read).toBe(0)
    expect(Object.keys(JSON.parse(wholeOf(document)).definitions)).toContain('com.example.g299.v1.Thing')
    expect(read).toBeGreaterThanOrEqual(300)
  })
})
