import { expect, test } from 'vitest'
import { namespaceLifecycle } from '../../../src/admission/plugins/namespace-lifecycle.ts'
import type { Asked } from '../plugin-outcome.ts'
import { collectionOf } from '../../../src/storage/collections.ts'
import { frontAnswering } from '../../webhooks/front.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'
import { lineOf, pluginServer } from '../plugin-server.ts'

const server = await serverWith({
  namespaces: [
    { metadata: { name: 'blue' }, status: { phase: 'Active' } },
    { metadata: { name: 'going', deletionTimestamp: '2026-01-01T00:00:00Z' }, status: { phase: 'Terminating' } },
  ],
})

const GOING = 'unable to create new content in namespace going because it is being terminated'

test.each<[string, Asked, unknown]>([
  ['a create in a namespace', { at: 'configmaps', object: {} }, { metadata: {} }],
  [
    'a create in one that is not there',
    { at: 'configmaps', namespace: 'red', object: {} },
    '404 namespaces "red" not found',
  ],
  [
    'a create in one that is being deleted',
    { at: 'configmaps', namespace: 'going', object: { metadata: { name: 'a' } } },
    `403 configmaps "a" is forbidden: ${GOING}`,
  ],
  [
    'one that is yet to be named',
    { at: 'configmaps', namespace: 'going', object: { metadata: { generateName: 'a-' } } },
    `403 configmaps "a-" is forbidden: ${GOING}`,
  ],
  [
    'an update in one that is being deleted',
    { at: 'configmaps', operation: 'UPDATE', namespace: 'going', object: {} },
    { metadata: {} },
  ],
  [
    'an update in one that is not there',
    { at: 'configmaps', operation: 'UPDATE', namespace: 'red', object: {} },
    '404 namespaces "red" not found',
  ],
  ['a delete in one that is not there', { at: 'configmaps', operation: 'DELETE', namespace: 'red' }, undefined],
  ['what has no namespace', { at: 'nodes', namespace: '', object: {} }, { metadata: {} }],
  [
    'a review, which keeps nothing',
    {
      at: 'localsubjectaccessreviews.authorization.k8s.io',
      kind: 'LocalSubjectAccessReview',
      namespace: 'red',
      object: {},
    },
    { metadata: {} },
  ],
  [
    'a custom object of a kind with that name',
    { at: 'reviews.example.com', kind: 'LocalSubjectAccessReview', namespace: 'red', object: {} },
    '404 namespaces "red" not found',
  ],
  ['a new namespace', { at: 'namespaces', namespace: 'red', object: {} }, { metadata: {} }],
  ['the end of a namespace', { at: 'namespaces', operation: 'DELETE', namespace: 'blue', name: 'blue' }, undefined],
  ...['default', 'kube-system', 'kube-public'].map((name): [string, Asked, string] => [
    `the end of ${name}`,
    { at: 'namespaces', operation: 'DELETE', namespace: name, name },
    `403 namespaces "${name}" is forbidden: this namespace may not be deleted`,
  ]),
  ['a connection', { at: 'pods/exec', operation: 'CONNECT', namespace: 'red' }, 'not asked'],
])('%s', async (_what, asked, outcome) => {
  expect(await outcomeOf(namespaceLifecycle, server, asked)).toEqual(outcome)
})

test('the DELETE of a namespace that is terminating and has finalizers changes nothing, so no policy is asked', async () => {
  const { send } = pluginServer()
  const group = '/apis/admissionregistration.k8s.io/v1'
  const finalizers = ['kubernetes', 'example.com/last']
  await send('POST', '/api/v1/namespaces', { metadata: { name: 'going' }, spec: { finalizers } })
  const remove = async (query = '') => {
    const { code, body } = await send('DELETE', `/api/v1/namespaces/going${query}`, undefined)
    return { code, why: body.message ?? '' }
  }
  await send('POST', `${group}/validatingadmissionpolicies`, {
    metadata: { name: 'never' },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['namespaces'] }],
      },
      validations: [{ expression: 'false' }],
    },
  })
  const binding = { metadata: { name: 'never' }, spec: { policyName: 'never', validationActions: ['Deny'] } }
  expect(await remove()).toMatchObject({ code: 200 })
  await send('POST', `${group}/validatingadmissionpolicybindings`, binding)
  expect(await remove()).toMatchObject({ code: 200 })
  expect(await remove('?dryRun=All&propagationPolicy=Foreground')).toMatchObject({ code: 200 })
  const { body } = await send('GET', '/api/v1/namespaces/going')
  expect(body.metadata).not.toHaveProperty('finalizers')
  await send('POST', '/api/v1/namespaces', { metadata: { name: 'staying' } })
  expect((await send('DELETE', '/api/v1/namespaces/staying')).code).toBe(422)
})

test.each<[string, boolean, string]>([
  ['is gone', true, '404 namespaces "going" not found'],
  ['is being deleted', false, `403 configmaps "late" is forbidden: ${GOING}`],
])('a create that a webhook held up is refused where its namespace %s', async (_, isGone, line) => {
  const { binding } = frontAnswering(async ({ review }) => {
    memory.now = new Date(memory.now.getTime() + 20_000)
    await send('DELETE', '/api/v1/namespaces/going')
    if (isGone) await send('PUT', '/api/v1/namespaces/going/finalize', { metadata: { name: 'going' }, spec: {} })
    const { uid } = (review as unknown as { request: { uid: string } }).request
    return { status: 200, text: JSON.stringify({ ...review, response: { uid, allowed: true } }) }
  })
  const { memory, send, namespace } = pluginServer({ OUTGOING: binding })
  await namespace('going')
  expect(
    lineOf(
      await send('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
        metadata: { name: 'slow' },
        webhooks: [
          {
            name: 'slow.example.com',
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            clientConfig: { url: 'https://slow.example.com/' },
            rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
          },
        ],
      }),
    ),
  ).toBe('201')
  expect(lineOf(await send('POST', '/api/v1/namespaces/going/configmaps', { metadata: { name: 'late' } }))).toBe(line)
  const left = collectionOf(memory.tenant, { group: '', resource: 'configmaps' })
  expect(await memory.storage.get(left, 'going/late')).toBeUndefined()
})
