/**
 * Definitions that use built-in names: every dotted built-in group × (a built-in resource, a new one) × (a served
 * version, a new one). kube-apiserver serves requests for these groups from its built-in resources only.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import type { CustomResourceDefinition } from '../../../src/api/apiextensions/v1.ts'
import { groupResourceText } from '../../../src/api/group-version.ts'
import { definitionOf as builtInDefinition } from '../../../src/registry/definitions.ts'
import { workFor } from '../../../src/registry/work/outbox.ts'
import { apiGroup } from '../../../src/endpoints/discovery/documents.ts'
import { resourceScope } from '../../../src/registry/scope.ts'
import { attributesOf } from '../../../src/authorization/attributes.ts'
import type { Authorized } from '../../../src/authorization/authorized.ts'
import { handlers } from '../../../src/endpoints/handlers.ts'
import { serveResource } from '../../../src/endpoints/serve-resource.ts'
import { serveFixedPath } from '../../../src/endpoints/fixed-paths.ts'
import { collectionOf, customStorageOf } from '../../../src/storage/collections.ts'
import { entryOf } from '../../../src/registry/custom-resources/entries.ts'
import { builtInResources } from '../../../src/registry/served/resources.ts'
import { builtInServed } from '../../../src/registry/served/built-in-served.ts'
import { servedResources } from '../../../src/registry/served/served.ts'
import { memoryServer } from '../../request-in-memory.ts'
import { settingsOf } from '../../../src/settings.ts'

const everything = builtInResources({ runtimeConfig: 'api/all=true', featureGates: 'AllAlpha=true,AllBeta=true' })
// memoryServer has no settings either
const served = builtInServed(memoryServer().env).resources
const kept = everything.resources.filter(({ persisted }) => persisted)
const tenant = { uid: 'tenant' }
const NOT_SERVED = { code: 404, message: 'the server could not find the requested resource' }

function definitionOf(group: string, plural: string, version: string, namespaced = false) {
  const names = { plural, singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    metadata: { name: `${plural}.${group}`, generation: 1, uid: crypto.randomUUID() },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names,
      versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
    },
    status: {
      acceptedNames: names,
      storedVersions: [version],
      conditions: ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' })),
    },
  }
}

const storageOf = async (definition: CustomResourceDefinition) =>
  (await entryOf(definition, definition.spec!.versions![0]!)).storage

interface Case {
  readonly group: string
  readonly resource: string
  readonly version: string
  readonly builtIn: boolean
  readonly namespaced: boolean
}

const cases: Case[] = served.groups
  .filter(({ group }) => group.includes('.'))
  .flatMap(({ group, versions }) => {
    const { version, resources } = versions[0]!
    const known = resources.find(({ persisted }) => persisted) ?? resources[0]!
    return [known.resource, 'widgets'].flatMap((resource) =>
      [version, 'v9'].map((version) => ({
        group,
        resource,
        version,
        namespaced: known.namespaced,
        builtIn: served.find(group, version, resource) !== undefined,
      })),
    )
  })

describe.each(cases)(
  'a definition of $group/$version $resource',
  ({ group, resource, version, builtIn, namespaced }) => {
    const server = memoryServer()
    const definition = definitionOf(group, resource, version, namespaced)
    beforeAll(() => server.put('apiextensions.k8s.io', 'customresourcedefinitions', definition))

    test('leaves the built-in types as they are, and answers nothing itself', async () => {
      const request = server.request('/')
      const all = await servedResources(request)
      for (const entry of served.resources) expect(all.find(entry.group, entry.version, entry.resource)).toBe(entry)
      expect(all.resources).toHaveLength(served.resources.length)
      expect(all.findKind({ group, version, kind: 'Thing' })).toBeUndefined()
      expect(all.find(group, version, resource)).toBe(builtIn ? served.find(group, version, resource) : undefined)
    })

    const collection = `/apis/${group}/${version}${namespaced ? '/namespaces/default' : ''}/${resource}`
    const requests = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) =>
      [collection, `${collection}/a`, `${collection}/a/status`].map((path) => ({ method, path })),
    )
    if (!builtIn)
      test.each(requests)('$method $path is not served', async ({ method, path }) => {
        const request = server.request(path, { method })
        // stands for the result of authorization
        const authorized = attributesOf(request.user, request.info, request.query) as Authorized
        const answered = serveResource(request, authorized, await servedResources(request), handlers)
        await expect(answered).rejects.toMatchObject(NOT_SERVED)
      })

    test('is shown in the document of its group', async () => {
      const request = server.request(`/apis/${group}/${version}`)
      const all = await servedResources(request)
      const versions = apiGroup(all.group(group)!)['versions']
      expect(versions).toContainEqual({ groupVersion: `${group}/${version}`, version })
      const document = async () => serveFixedPath(request, all)
      if (served.isServedGroupVersion(group, version)) expect((await document())?.status).toBe(200)
      else await expect(document()).rejects.toMatchObject(NOT_SERVED)
    })

    test('keeps its objects, makes work for controllers and is deleted apart from built-in ones', async () => {
      const storage = await storageOf(definition)
      const { shard, prefix } = collectionOf(tenant, storage)
      for (const other of kept) {
        const place = collectionOf(tenant, other.storage)
        expect(place.shard).not.toBe(shard)
        expect(place.prefix).not.toBe(prefix)
      }
      const object = { apiVersion: `${group}/${version}`, kind: 'Thing', metadata: { name: 'a', uid: 'u' } }
      const entry = await entryOf(definition, definition.spec.versions[0]!)
      const scope = resourceScope(server.request('/'), entry, { name: 'a', subresource: 'status', namespace: '' })
      expect(scope.collection).toMatchObject({ shard, prefix })
      expect(
        workFor(scope.resource.workRules, { resource: storage, object, now: 0 }, settingsOf(memoryServer().env)),
      ).toEqual([])
    })
  },
)

test('a definition in a group of its own keeps its objects where they have always been', async () => {
  const server = memoryServer()
  for (const [resource, group] of [
    ['widgets', 'example.com'],
    ['httproutes', 'gateway.networking.k8s.io'],
    ['leases', 'example.com'],
    ['widgets', 'storage.k8s.io'],
  ] as const) {
    const storage = await storageOf(definitionOf(group, resource, 'v1'))
    expect(storage).toEqual({ group, resource, version: 'v1' })
    // all earlier releases wrote to this collection
    const old = { tenant: server.tenant.uid, shard: `${resource}.${group}`, prefix: `${resource}.${group}` }
    await server.storage.create(old, 'a', { text: '{"metadata":{"resourceVersion":""}}', at: 32, uid: 'u' })
    const found = await server.storage.get(collectionOf(server.tenant, storage), 'a', 0)
    expect(found).toEqual(await server.storage.get(old, 'a', 0))
    expect(found).toBeDefined()
  }
})

test('every built-in type is kept where no definition can be', () => {
  for (const { storage } of kept) {
    const { prefix } = collectionOf(tenant, storage)
    expect(collectionOf(tenant, customStorageOf(storage)).prefix).not.toBe(prefix)
    expect(groupResourceText(customStorageOf(storage))).not.toBe(groupResourceText(storage))
  }
})

test('a definition is not taken for a built-in type because its resource has the same name', () => {
  const gone = { apiVersion: 'example.com/v1', kind: 'Lease', metadata: { name: 'a', uid: 'u' } }
  const departed = (group: string) =>
    workFor(
      builtInDefinition({ group, resource: 'leases' }),
      { resource: { group, resource: 'leases' }, old: gone, now: 0 },
      settingsOf(memoryServer().env),
    )
  expect(departed('example.com').map(({ topic }) => topic)).toEqual(['departed'])
  expect(departed('coordination.k8s.io')).toEqual([])
})
