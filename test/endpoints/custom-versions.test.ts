// The server validates an object in the version of the request. Storage and other versions get what their schemas have.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'a-token-of-thirty-two-characters'

beforeEach(() => {
  vi.stubGlobal('IdentityTransformStream', TransformStream) // workerd has it, Node does not
})
afterEach(() => {
  vi.unstubAllGlobals()
})

const versionOf = (name: string, storage: boolean, properties: object) => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
})

const VERSIONS = [
  versionOf('v1', true, {
    shared: { type: 'string' },
    first: { type: 'integer' },
    size: { type: 'integer', default: 5 },
  }),
  versionOf('v2', false, { shared: { type: 'string' }, second: { type: 'boolean' } }),
]

async function serverWith(versions: readonly object[]) {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
  const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' }))
  await server.put('apiextensions.k8s.io', 'customresourcedefinitions', {
    metadata: { name: 'things.example.com', generation: 1 },
    spec: { group: 'example.com', scope: 'Cluster', names, versions },
    status: { acceptedNames: names, storedVersions: ['v1'], conditions },
  } as unknown as KubeObject & JsonObject)
  const ask = async (method: string, path: string, type = 'application/json', body?: object) => {
    const request = server.request(`/apis/example.com/${path}`, {
      method,
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': type },
      ...(body && { body: JSON.stringify(body) }),
    })
    const response = await answer(request)
    return { code: response.status, body: await response.json<{ spec?: object; message?: string }>() }
  }
  return { server, ask }
}

const thing = (version: string, spec: object) => ({
  apiVersion: `example.com/${version}`,
  kind: 'Thing',
  metadata: { name: 'a' },
  spec,
})

const WRONG =
  'Thing.example.com "a" is invalid: spec.second: Invalid value: "string": spec.second in body must be of type boolean: "string"'

test.each<[string, string, string, string, object]>([
  ['a create', 'POST', 'v2/things', 'application/json', thing('v2', { second: 'x' })],
  ['an update', 'PUT', 'v2/things/a', 'application/json', thing('v2', { second: 'x' })],
  ['a merge patch', 'PATCH', 'v2/things/a', 'application/merge-patch+json', { spec: { second: 'x' } }],
  [
    'a JSON patch',
    'PATCH',
    'v2/things/a',
    'application/json-patch+json',
    [{ op: 'add', path: '/spec/second', value: 'x' }],
  ],
])('%s fails by a field that only the version of the request has', async (_, method, path, type, body) => {
  const { ask } = await serverWith(VERSIONS)
  if (method !== 'POST') {
    const { body: made } = await ask('POST', 'v1/things', 'application/json', thing('v1', { shared: 'x' }))
    const { resourceVersion } = (made as KubeObject).metadata
    if (method === 'PUT') Object.assign((body as KubeObject).metadata, { resourceVersion })
  }
  await expect(ask(method, path, type, body)).rejects.toMatchObject({ code: 422, message: WRONG })
})

test.each([
  ['is stored', ''],
  ['would be stored by a dry run', '?dryRun=All'],
])('what a version lacks in storage is gone from an object that %s', async (_, query) => {
  const { ask } = await serverWith(VERSIONS)
  const { code, body } = await ask(
    'POST',
    `v2/things${query}`,
    'application/json',
    thing('v2', { shared: 'x', second: true }),
  )
  expect([code, body.spec]).toEqual([201, { shared: 'x' }])
})

test('the storage version shows its defaults in an object that another version wrote', async () => {
  const { ask } = await serverWith(VERSIONS)
  await ask('POST', 'v2/things', 'application/json', thing('v2', { shared: 'x' }))
  expect((await ask('GET', 'v1/things/a')).body.spec).toEqual({ shared: 'x', size: 5 })
})

test('an object of an earlier storage version keeps the fields of that version', async () => {
  const { server, ask } = await serverWith(VERSIONS)
  await server.put(
    'example.com',
    'things',
    thing('v2', { shared: 'x', second: true }) as unknown as KubeObject & JsonObject,
  )
  expect((await ask('GET', 'v2/things/a')).body.spec).toEqual({ shared: 'x', second: true })
  expect((await ask('GET', 'v1/things/a')).body.spec).toEqual({ shared: 'x' })
})

test('an answer to a write has no defaults that its version sets at the decoding of requests only', async () => {
  const defaulted = versionOf('v2', false, { shared: { type: 'string' }, second: { type: 'integer', default: 7 } })
  const { ask } = await serverWith([VERSIONS[0]!, defaulted])
  const { body } = await ask('POST', 'v2/things', 'application/json', thing('v2', { shared: 'x' }))
  expect(body.spec).toEqual({ shared: 'x' })
  expect((await ask('GET', 'v2/things/a')).body.spec).toEqual({ shared: 'x' })
})

test.each([
  ['v1', 'v1', true, { kept: null }],
  ['v1', 'v2', false, {}],
  ['v2', 'v1', false, {}],
  ['v2', 'v2', true, { kept: null }],
])('nulls of an object that %s wrote, in %s', async (written, read, allows, spec) => {
  const of = (nullable: boolean) => ({
    note: { type: 'string', nullable },
    kept: { type: 'string', nullable: true },
  })
  const { ask } = await serverWith([
    versionOf('v1', true, of(written === 'v1')),
    versionOf('v2', false, of(written === 'v2')),
  ])
  await ask('POST', `${written}/things`, 'application/json', thing(written, { note: null, kept: null }))
  const nulls = allows && written === 'v1' ? { note: null } : {}
  expect((await ask('GET', `${read}/things/a`)).body.spec).toEqual({ kept: null, ...spec, ...nulls })
})

test('a manager keeps a null that another version, in which somebody writes, does not show', async () => {
  const note = (nullable: boolean) => ({ note: { type: 'string', nullable } })
  const { ask } = await serverWith([versionOf('v1', true, note(true)), versionOf('v2', false, note(false))])
  await ask('POST', 'v1/things', 'application/json', thing('v1', { note: null }))
  await ask('PATCH', 'v2/things/a', 'application/merge-patch+json', { metadata: { labels: { a: 'b' } } })
  const { body } = await ask('GET', 'v1/things/a')
  expect(
    (body as KubeObject).metadata.managedFields?.map(({ apiVersion, fieldsV1 }) => [apiVersion, fieldsV1]),
  ).toEqual([
    ['example.com/v1', { 'f:spec': { '.': {}, 'f:note': {} } }],
    ['example.com/v2', { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } }],
  ])
})

test.each([
  [true, true],
  [false, false],
])('discovery lists a storage version hash where the stored version is served: %j', async (served, hasHash) => {
  const { ask } = await serverWith([{ ...versionOf('v1', true, {}), served }, versionOf('v2', false, {})])
  const { body } = await ask('GET', 'v2')
  const { resources } = body as { resources: object[] }
  expect(resources.map((resource) => 'storageVersionHash' in resource)).toEqual([hasHash])
})

test.each([
  ['a version that has a status', { status: {} }, 200],
  ['a version without a status', {}, 409],
])('metadata in an applied status, which a manager owns in %s', async (_, subresources, code) => {
  const { ask } = await serverWith([
    { ...versionOf('v1', true, {}), subresources },
    { ...versionOf('v2', false, {}), subresources: { status: {} } },
  ])
  const labelled = (name: string, label: string) => ({
    apiVersion: `example.com/${name}`,
    kind: 'Thing',
    metadata: { name: 'a', labels: { l: label } },
  })
  const APPLY = 'application/apply-patch+yaml'
  await ask('PATCH', 'v1/things/a?fieldManager=one', APPLY, labelled('v1', '1'))
  const path = 'v2/things/a/status?fieldManager=other'
  const answered = await ask('PATCH', path, APPLY, labelled('v2', '2')).catch((error: { code: number }) => error)
  expect(answered.code).toBe(code)
})

test('each apply of a field that is not declared below one that keeps such fields is a change', async () => {
  const { ask } = await serverWith([
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              'x-kubernetes-preserve-unknown-fields': true,
              properties: { closed: { type: 'object', properties: { known: { type: 'string' } } } },
            },
          },
        },
      },
    },
  ])
  const apply = () =>
    ask(
      'PATCH',
      'v1/things/a?fieldManager=m',
      'application/apply-patch+yaml',
      thing('v1', { closed: { known: 'x', other: 'y' }, open: 1 }),
    )
  for (const generation of [1, 2, 3])
    expect((await apply()).body).toMatchObject({
      metadata: { generation },
      spec: { closed: { known: 'x' }, open: 1 },
    })
  const stored = await ask('GET', 'v1/things/a')
  expect(stored.body.spec).toEqual({ closed: { known: 'x' }, open: 1 })
})

// as kube-apiserver 1.36.3 answers
test.each([
  ['a merge patch', 'PATCH', 'application/merge-patch+json', { spec: { c: '1' } }, { 'f:b': {}, 'f:c': {} }],
  [
    'a JSON patch',
    'PATCH',
    'application/json-patch+json',
    [{ op: 'add', path: '/spec/c', value: '1' }],
    { 'f:b': {}, 'f:c': {} },
  ],
  ['a merge patch of nothing', 'PATCH', 'application/merge-patch+json', {}, { 'f:b': {} }],
  ['an apply', 'PATCH', 'application/apply-patch+yaml', thing('v2', { c: '1' }), { 'f:c': {} }],
] as const)('the defaults that its version adds belong to the manager of %s', async (_, method, type, body, owned) => {
  const { ask } = await serverWith([
    versionOf('v1', true, { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } }),
    versionOf('v2', false, { a: { type: 'string' }, b: { type: 'string', default: 'x' }, c: { type: 'string' } }),
  ])
  await ask('POST', 'v1/things?fieldManager=one', 'application/json', thing('v1', { a: '1' }))
  const { body: patched } = await ask(method, 'v2/things/a?fieldManager=two', type, body)
  const { managedFields = [] } = (patched as KubeObject).metadata
  const of = (name: string) => managedFields.find(({ manager }) => manager === name)?.fieldsV1
  expect(of('one')).toEqual({ 'f:spec': { '.': {}, 'f:a': {} } })
  expect(of('two')).toEqual({ 'f:spec': owned })
})
