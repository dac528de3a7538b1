import { expect, test } from 'vitest'
import type { CustomResourceDefinition, JSONSchemaProps } from '../../../src/api/apiextensions/v1.ts'
import type { JsonObject } from '../../../src/api/object.ts'
import type { Env } from '../../../src/env.ts'
import { asJson } from '../../../src/api/object.ts'
import { conditionOf, DEFINITIONS } from '../../../src/registry/custom-resources/definition.ts'
import { collectionOf, customStorageOf } from '../../../src/storage/collections.ts'
import { storageOf } from '../../../src/storage/environment-storage.ts'
import { nextInt64 } from '../../../src/go/int.ts'
import { definition } from '../definition.ts'
import { newPlane, of, reconcile } from '../reconcile.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'

const THINGS = { group: 'example.com', resource: 'things' }
const NAME = 'things.example.com'
const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io'

async function planeWith(finalizers: string[], established = true, settings: Partial<Env> = {}) {
  const plane = await newPlane(settings)
  await plane.server.put(
    DEFINITIONS.group,
    DEFINITIONS.resource,
    definition('things', 'example.com', { finalizers }, established),
  )
  return plane
}
const thing = (name: string, finalizers: string[] = []) =>
  of('example.com/v1', 'Thing', { metadata: { name, namespace: 'default', finalizers } })
const terminating = (found: unknown) => {
  const condition = conditionOf(found as CustomResourceDefinition, 'Terminating')
  return condition && `${condition.status} ${condition.reason}`
}

test('a definition goes after its objects', async () => {
  const plane = await planeWith([CLEANUP])
  await plane.create(THINGS, thing('a'))
  await plane.create(THINGS, thing('b', ['example.com/mine']))
  await plane.delete(DEFINITIONS, '', NAME)
  expect(await reconcile(plane, 'crd-finalizer', NAME)).toBe(1000)
  expect(terminating(await plane.get(DEFINITIONS, '', NAME))).toBe('True InstanceDeletionInProgress')
  expect(await plane.names(THINGS)).toEqual(['b'])
  await (
    await plane.client(THINGS, 'default')
  ).updateWithRetries(named('b'), ({ metadata }) => void delete metadata.finalizers)
  expect(await reconcile(plane, 'crd-finalizer', NAME)).toBeUndefined()
  expect(await plane.get(DEFINITIONS, '', NAME)).toBeUndefined()
})

// Another isolate may serve the definition for two seconds more, and its youngest creates do not look again.
test.each([
  ['goes at once where no other isolate may create objects of it', 'unlimited', undefined],
  ['waits where another isolate may still create objects of it', '1000', 5_000],
])('an empty definition %s', async (_, KEDGE_SUBREQUESTS, wait) => {
  const plane = await planeWith([CLEANUP], true, { KEDGE_SUBREQUESTS })
  await plane.create(THINGS, thing('a'))
  await plane.delete(DEFINITIONS, '', NAME)
  expect(await reconcile(plane, 'crd-finalizer', NAME)).toBe(wait)
  if (wait !== undefined) {
    const { tenant, env } = plane.server
    const stored = async (name: string) =>
      storageOf(env).get(collectionOf(tenant, customStorageOf(THINGS)), `default/${name}`)
    expect(await stored('a')).toBeUndefined()
    const metadata = { name: 'late', namespace: 'default' }
    await plane.server.put(THINGS.group, THINGS.resource, { apiVersion: 'example.com/v1', kind: 'Thing', metadata })
    expect(await stored('late')).toBeDefined()
    plane.now = new Date(plane.now.getTime() + wait)
    expect(await reconcile(plane, 'crd-finalizer', NAME)).toBeUndefined()
    expect(await stored('late')).toBeUndefined()
  }
  expect(await plane.get(DEFINITIONS, '', NAME)).toBeUndefined()
})

test('the finalizers of others stay', async () => {
  const plane = await planeWith([CLEANUP, 'example.com/mine'], false)
  await plane.delete(DEFINITIONS, '', NAME)
  expect(await reconcile(plane, 'crd-finalizer', NAME)).toBeUndefined()
  const left = await plane.get(DEFINITIONS, '', NAME)
  expect(left?.metadata.finalizers).toEqual(['example.com/mine'])
  expect(terminating(left)).toBe('False NeverEstablished')
})

test.each([[[CLEANUP]], [[]]])(
  'a definition that nobody deletes is left alone, with finalizers %j',
  async (finalizers) => {
    const plane = await planeWith(finalizers)
    await plane.create(THINGS, thing('a'))
    expect(await reconcile(plane, 'crd-finalizer', NAME)).toBeUndefined()
    expect(await plane.names(THINGS)).toEqual(['a'])
    expect(terminating(await plane.get(DEFINITIONS, '', NAME))).toBeUndefined()
  },
)

const TEXT = { type: 'string' as const, default: 'x'.repeat(10) }

function schemaWith(properties: Record<string, typeof TEXT>): JSONSchemaProps {
  const items = { type: 'array', items: { type: 'object', properties } }
  return { type: 'object', properties: { spec: { type: 'object', properties: { items } } } }
}

async function setSchema(plane: Awaited<ReturnType<typeof planeWith>>, openAPIV3Schema: JSONSchemaProps) {
  const definitions = await plane.client(DEFINITIONS, '')
  await definitions.updateWithRetries(named(NAME), (object) => {
    const { spec, metadata } = object as CustomResourceDefinition
    metadata.generation = nextInt64(metadata.generation ?? 0)
    spec!.versions![0]!.schema = { openAPIV3Schema }
  })
}

test.each([
  ['with which they are more than storage takes', 20_000],
  ['with which they are more than a body may ask for', 50_000],
])('objects go whose definition has got defaults since, %s', async (_, count) => {
  const plane = await planeWith([CLEANUP])
  await setSchema(plane, schemaWith({}))
  const items = Array.from({ length: count }, () => ({}))
  await plane.create(THINGS, { ...thing('a'), spec: { items } })
  const defaults = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`p${n}`, TEXT]))
  await setSchema(plane, schemaWith(defaults))
  const stored = asJson((await plane.get(THINGS, 'default', 'a'))!)['spec'] as { items: JsonObject[] }
  expect(stored.items[0]).toHaveProperty('p19')
  await plane.delete(DEFINITIONS, '', NAME)
  await reconcile(plane, 'crd-finalizer', NAME)
  expect(await plane.get(DEFINITIONS, '', NAME)).toBeUndefined()
})
