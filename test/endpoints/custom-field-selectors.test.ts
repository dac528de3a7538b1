// A field selector of a definition is about what readers see, whenever and in whatever version an object was written.
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

const properties = {
  color: { type: 'string' },
  size: { type: 'integer' },
  open: { type: 'boolean' },
  tier: { type: 'string', default: 'gold' },
  note: { type: 'string', nullable: true, default: 'none' },
  nodeName: { type: 'string' },
}
const FIELDS = ['.spec.color', '.spec.size', '.spec.open', '.spec.tier', '.spec.note', '.spec.nodeName', '.made.by']

const versionOf = (name: string, description: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  selectableFields: FIELDS.map((jsonPath) => ({ jsonPath })),
  schema: {
    openAPIV3Schema: {
      type: 'object',
      description,
      properties: {
        spec: { type: 'object', properties },
        made: { type: 'object', default: {}, properties: { by: { type: 'string', default: 'us' } } },
      },
    },
  },
})

/** The names of the selected things, whose fields no write kept. */
async function selected(selector: string, version: string, query = ''): Promise<readonly string[]> {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
  const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' }))
  await server.put('apiextensions.k8s.io', 'customresourcedefinitions', {
    metadata: { name: 'things.example.com', generation: 2 },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [versionOf('v1', 'first', true), versionOf('v2', 'second', false)],
    },
    status: { acceptedNames: names, storedVersions: ['v1'], conditions },
  } as unknown as KubeObject & JsonObject)
  for (const [name, more] of Object.entries({
    red: { spec: { color: 'red', size: 1, nodeName: 'n' } },
    blue: { spec: { color: 'blue', size: 2, open: false, tier: 'silver', note: null } },
    bare: {},
  }))
    await server.put('example.com', 'things', {
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { name, namespace: 'default' },
      ...more,
    } as unknown as KubeObject & JsonObject)
  const path = `/apis/example.com/${version}/things?fieldSelector=${encodeURIComponent(selector)}${query}`
  const response = await answer(server.request(path, { headers: { Authorization: `Bearer ${TOKEN}` } }))
  expect(response.status).toBe(200)
  const { items } = await response.json<{ items: readonly KubeObject[] }>()
  return items.map(({ metadata }) => metadata.name ?? '')
}

test.each<[selector: string, found: readonly string[]]>([
  ['spec.color=red', ['red']],
  ['spec.color!=red', ['bare', 'blue']],
  ['spec.color=', ['bare']],
  ['spec.color!=', ['blue', 'red']],
  ['spec.size=1', ['red']],
  ['spec.open=false', ['blue']],
  ['spec.open=', ['bare', 'red']],
  ['spec.tier=gold', ['red']],
  ['spec.tier!=gold', ['bare', 'blue']],
  ['spec.tier=', ['bare']],
  ['spec.note=none', ['red']],
  ['spec.note=', ['bare', 'blue']],
  ['spec.nodeName=n', ['red']],
  ['made.by=us', ['bare', 'blue', 'red']],
  ['made.by!=us', []],
  ['spec.color=red,metadata.name=red', ['red']],
])('%s selects %j', async (selector, found) => {
  for (const version of ['v1', 'v2']) {
    expect(await selected(selector, version)).toEqual(found)
    expect(await selected(selector, version, '&limit=500')).toEqual(found)
  }
})

test.each([
  ['a field of a version with selectable fields', [{ jsonPath: '.spec.color' }]],
  ['a field of a version without selectable fields', undefined],
])('an unknown %s is refused by its name', async (_, selectableFields) => {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
  const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' }))
  await server.put('apiextensions.k8s.io', 'customresourcedefinitions', {
    metadata: { name: 'things.example.com', generation: 1 },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [{ ...versionOf('v1', 'first', true), selectableFields }],
    },
    status: { acceptedNames: names, storedVersions: ['v1'], conditions },
  } as unknown as KubeObject & JsonObject)
  const path = '/apis/example.com/v1/things?fieldSelector=spec.other%3Dx'
  await expect(answer(server.request(path, { headers: { Authorization: `Bearer ${TOKEN}` } }))).rejects.toMatchObject({
    code: 400,
    message: 'field label not supported: spec.other',
  })
})
