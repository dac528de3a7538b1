import { expect, test } from 'vitest'
import { negotiateOutput } from '../../src/codec/negotiation/negotiate.ts'
import { respondObject } from '../../src/codec/respond.ts'
import { resourceScope } from '../../src/registry/scope.ts'
import { servedResources } from '../../src/registry/served/served.ts'
import { memoryServer } from '../request-in-memory.ts'
import { customForms } from '../../src/codec/custom-forms.ts'

const stored = (text: object) => ({ revision: 1, text: JSON.stringify(text) })
const thing = (more: object) => ({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, ...more })

/** The status that a get answers for a stored value under this schema. */
async function shown(status: object, value: object): Promise<unknown> {
  const server = memoryServer()
  const schema = { type: 'object', properties: { status: { type: 'object', ...status } } }
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    subresources: { status: {} },
  }
  const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' }))
  await server.put('apiextensions.k8s.io', 'customresourcedefinitions', {
    metadata: { name: 'things.example.com', generation: 1 },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version] },
    status: { acceptedNames: names, storedVersions: ['v1'], conditions },
  })
  const request = server.request('/apis/example.com/v1/namespaces/default/things/a')
  const entry = (await servedResources(request)).find('example.com', 'v1', 'things')!
  const scope = resourceScope(request, entry, { name: 'a', subresource: '', namespace: 'default' })
  const output = negotiateOutput(request, { kind: 'object', forms: customForms })
  return respondObject(scope, output, 200, stored(value)).json()
}

const properties = { phase: { type: 'string' } }

test.each<[string, object, object, object]>([
  [
    'was dropped when the object was created',
    { properties, default: { phase: 'New' } },
    {},
    { status: { phase: 'New' } },
  ],
  [
    'was set since',
    { properties, default: { phase: 'New' } },
    { status: { phase: 'Old' } },
    { status: { phase: 'Old' } },
  ],
  ['has no default', { properties }, {}, {}],
])('a status that %s', async (_, status, value, expected) => {
  expect(await shown(status, thing(value))).toEqual(thing(expected))
})
