import { turnOfOthers } from '../../../src/base/slices.ts'
import { afterEach, expect, test, vi } from 'vitest'
import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from '../../../src/api/apiextensions/v1.ts'
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import type { ControllerContext } from '../../../src/controllers/controller.ts'
import { API_SERVER } from '../../../src/request/user-info.ts'
import { serverClients } from '../../../src/controllers/client/clientset.ts'
import { crdNamesController } from '../../../src/controllers/definitions/names.ts'
import { Turns } from '../../../src/controllers/work/turns.ts'
import { conditionOf, DEFINITIONS } from '../../../src/registry/custom-resources/definition.ts'
import { servedResources } from '../../../src/registry/served/served.ts'
import { freshControlSnapshot } from '../../../src/tenancy/control-snapshot.ts'
import type { MemoryServer } from '../../request-in-memory.ts'
import { memoryServer } from '../../request-in-memory.ts'

const definition = (plural: string, group: string, kind: string) =>
  ({
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: `${plural}.${group}`, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      group,
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  }) as unknown as KubeObject & JsonObject

async function contextOf(server: MemoryServer): Promise<ControllerContext> {
  const turns = new Turns()
  return {
    env: server.env,
    tenant: server.tenant,
    served: await servedResources(server.request('/')),
    freshServed: () => servedResources(server),
    watchedKinds: { has: () => false, forgetOthers: () => {} },
    sightings: { get: () => undefined, set: () => {} },
    absentOwners: { has: () => false, add: () => {} },
    now: () => server.now,
    dependentsOf: () => [],
    addDependents: () => {},
    forgetDependents: () => {},
    alone: (name, work) => turns.run(name, work),
    room: { take: () => {}, leave: () => {} },
    budget: { room: async () => {}, turn: turnOfOthers },
    once: (_, read) => read(),
    together: [],
    overdue: new Promise(() => {}),
    later: () => {},
    user: API_SERVER,
    waitUntil: () => {},
  }
}

async function conditions(server: MemoryServer, name: string) {
  const snapshot = await freshControlSnapshot(server)
  const found = snapshot.get<KubeObject & CustomResourceDefinition>(DEFINITIONS, name)!
  return ['NamesAccepted', 'Established'].map((type) => conditionOf(found, type)?.status)
}

afterEach(() => {
  vi.restoreAllMocks()
})

test('of two that want a kind at the same time one gets it', async () => {
  const server = memoryServer()
  for (const plural of ['as', 'bs', 'cs'])
    await server.put(DEFINITIONS.group, DEFINITIONS.resource, definition(plural, 'example.com', 'Same'))
  const context = await contextOf(server)
  const names = ['as.example.com', 'bs.example.com', 'cs.example.com']
  await Promise.all(names.map((name) => crdNamesController.reconcile(name, context)))
  const found = await Promise.all(names.map((name) => conditions(server, name)))
  expect(found.sort()).toEqual([
    ['False', 'False'],
    ['False', 'False'],
    ['True', 'True'],
  ])
})

test('the work for one does not grow with the number of definitions of other groups', async () => {
  const counts: number[] = []
  for (const others of [10, 300]) {
    const server = memoryServer()
    for (let n = 0; n < others; n++)
      await server.put(DEFINITIONS.group, DEFINITIONS.resource, definition(`others${n}`, `g${n}.example.com`, `O${n}`))
    const context = await contextOf(server)
    await server.put(DEFINITIONS.group, DEFINITIONS.resource, definition('as', 'example.com', 'A'))
    const parse = vi.spyOn(JSON, 'parse')
    await crdNamesController.reconcile('as.example.com', context)
    counts.push(parse.mock.calls.length)
    parse.mockRestore()
    expect(await conditions(server, 'as.example.com')).toEqual(['True', 'True'])
  }
  expect(counts[1]).toBe(counts[0])
})

test.each<[string, CustomResourceDefinitionStatus['acceptedNames']]>([
  ['other names', { plural: 'things', kind: 'Other' }],
  ['the names', { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }],
])('%s without conditions become accepted ones', async (_, acceptedNames) => {
  const server = memoryServer()
  const wanted = definition('things', 'example.com', 'Thing')
  const status: CustomResourceDefinitionStatus = { acceptedNames, conditions: [], storedVersions: ['v1'] }
  await server.put(DEFINITIONS.group, DEFINITIONS.resource, Object.assign(wanted, { status }))
  await crdNamesController.reconcile('things.example.com', await contextOf(server))
  expect(await conditions(server, 'things.example.com')).toEqual(['True', 'True'])
  const snapshot = await freshControlSnapshot(server)
  const found = snapshot.get<KubeObject & CustomResourceDefinition>(DEFINITIONS, 'things.example.com')!
  expect(found.status?.acceptedNames).toEqual(found.spec?.names)
})

test('a definition whose conversion webhook has an unreadable caBundle is established when the bundle is good', async () => {
  const server = memoryServer()
  const converting = definition('things', 'example.com', 'Thing')
  const clientConfig = { service: { namespace: 'default', name: 'converter' }, caBundle: btoa('\n') }
  const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } }
  Object.assign(converting['spec'] as JsonObject, { conversion })
  await server.put(DEFINITIONS.group, DEFINITIONS.resource, converting)
  const context = await contextOf(server)
  const reconciled = async () => {
    await crdNamesController.reconcile('things.example.com', context)
    const snapshot = await freshControlSnapshot(server)
    return snapshot.get<KubeObject & CustomResourceDefinition>(DEFINITIONS, 'things.example.com')!
  }
  const refused = await reconciled()
  expect(conditionOf(refused, 'NamesAccepted')?.status).toBe('True')
  expect(conditionOf(refused, 'Established')).toMatchObject({
    status: 'False',
    reason: 'InvalidCABundle',
    message: 'The conversion webhook CABundle is invalid',
  })
  expect((await reconciled()).metadata.resourceVersion).toBe(refused.metadata.resourceVersion)

  const client = serverClients(context).resource(DEFINITIONS)
  await client.updateWithRetries(refused, (object: CustomResourceDefinition) => {
    object.spec!.conversion!.webhook!.clientConfig!.caBundle = ''
  })
  expect(conditionOf(await reconciled(), 'Established')).toMatchObject({
    status: 'True',
    reason: 'InitialNamesAccepted',
  })
})
