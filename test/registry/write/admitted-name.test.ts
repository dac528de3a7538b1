/** Who may create an object may create it under the name of the URL, also where a webhook gives it another one. */
import { expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import { lineOf, pluginServer } from '../../admission/plugin-server.ts'
import { hook, patching } from '../../admission/webhooks/creating.ts'
import { frontAnswering } from '../../webhooks/front.ts'

const PATHS = {
  lease: '/apis/coordination.k8s.io/v1/namespaces/blue/leases/a',
  thing: '/apis/example.com/v1/namespaces/blue/things/a',
}
const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' } }
const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } }

async function serverRenaming(...operations: object[]) {
  const answers = patching(...operations)
  const server = pluginServer({ OUTGOING: frontAnswering(answers).binding })
  const rules = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE'], resources: ['leases', 'things'] }]
  const { answers: _, ...webhook } = hook('a', answers, { rules })
  await server.memory.put('admissionregistration.k8s.io', 'mutatingwebhookconfigurations', {
    metadata: { name: 'configuration' },
    webhooks: [webhook] as unknown as JsonObject[], // they are JSON
  })
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
  const schema = { openAPIV3Schema: { type: 'object' } }
  await server.memory.put('apiextensions.k8s.io', 'customresourcedefinitions', {
    metadata: { name: 'things.example.com', generation: 1 },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
    status: {
      acceptedNames: names,
      storedVersions: ['v1'],
      conditions: ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' })),
    },
  } as unknown as KubeObject & JsonObject)
  await server.namespace('blue')
  return server
}

test.each([
  ['a PUT', 'PUT', PATHS.lease, lease],
  ['a POST to the path of a custom resource', 'POST', PATHS.thing, thing],
])('%s creates nothing under another name', async (_, method, path, body) => {
  const server = await serverRenaming({ op: 'replace', path: '/metadata/name', value: 'b' })
  expect(lineOf(await server.send(method, path, body))).toBe(
    '400 the name of the object (b) does not match the name on the URL (a)',
  )
  const other = path.replace(/a$/, 'b')
  expect((await server.send('GET', other)).code).toBe(404)
})

test('an object whose name was taken away is invalid', async () => {
  const server = await serverRenaming({ op: 'remove', path: '/metadata/name' })
  expect(lineOf(await server.send('PUT', PATHS.lease, lease))).toMatch(
    /^422 .*metadata.name: Required value: name or generateName is required/,
  )
})

test.each<[string, object, string]>([
  [
    'another group',
    { op: 'replace', path: '/apiVersion', value: 'other/v2' },
    'other/v2, Kind=Thing is unstructured and is not suitable for converting to "example.com/v1"',
  ],
  [
    'none',
    { op: 'remove', path: '/apiVersion' },
    '/, Kind=Thing is unstructured and is not suitable for converting to "example.com/v1"',
  ],
  [
    'a version that the definition lacks',
    { op: 'replace', path: '/apiVersion', value: 'example.com/v9' },
    'request to convert CR from an invalid group/version: example.com/v9',
  ],
  [
    'one that cannot be read',
    { op: 'replace', path: '/apiVersion', value: 'a/b/c' },
    'Internal error occurred: unexpected GroupVersion string: a/b/c',
  ],
  [
    'a number',
    { op: 'replace', path: '/apiVersion', value: 7 },
    "Internal error occurred: couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .apiVersion of type string",
  ],
])('a custom resource that a webhook gave another version is refused: %s', async (_, operation, message) => {
  const server = await serverRenaming(operation)
  expect(lineOf(await server.send('POST', PATHS.thing.replace(/\/a$/, ''), thing))).toBe(`500 ${message}`)
})
