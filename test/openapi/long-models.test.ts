// The server builds the model of a definition with tens of thousands of properties in steps; no step visits all of
// them.
import { expect, test, vi } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { modelMembers } from '../../src/openapi/custom-resources.ts'
import { madeMembers } from '../../src/openapi/members.ts'
import type { ResourceEntry } from '../../src/registry/served/resources.ts'
import type { OpenApiVersion } from '../../src/schema/to-openapi.ts'

const PROPERTIES = 20_000
/** The most members of an object, or hundreds of characters of a text, that one step may build. */
const MOST = 1_000

const schema: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: PROPERTIES }, (_, at) => [`p${(at * 7919) % PROPERTIES}`, { type: 'string' }]),
      ),
    },
  },
}

// the parts of a model
const entry = {
  group: 'e.com',
  version: 'v1',
  kind: 'Wide',
  listKind: 'WideList',
  resource: 'wides',
  openApi: { schema, schemaOf: { uid: 'u', generation: 1 } },
} as unknown as ResourceEntry

test.each<OpenApiVersion>(['v2', 'v3'])('%s', (version) => {
  const atOnce = { members: 0, characters: 0 }
  const { stringify } = JSON
  const { fromEntries } = Object
  vi.spyOn(JSON, 'stringify').mockImplementation((value: unknown) => {
    const text = stringify(value)
    atOnce.characters = Math.max(atOnce.characters, text.length)
    return text
  })
  vi.spyOn(Object, 'fromEntries').mockImplementation((entries: Iterable<readonly unknown[]>) => {
    const all = [...entries] as [string, unknown][]
    atOnce.members = Math.max(atOnce.members, all.length)
    return fromEntries(all)
  })
  const made = [...madeMembers(modelMembers(entry, version, () => undefined))]
  vi.restoreAllMocks()
  expect(atOnce.members).toBeLessThan(MOST)
  expect(atOnce.characters).toBeLessThan(100 * MOST)
  expect(made.filter((one) => one === undefined).length).toBeGreaterThan(PROPERTIES / MOST)
  const [, text = ''] = made.find((one) => one?.[0].endsWith('.Wide')) ?? []
  const model = JSON.parse(text) as { readonly properties: { readonly spec: { readonly properties: JsonObject } } }
  expect(Object.keys(model.properties)).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
  const names = Object.keys(model.properties.spec.properties)
  expect(names).toHaveLength(PROPERTIES)
  expect(names).toEqual(names.toSorted())
})
