/** A create that a webhook holds up until the definition of its resource is gone, or is another one. */
import { expect, test } from 'vitest'
import { collectionOf } from '../../src/storage/collections.ts'
import { lineOf, pluginServer } from '../admission/plugin-server.ts'
import { frontAnswering } from '../webhooks/front.ts'

const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
const NAME = 'things.example.com'
const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }

const definition = (uid: string, ...conditions: string[]) => ({
  metadata: { name: NAME, uid, generation: 1 },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names,
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
  status: {
    acceptedNames: names,
    storedVersions: ['v1'],
    conditions: ['NamesAccepted', 'Established', ...conditions].map((type) => ({ type, status: 'True' })),
  },
})

test.each<[string, object | undefined, string]>([
  ['is the same', definition('u-1'), '201'],
  ['is gone', undefined, '404 the server could not find the requested resource'],
  ['is another one of that name', definition('u-2'), '404 the server could not find the requested resource'],
  [
    'is terminating',
    definition('u-1', 'Terminating'),
    '403 things.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
  ],
])('whose definition then %s', async (_, then, line) => {
  const { binding } = frontAnswering(async ({ review }) => {
    memory.now = new Date(memory.now.getTime() + 20_000)
    // as another isolate does it
    const collection = collectionOf(memory.tenant, DEFINITIONS)
    const live = await memory.storage.get(collection, NAME)
    const last = { text: '{"metadata":{"resourceVersion":""}}', at: 32, uid: 'u-1' }
    await memory.storage.delete(collection, NAME, last, live!.revision)
    if (then !== undefined) await memory.put(DEFINITIONS.group, DEFINITIONS.resource, then as never)
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const { uid } = (review as unknown as { request: { uid: string } }).request
    return { status: 200, text: JSON.stringify({ ...review, response: { uid, allowed: true } }) }
  })
  const { memory, send } = pluginServer({ OUTGOING: binding })
  await memory.put(DEFINITIONS.group, DEFINITIONS.resource, definition('u-1') as never)
  await send('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'slow' },
    webhooks: [
      {
        name: 'slow.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { url: 'https://slow.example.com/' },
        rules: [{ operations: ['CREATE'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['things'] }],
      },
    ],
  })
  const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'late' } }
  expect(lineOf(await send('POST', '/apis/example.com/v1/things', thing))).toBe(line)
  const left = collectionOf(memory.tenant, { group: 'example.com', resource: 'things' })
  expect((await memory.storage.get(left, 'late')) !== undefined).toBe(line === '201')
})
