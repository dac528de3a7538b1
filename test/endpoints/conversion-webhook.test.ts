/** A CRD whose versions a webhook converts: the reviews that the webhook gets, and requests for which it fails. */
import { describe, expect, test } from 'vitest'
import { paramsOf } from '../../src/admission/policies/params.ts'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'
import { SYSTEM_MASTERS } from '../../src/request/user-info.ts'
import { create } from '../../src/endpoints/verbs/create.ts'
import { deleteCollection, deleteOne } from '../../src/endpoints/verbs/delete.ts'
import { get } from '../../src/endpoints/verbs/get.ts'
import { list } from '../../src/endpoints/verbs/list.ts'
import { patch } from '../../src/endpoints/verbs/patch.ts'
import type { RequestScope } from '../../src/registry/resource-scope.ts'
import { resourceScope } from '../../src/registry/scope.ts'
import { update } from '../../src/endpoints/verbs/update.ts'
import { watch } from '../../src/endpoints/watch/watch.ts'
import { freshServedResources, servedResources } from '../../src/registry/served/served.ts'
import { collectionOf } from '../../src/storage/collections.ts'
import { everything } from '../../src/storage/selectors/selection.ts'
import { storedObject } from '../../src/tenancy/stored-object.ts'
import { memoryServer } from '../request-in-memory.ts'
import type { Called } from '../webhooks/front.ts'
import { frontAnswering, frontFailing, responding } from '../webhooks/front.ts'

const GROUP = 'example.com'
const POST = 'Post "https://convert.example.com/things?timeout=30s": dial tcp 10.0.0.1:443: connect: connection refused'
const unreachable = frontFailing({ code: 'ECONNREFUSED', message: '', address: '10.0.0.1:443' })
const failureOf = (version: string) => ({
  code: 500,
  status: { message: `conversion webhook for example.com/${version}, Kind=Thing failed: ${POST}` },
})
const FROM_V1 = failureOf('v1')
const FROM_V2 = failureOf('v2')

const versions = ['v1', 'v2'].map((name) => ({
  name,
  served: true,
  storage: name === 'v1',
  subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { [name]: { type: 'string' }, replicas: { type: 'integer' } } },
      },
    },
  },
}))
const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
const definition = (strategy: 'None' | 'Webhook', stored = 'v1') => ({
  metadata: { name: `things.${GROUP}`, generation: stored === 'v1' ? 1 : 2, uid: crypto.randomUUID() },
  spec: {
    group: GROUP,
    scope: 'Cluster',
    names,
    versions: versions.map((version) => ({ ...version, storage: version.name === stored })),
    conversion: {
      strategy,
      ...(strategy === 'None'
        ? {}
        : {
            webhook: {
              clientConfig: { url: 'https://convert.example.com/things' },
              conversionReviewVersions: ['v1'],
            },
          }),
    },
  },
  status: {
    acceptedNames: names,
    storedVersions: ['v1'],
    conditions: ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' })),
  },
})

const thing = (version: string, metadata: object = {}) => ({
  apiVersion: `${GROUP}/${version}`,
  kind: 'Thing',
  metadata: { name: 'a', ...metadata },
  spec: { [version]: 'only here' },
})

async function serverWith(strategy: 'None' | 'Webhook', stored = 'v1', webhook = unreachable) {
  const server = memoryServer({ OUTGOING: webhook })
  await server.put('apiextensions.k8s.io', 'customresourcedefinitions', definition(strategy, stored))
  const scopeOf = async (
    version: string,
    target: { method?: string; name?: string; subresource?: string; query?: string; body?: object; type?: string } = {},
  ): Promise<RequestScope> => {
    const { method = 'GET', name = '', subresource = '', query = '', body, type = 'application/json' } = target
    const path = ['', 'apis', GROUP, version, 'things', name, subresource].filter((part, i) => i === 0 || part !== '')
    const request = server.request(`${path.join('/')}${query}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': type } }),
    })
    const entry = (await servedResources(request)).find(GROUP, version, 'things')!
    const asAdmin = { ...request, user: { ...request.user, groups: [SYSTEM_MASTERS] } }
    return { ...resourceScope(asAdmin, entry, { name, subresource, namespace: '' }), storage: server.storage }
  }
  const put = (object: object) => server.put(GROUP, 'things', object as Parameters<typeof server.put>[2]) // a Thing, as stored
  const storedTexts = async () => {
    const { collection } = await scopeOf('v1')
    const { values } = await server.storage.list(collection, { selection: everything, at: { kind: 'latest' } })
    return (await new Response(values).text()).trim().split('\n').filter(Boolean)
  }
  /** Stores the next generation of the definition, and waits until this isolate has read it. */
  const changeDefinition = async () => {
    const [resource, name] = [
      { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
      `things.${GROUP}`,
    ]
    const collection = collectionOf(server.tenant, resource)
    const { revision } = (await server.storage.get(collection, name))!
    const before = (await storedObject<KubeObject & JsonObject>(server.request('/'), resource, name))!
    await server.storage.delete(collection, name, { text: '{}', at: 0, uid: before.metadata.uid! }, revision)
    const { resourceVersion: _, ...metadata } = before.metadata
    const next = { ...before, metadata: { ...metadata, generation: 2 } } as unknown as KubeObject & JsonObject // made of one
    await server.put(resource.group, resource.resource, next)
    await freshServedResources(server.request('/'))
  }
  return { scopeOf, put, stored: storedTexts, changeDefinition }
}

const MERGE = 'application/merge-patch+json'
const APPLY = 'application/apply-patch+yaml'
const labelled = { metadata: { labels: { a: 'b' } } }
const replaced = async ({ scopeOf }: { scopeOf: (version: string) => Promise<RequestScope> }) => {
  const { storage, collection } = await scopeOf('v1')
  return thing('v2', { resourceVersion: String((await storage.get(collection, 'a'))!.revision) })
}

type Server = Awaited<ReturnType<typeof serverWith>>

/** Requests in v2 of an object that is stored in v1. */
const requests: [string, (server: Server) => Promise<Response>][] = [
  ['get', async ({ scopeOf }) => get(await scopeOf('v2', { name: 'a' }))],
  ['get of its status', async ({ scopeOf }) => get(await scopeOf('v2', { name: 'a', subresource: 'status' }))],
  ['get of its scale', async ({ scopeOf }) => get(await scopeOf('v2', { name: 'a', subresource: 'scale' }))],
  ...['', '?limit=5', '?resourceVersion=0'].map((query): [string, (server: Server) => Promise<Response>] => [
    `list ${query}`,
    async ({ scopeOf }) => list(await scopeOf('v2', { query })),
  ]),
  [
    'update',
    async (server) => update(await server.scopeOf('v2', { method: 'PUT', name: 'a', body: await replaced(server) })),
  ],
  [
    'merge patch',
    async ({ scopeOf }) => patch(await scopeOf('v2', { method: 'PATCH', name: 'a', body: labelled, type: MERGE })),
  ],
  [
    'merge patch of its status',
    async ({ scopeOf }) =>
      patch(await scopeOf('v2', { method: 'PATCH', name: 'a', subresource: 'status', body: labelled, type: MERGE })),
  ],
  [
    'update of its scale',
    async ({ scopeOf }) => {
      const scale = { metadata: { name: 'a' }, spec: { replicas: 2 } }
      return update(await scopeOf('v2', { method: 'PUT', name: 'a', subresource: 'scale', body: scale }))
    },
  ],
  [
    'apply',
    async ({ scopeOf }) =>
      patch(
        await scopeOf('v2', { method: 'PATCH', name: 'a', query: '?fieldManager=m', body: thing('v2'), type: APPLY }),
      ),
  ],
  ['delete', async ({ scopeOf }) => deleteOne(await scopeOf('v2', { method: 'DELETE', name: 'a' }))],
  ['deletecollection', async ({ scopeOf }) => deleteCollection(await scopeOf('v2', { method: 'DELETE' }))],
]

describe('a request in v2 of an object that is stored in v1', () => {
  test.each(requests)('%s fails and changes nothing', async (_, send) => {
    const server = await serverWith('Webhook')
    await server.put(thing('v1'))
    const before = await server.stored()
    await expect(send(server)).rejects.toMatchObject(FROM_V1)
    expect(await server.stored()).toEqual(before)
  })

  test('a Table fails, whatever it includes', async () => {
    const server = await serverWith('Webhook')
    await server.put(thing('v1'))
    for (const includeObject of ['None', 'Metadata', 'Object']) {
      const scope = await server.scopeOf('v2', { name: 'a', query: `?includeObject=${includeObject}` })
      const headers = Object.assign(Object.create(scope.request.headers) as typeof scope.request.headers, {
        get: (name: string) =>
          name.toLowerCase() === 'accept' ? 'application/json;as=Table;v=v1;g=meta.k8s.io' : null,
      })
      await expect(get({ ...scope, request: { ...scope.request, headers } })).rejects.toMatchObject(FROM_V1)
    }
  })

  test('a get of a large object has its room before the webhook is asked', async () => {
    const steps: string[] = []
    const { binding } = frontAnswering(({ review }: Called) => {
      steps.push('webhook')
      const convertedObjects = review.request.objects.map((object: object) => ({
        ...object,
        apiVersion: `${GROUP}/v2`,
      }))
      return responding({ result: { status: 'Success' }, convertedObjects })({ review } as Called)
    })
    const server = await serverWith('Webhook', 'v1', binding)
    await server.put(thing('v1', { annotations: { large: 'x'.repeat(100_000) } }))
    const scope = await server.scopeOf('v2', { name: 'a' })
    const takeRoom = async () => void steps.push('room')
    expect((await get({ ...scope, request: { ...scope.request, takeRoom } })).status).toBe(200)
    expect(steps).toEqual(['room', 'webhook'])
  })

  const watched = async (server: Server, query: string) => {
    const scope = await server.scopeOf('v2', { query: `?watch=true&allowWatchBookmarks=true&timeoutSeconds=1${query}` })
    const lines = (await (await watch(scope)).text()).split('\n').filter((line) => line !== '')
    return lines.map((line) => JSON.parse(line) as { type: string; object: object })
  }

  test.each(['', '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'])(
    'a watch of what is there now tells that it is not so far, and ends: %s',
    async (query) => {
      const server = await serverWith('Webhook')
      await server.put(thing('v1'))
      expect(await watched(server, query)).toEqual([
        {
          type: 'ERROR',
          object: expect.objectContaining({
            message: expect.stringMatching(/^Timeout: Too large resource version: \d+, current: \d+$/),
            reason: 'Timeout',
            code: 504,
          }),
        },
      ])
    },
  )

  test('a watch from a resourceVersion sends neither the event that fails to convert nor later ones', async () => {
    const server = await serverWith('Webhook')
    const { storage, collection } = await server.scopeOf('v2')
    const revision = await storage.revision(collection)
    await server.put(thing('v1'))
    await server.put(thing('v2', { name: 'b' }))
    expect(await watched(server, `&resourceVersion=${revision}`)).toEqual([])
    expect(await watched(server, '&resourceVersion=0')).toEqual([])
  })
})

test.each<[string, object]>([
  ['a create', { method: 'POST', body: thing('v2') }],
  ['an apply that creates', { method: 'PATCH', name: 'a', query: '?fieldManager=m', body: thing('v2'), type: APPLY }],
])('%s in v2 fails where v1 is stored', async (_, target) => {
  const server = await serverWith('Webhook')
  const scope = await server.scopeOf('v2', target)
  await expect(scope.place.name === '' ? create(scope) : patch(scope)).rejects.toMatchObject(FROM_V2)
  expect(await server.stored()).toEqual([])
})

test('the stored version is read and written, and loses nothing', async () => {
  const server = await serverWith('Webhook')
  await server.put(thing('v1'))
  const body = labelled
  const answer = await patch(await server.scopeOf('v1', { method: 'PATCH', name: 'a', body, type: MERGE }))
  expect(await answer.json()).toMatchObject({ metadata: { labels: { a: 'b' } }, spec: { v1: 'only here' } })
  expect(await (await get(await server.scopeOf('v1', { name: 'a' }))).json()).toMatchObject({
    spec: { v1: 'only here' },
  })
})

describe('once v2 is stored', () => {
  const setup = async () => {
    const server = await serverWith('Webhook', 'v2')
    await server.put(thing('v1'))
    return server
  }

  test('an object that was written in v1 is still read in v1', async () => {
    const { scopeOf } = await setup()
    expect(await (await get(await scopeOf('v1', { name: 'a' }))).json()).toMatchObject(thing('v1'))
    const scope = await scopeOf('v1')
    const { items } = (await (await list(scope)).json()) as { items: KubeObject[] }
    expect(items).toMatchObject([thing('v1')])
  })

  test.each<[string, (server: Server) => Promise<unknown>]>([
    ['read in v2', async ({ scopeOf }) => get(await scopeOf('v2', { name: 'a' }))],
    [
      'patched in v1',
      async ({ scopeOf }) => patch(await scopeOf('v1', { method: 'PATCH', name: 'a', body: labelled, type: MERGE })),
    ],
    ['deleted in v1', async ({ scopeOf }) => deleteOne(await scopeOf('v1', { method: 'DELETE', name: 'a' }))],
  ])('it is not %s', async (_, send) => {
    const server = await setup()
    const before = await server.stored()
    await expect(send(server)).rejects.toMatchObject(FROM_V1)
    expect(await server.stored()).toEqual(before)
  })
})

test('without a webhook versions differ in their name', async () => {
  const server = await serverWith('None')
  await server.put(thing('v1'))
  const response = await get(await server.scopeOf('v2', { name: 'a' }))
  expect(await response.json()).toMatchObject({ apiVersion: 'example.com/v2', spec: {} })
})

/** A webhook that renames `spec.v1` to `spec.v2` and back. */
function swapping({ review }: Called, change: (object: any) => object = (object) => object) {
  const { uid, desiredAPIVersion, objects } = review.request
  const to = desiredAPIVersion.split('/')[1] as string
  const convertedObjects = objects.map((object: any) => {
    const from = object.apiVersion.split('/')[1] as string
    if (object.spec === undefined) return change({ ...object, apiVersion: desiredAPIVersion })
    const { [from]: text, ...spec } = object.spec
    return change({ ...object, apiVersion: desiredAPIVersion, spec: { ...spec, [to]: text } })
  })
  return { ...review, response: { uid, result: { status: 'Success' }, convertedObjects } }
}

async function serverConverting(stored = 'v1', change?: (object: any) => object) {
  const front = frontAnswering((called) => swapping(called, change))
  return { ...(await serverWith('Webhook', stored, front.binding)), calls: front.calls }
}
const shown = (version: string) => ({ apiVersion: `${GROUP}/${version}`, spec: { [version]: 'only here' } })
const json = async (response: Promise<Response>) => (await response).json() as Promise<any>

const written = async (scope: RequestScope): Promise<unknown> => {
  const { method } = scope.request
  return (await json((method === 'POST' ? create : patch)(scope))).spec
}

describe('a webhook that converts', () => {
  test('is sent the object without its version, and asked once for a revision', async () => {
    const { scopeOf, put, calls } = await serverConverting()
    await put(thing('v1', { uid: 'u' }))
    for (let count = 0; count < 2; count++)
      expect(await json(get(await scopeOf('v2', { name: 'a' })))).toMatchObject(shown('v2'))
    expect(calls).toHaveLength(1)
    expect(calls[0]?.call.url).toBe('https://convert.example.com/things?timeout=30s')
    expect(calls[0]?.review).toEqual({
      kind: 'ConversionReview',
      apiVersion: 'apiextensions.k8s.io/v1',
      request: { uid: expect.any(String), desiredAPIVersion: 'example.com/v2', objects: [thing('v1', { uid: 'u' })] },
      response: { uid: '', convertedObjects: null, result: { metadata: {} } },
    })
  })

  /** Does not keep zero replicas in v1, as a type in Go with `omitempty`. */
  const withoutZero = ({ spec: { replicas, ...spec } = {}, ...object }: any) =>
    object.apiVersion === `${GROUP}/v1` && replicas === 0
      ? { ...object, spec }
      : { ...object, spec: { replicas, ...spec } }

  test.each<[string, object, { method: string; name?: string; query?: string; type?: string }]>([
    ['create', { ...thing('v2'), spec: { v2: 'x', replicas: 0 } }, { method: 'POST' }],
    [
      'apply that creates',
      { ...thing('v2'), spec: { v2: 'x', replicas: 0 } },
      { method: 'PATCH', name: 'a', query: '&fieldManager=m', type: APPLY },
    ],
  ])('a dry run of a %s answers what would be read back', async (_, body, { query = '', ...target }) => {
    const server = await serverConverting('v1', withoutZero)
    const answers = []
    for (const dryRun of ['?dryRun=All', '?'])
      answers.push(await written(await server.scopeOf('v2', { ...target, body, query: dryRun + query })))
    expect(answers).toEqual([{ v2: 'x' }, { v2: 'x' }])
  })

  test.each<[string, object, { method: string; query?: string; type?: string }]>([
    ['merge patch', { spec: { v2: 'y', replicas: 0 } }, { method: 'PATCH', type: MERGE }],
    [
      'apply',
      { ...thing('v2'), spec: { v2: 'y', replicas: 0 } },
      { method: 'PATCH', query: '&fieldManager=m&force=true', type: APPLY },
    ],
  ])('a dry run of another %s answers what would be read back', async (_, body, { query = '', ...target }) => {
    const server = await serverConverting('v1', withoutZero)
    await server.put(thing('v1', { uid: 'u' }))
    const answers = []
    for (const dryRun of ['?dryRun=All', '?'])
      answers.push(await written(await server.scopeOf('v2', { ...target, name: 'a', body, query: dryRun + query })))
    expect(answers).toEqual([{ v2: 'y' }, { v2: 'y' }])
  })

  test('is asked anew once the definition is another', async () => {
    let says = 'before'
    const { scopeOf, put, calls, changeDefinition } = await serverConverting('v1', (object) => ({
      ...object,
      spec: { v2: says },
    }))
    await put(thing('v1', { uid: 'u' }))
    const read = async () => (await json(get(await scopeOf('v2', { name: 'a' })))).spec
    expect(await read()).toEqual({ v2: 'before' })
    says = 'after'
    expect(await read()).toEqual({ v2: 'before' })
    await changeDefinition()
    expect(await read()).toEqual({ v2: 'after' })
    expect(calls).toHaveLength(2)
  })

  test('converts the parameters of policies, which have none where it fails', async () => {
    const paramsIn = async ({ scopeOf, put }: Pick<Server, 'scopeOf' | 'put'>, version: string) => {
      await put(thing('v1', { uid: 'u' }))
      const { request, resource } = await scopeOf(version)
      return paramsOf(request, resource.entry, { name: 'a' }, '')
    }
    expect(await paramsIn(await serverConverting(), 'v2')).toMatchObject([shown('v2')])
    expect(await paramsIn(await serverConverting(), 'v1')).toMatchObject([shown('v1')])
    await expect(paramsIn(await serverWith('Webhook'), 'v2')).rejects.toMatchObject(FROM_V1)
    expect(await paramsIn(await serverWith('Webhook'), 'v1')).toMatchObject([shown('v1')])
  })

  test('is asked once for the objects of a list', async () => {
    const { scopeOf, put, calls } = await serverConverting()
    for (const name of ['a', 'b', 'c']) await put(thing('v1', { name }))
    const scope = await scopeOf('v2')
    const { items } = await json(list(scope))
    expect(items).toMatchObject([shown('v2'), shown('v2'), shown('v2')])
    expect(calls.map(({ review }) => review.request.objects.length)).toEqual([3])
  })

  test('is not asked for a large object before the memory has room for it', async () => {
    const { scopeOf, put, calls } = await serverConverting()
    await put(thing('v1', { annotations: { text: 'x'.repeat(100_000) } }))
    const scope = await scopeOf('v2', { name: 'a' })
    let asked: number | undefined
    scope.request.takeRoom = async () => void (asked ??= calls.length)
    expect(await json(get(scope))).toMatchObject(shown('v2'))
    expect([asked, calls.length]).toEqual([0, 1])
  })

  test('is not asked about objects that have the requested version already', async () => {
    const { scopeOf, put, calls } = await serverConverting()
    await put(thing('v1'))
    expect(await json(get(await scopeOf('v1', { name: 'a' })))).toMatchObject(shown('v1'))
    expect(calls).toEqual([])
  })

  test('converts what is written into the version that is stored', async () => {
    const { scopeOf, stored } = await serverConverting()
    expect(await json(create(await scopeOf('v2', { method: 'POST', body: thing('v2') })))).toMatchObject(shown('v2'))
    expect((await stored()).map((text) => JSON.parse(text) as object)).toMatchObject([shown('v1')])
  })

  test('loses nothing where a patch comes in another version', async () => {
    const { scopeOf, put, stored } = await serverConverting()
    await put(thing('v1'))
    const target = { method: 'PATCH', name: 'a', body: labelled, type: MERGE }
    expect(await json(patch(await scopeOf('v2', target)))).toMatchObject({ ...shown('v2'), ...labelled })
    expect((await stored()).map((text) => JSON.parse(text) as object)).toMatchObject([{ ...shown('v1'), ...labelled }])
  })

  test('leaves the fields of managers of another version to them', async () => {
    const { scopeOf } = await serverConverting()
    await create(await scopeOf('v1', { method: 'POST', body: thing('v1'), query: '?fieldManager=first' }))
    const more = { method: 'PATCH', name: 'a', body: labelled, type: MERGE, query: '?fieldManager=second' }
    const patched = await json(patch(await scopeOf('v2', more)))
    const owners = (patched.metadata.managedFields as any[]).map(({ manager, apiVersion, fieldsV1 }) => [
      manager,
      apiVersion,
      Object.keys(fieldsV1),
    ])
    expect(owners).toEqual([
      ['first', 'example.com/v1', ['f:spec']],
      ['second', 'example.com/v2', ['f:metadata']],
    ])
    // a field that both versions have changes its owner
    const replicas = { ...more, body: { spec: { replicas: 3 } } }
    expect((await json(patch(await scopeOf('v2', replicas)))).spec).toMatchObject({ replicas: 3 })
    const other = { ...more, query: '?fieldManager=third', body: { spec: { replicas: 4 } } }
    const { metadata } = await json(patch(await scopeOf('v1', other)))
    const ownerOfReplicas = metadata.managedFields.filter((one: any) => one.fieldsV1['f:spec']?.['f:replicas'])
    expect(ownerOfReplicas).toMatchObject([{ manager: 'third', apiVersion: 'example.com/v1' }])
  })

  test('is asked for what the schema of the written version leaves of an object', async () => {
    const { scopeOf, put, calls } = await serverConverting()
    await put({ ...thing('v1'), spec: { v1: 'only here', unknown: true } })
    await get(await scopeOf('v2', { name: 'a' }))
    expect(calls[0]?.review.request.objects[0].spec).toEqual({ v1: 'only here' })
  })

  test('converts the events of a watch', async () => {
    const { scopeOf, put } = await serverConverting()
    await put(thing('v1'))
    const scope = await scopeOf('v2', { query: '?watch=true&timeoutSeconds=1' })
    const events = (await (await watch(scope)).text()).trim().split('\n')
    expect(events.map((line) => JSON.parse(line) as object)).toMatchObject([{ type: 'ADDED', object: shown('v2') }])
  })

  test('deletes, and answers in the version of the request', async () => {
    const { scopeOf, put, stored } = await serverConverting('v2')
    await put(thing('v1', { uid: 'u' }))
    await deleteOne(await scopeOf('v2', { method: 'DELETE', name: 'a' }))
    expect(await stored()).toEqual([])
  })

  test.each(['v1', 'v2'])(
    'marks what has finalizers, and answers in the version of the request: %s',
    async (version) => {
      const { scopeOf, put, stored } = await serverConverting('v1')
      await put(thing('v1', { uid: 'u', finalizers: ['example.com/keep'] }))
      const waiting = { ...shown(version), metadata: { deletionTimestamp: expect.any(String) } }
      for (let time = 1; time <= 2; time++)
        expect(await json(deleteOne(await scopeOf(version, { method: 'DELETE', name: 'a' })))).toMatchObject(waiting)
      expect(await json(get(await scopeOf(version, { name: 'a' })))).toMatchObject(waiting)
      expect((await stored()).map((text) => JSON.parse(text) as object)).toMatchObject([shown('v1')])
    },
  )

  test.each(requests)(
    'answers a %s in the version of the request, whether something keeps the object or not',
    async (_, send) => {
      for (const finalizers of [[], ['example.com/keep']]) {
        const server = await serverConverting('v1')
        const { spec, ...rest } = thing('v1', { uid: 'u', finalizers })
        await server.put({ ...rest, spec: { ...spec, replicas: 1 } })
        const { status, body } = await send(server).then(async (response) => ({
          status: response.status,
          body: (await response.json()) as any,
        }))
        expect(status).toBe(200)
        const objects = (body.items ?? [body]) as { kind?: string; apiVersion: string; spec: object }[]
        for (const { kind = 'Thing', apiVersion, spec } of objects)
          if (kind === 'Thing') expect({ apiVersion, spec }).toMatchObject(shown('v2'))
          else expect(['Scale', 'Status']).toContain(kind)
      }
    },
  )

  test('may change labels and annotations, and nothing else of the metadata', async () => {
    const change = (object: any) => ({
      ...object,
      metadata: { ...object.metadata, labels: { by: 'webhook' }, finalizers: ['sneaked/in'] },
    })
    const { scopeOf, put } = await serverConverting('v1', change)
    await put(thing('v1', { labels: { a: 'b' }, annotations: { c: 'd' } }))
    const { metadata } = await json(get(await scopeOf('v2', { name: 'a' })))
    expect(metadata).toMatchObject({ labels: { by: 'webhook' }, annotations: { c: 'd' } })
    expect(metadata.finalizers).toBeUndefined()
  })
})

describe('an answer that cannot be used', () => {
  const metadata = (more: object) => (object: any) => ({ ...object, metadata: { ...object.metadata, ...more } })
  test.each<[string, (object: any) => object, string]>([
    [
      'of another version',
      (object) => ({ ...object, apiVersion: 'example.com/v3' }),
      'returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v3)',
    ],
    [
      'of another kind',
      (object) => ({ ...object, kind: 'Other' }),
      'returned invalid object at index 0: invalid kind (expected Thing, received Other)',
    ],
    ['of another name', metadata({ name: 'b' }), 'returned invalid object: must have the same name: a != b'],
    ['of another UID', metadata({ uid: 'x' }), 'returned invalid object: must have the same UID: u != x'],
    [
      'without metadata',
      ({ metadata: _, ...object }) => object,
      'returned invalid object: must have the same name: a != ',
    ],
    [
      'with labels of another type',
      metadata({ labels: { a: 1 } }),
      'returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object',
    ],
    [
      'with labels that are none',
      metadata({ labels: { 'bad key': '' } }),
      'returned invalid metadata: metadata.labels: Invalid value: "bad key"',
    ],
  ])('%s fails the request', async (_, change, why) => {
    const { scopeOf, put } = await serverConverting('v1', change)
    await put(thing('v1', { uid: 'u' }))
    await expect(get(await scopeOf('v2', { name: 'a' }))).rejects.toMatchObject({
      code: 500,
      message: expect.stringContaining(`conversion webhook for example.com/v1, Kind=Thing ${why}`),
    })
  })

  test.each<[string, object, string]>([
    ['without a response', { response: undefined }, 'failed: no response provided'],
    ['for another request', { response: { uid: 'x' } }, 'failed: expected response.uid='],
    [
      'of fewer objects',
      { response: { result: { status: 'Success' }, convertedObjects: [] } },
      'returned 0 objects, expected 1',
    ],
    ['that failed', { response: { result: { status: 'Failed', message: 'because' } } }, 'failed: because'],
    ['that does not say so', { response: { result: {} } }, "failed: response.result.status was '', not 'Success'"],
  ])('%s fails the request', async (_, more: any, why) => {
    const front = frontAnswering(({ review }) => ({
      ...review,
      ...more,
      ...(more.response && { response: { uid: review.request.uid, ...more.response } }),
    }))
    const { scopeOf, put } = await serverWith('Webhook', 'v1', front.binding)
    await put(thing('v1'))
    await expect(get(await scopeOf('v2', { name: 'a' }))).rejects.toMatchObject({
      code: 500,
      message: expect.stringContaining(`conversion webhook for example.com/v1, Kind=Thing ${why}`),
    })
  })
})

describe('managers of other versions', () => {
  const ifConverting: Record<string, () => Promise<Server>> = {
    None: () => serverWith('None'),
    Webhook: () => serverConverting(),
  }
  const apply = async ({ scopeOf }: Server, version: string, spec: object, manager: string, metadata: object = {}) => {
    const body = { apiVersion: `${GROUP}/${version}`, kind: 'Thing', metadata: { name: 'a', ...metadata }, spec }
    return json(
      patch(
        await scopeOf(version, { method: 'PATCH', name: 'a', query: `?fieldManager=${manager}`, body, type: APPLY }),
      ),
    )
  }
  const merge = async ({ scopeOf }: Server, version: string, body: object, manager: string) => {
    const query = `?fieldManager=${manager}`
    return json(patch(await scopeOf(version, { method: 'PATCH', name: 'a', query, body, type: MERGE })))
  }
  const storedSpec = async ({ stored }: Server) => (JSON.parse((await stored())[0]!) as { spec: object }).spec
  const ownersIn = ({ metadata }: any) =>
    ((metadata.managedFields ?? []) as any[]).map(({ manager, apiVersion, fieldsV1 }) => [
      manager,
      parseVersion(apiVersion),
      Object.keys(fieldsV1['f:spec'] ?? {}),
    ])
  const parseVersion = (apiVersion: string) => apiVersion.split('/')[1]

  describe('without a webhook', () => {
    const UNDECLARED = '.spec.v2: field not declared in schema'

    test('an apply is refused that the version of the last one cannot hold', async () => {
      const server = await serverWith('None')
      await apply(server, 'v1', { v1: 'x', replicas: 1 }, 'm')
      const message = `failed to prune fields: failed to convert merged object to last applied version: ${UNDECLARED}`
      await expect(apply(server, 'v2', { v2: 'y' }, 'm')).rejects.toMatchObject({ code: 500, status: { message } })
      expect(await storedSpec(server)).toEqual({ v1: 'x', replicas: 1 })
    })

    test('and one that the version of another manager cannot hold', async () => {
      const server = await serverWith('None')
      await apply(server, 'v1', { v1: 'x' }, 'm')
      await apply(server, 'v2', { replicas: 1 }, 'n')
      const message = `failed to prune fields: failed add back owned items: failed to convert merged object at version example.com/v1: ${UNDECLARED}`
      await expect(apply(server, 'v2', { v2: 'y' }, 'n')).rejects.toMatchObject({ code: 500, status: { message } })
      // the first apply of a manager has nothing to prune
      const compared = `failed to convert new object: ${UNDECLARED}`
      await expect(apply(server, 'v2', { v2: 'y' }, 'o')).rejects.toMatchObject({ status: { message: compared } })
    })

    test('another write goes on, and the object loses its managers', async () => {
      const server = await serverWith('None')
      await apply(server, 'v1', { v1: 'x' }, 'm')
      expect(ownersIn(await merge(server, 'v2', { spec: { v2: 'y' } }, 'n'))).toEqual([])
    })
  })

  describe('with a webhook', () => {
    test('an apply keeps what it applies, and removes what its manager applied in another version', async () => {
      const server = await serverConverting()
      await apply(server, 'v1', { v1: 'x', replicas: 1 }, 'm')
      const applied = await apply(server, 'v2', { v2: 'x' }, 'm')
      expect(applied.spec).toEqual({ v2: 'x' })
      expect(ownersIn(applied)).toEqual([['m', 'v2', ['f:v2']]])
      expect(await storedSpec(server)).toEqual({ v1: 'x' })
    })

    test('what another manager owns in its version stays', async () => {
      const server = await serverConverting()
      await apply(server, 'v1', { v1: 'x', replicas: 1 }, 'm')
      await apply(server, 'v2', { v2: 'x' }, 'n')
      const applied = await apply(server, 'v2', { replicas: 1 }, 'm')
      expect(applied.spec).toEqual({ v2: 'x', replicas: 1 })
      expect(ownersIn(applied).sort()).toEqual([
        ['m', 'v2', ['f:replicas']],
        ['n', 'v2', ['f:v2']],
      ])
    })

    test('labels may come and go with an apply in another version', async () => {
      // as one in Go: its objects always have metadata, and those of an apply lack it while it prunes
      const server = await serverConverting('v1', (object) => ({ metadata: {}, ...object }))
      await apply(server, 'v1', { v1: 'x', replicas: 1 }, 'm', { labels: { a: 'm', gone: 'm' } })
      await apply(server, 'v2', { v2: 'x' }, 'n', { labels: { n: 'n' } })
      const applied = await apply(server, 'v2', { replicas: 1 }, 'm', { labels: { a: 'm' } })
      expect(applied.metadata).toMatchObject({ name: 'a', labels: { a: 'm', n: 'n' }, uid: expect.any(String) })
      expect(applied.metadata.labels).not.toHaveProperty('gone')
      expect(applied.spec).toEqual({ v2: 'x', replicas: 1 })
      expect(server.calls.some(({ review }) => 'metadata' in review.request.objects[0])).toBe(true)
      expect(server.calls.some(({ review }) => !('metadata' in review.request.objects[0]))).toBe(true)
    })

    test('so do large objects, whose comparison gives other requests their turn', async () => {
      const server = await serverConverting()
      const long = 'x'.repeat(100_000)
      await apply(server, 'v1', { v1: long, replicas: 1 }, 'm')
      const applied = await apply(server, 'v2', { v2: long }, 'm')
      expect(applied.spec).toEqual({ v2: long })
      expect(ownersIn(await merge(server, 'v1', { spec: { v1: `${long}y` } }, 'n'))).toEqual([['n', 'v1', ['f:v1']]])
      expect(await storedSpec(server)).toEqual({ v1: `${long}y` })
    })

    test('a conflict has the name of the field in the version of its owner', async () => {
      const server = await serverConverting()
      await apply(server, 'v1', { v1: 'x' }, 'm')
      const conflict = apply(server, 'v2', { v2: 'y' }, 'n')
      await expect(conflict).rejects.toMatchObject({
        code: 409,
        status: { message: 'Apply failed with 1 conflict: conflict with "m": .spec.v1' },
      })
    })

    test('an update takes the fields that it changes from managers of other versions', async () => {
      const server = await serverConverting()
      await apply(server, 'v1', { v1: 'x', replicas: 1 }, 'm')
      expect(ownersIn(await merge(server, 'v2', { spec: { v2: 'y' } }, 'n'))).toEqual([
        ['m', 'v1', ['f:replicas']],
        ['n', 'v2', ['f:v2']],
      ])
    })

    test('that fails: an apply fails, an update loses the managers', async () => {
      const failing = { now: false }
      const server = await serverConverting('v2', (object) => {
        // the object that is written is converted to v1 for its managers alone
        const isBroken = failing.now && object.apiVersion === 'example.com/v1'
        return isBroken ? { ...object, metadata: { ...object.metadata, name: 'other' } } : object
      })
      await apply(server, 'v1', { v1: 'x' }, 'm')
      failing.now = true
      await expect(apply(server, 'v2', { v2: 'x' }, 'n')).rejects.toMatchObject({ code: 500 })
      expect(ownersIn(await merge(server, 'v2', { spec: { v2: 'y' } }, 'n'))).toEqual([])
    })
  })

  test.each(Object.entries(ifConverting))('a version that the definition has no more: %s', async (_, start) => {
    for (const [apiVersion, message] of [
      ['example.com/v0', 'request to convert CR to an invalid group/version: example.com/v0'],
      ['o.io/v1', 'example.com/v1, Kind=Thing is unstructured and is not suitable for converting to "o.io/v1"'],
    ]) {
      const server = await start()
      const entry = {
        manager: 'm',
        operation: 'Update',
        apiVersion,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': {} },
      }
      await server.put({ ...thing('v1', { uid: 'u' }), metadata: { name: 'a', uid: 'u', managedFields: [entry] } })
      await expect(apply(server, 'v1', { v1: 'x' }, 'n')).rejects.toMatchObject({ code: 500, status: { message } })
      expect(ownersIn(await merge(server, 'v1', { spec: { replicas: 2 } }, 'n'))).toEqual([])
    }
  })
})
