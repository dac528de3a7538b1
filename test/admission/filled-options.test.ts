/**
 * kube-apiserver fills options of a DELETE and of an eviction before admission sees them: registry/core/namespace
 * (Ensure we have a UID precondition), registry/rest BeforeDelete, pod CheckGracefulDelete, and EvictionREST propagateDryRun.
 */
import { expect, test } from 'vitest'
import { pluginServer } from './plugin-server.ts'
import type { PluginServer } from './plugin-server.ts'

const GROUP = 'admissionregistration.k8s.io'
const PODS = '/api/v1/namespaces/blue/pods'
const NODE = { metadata: { name: 'n' } }
const pod = (spec: object = {}) => ({
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const definition = {
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'things', kind: 'Thing' },
    scope: 'Cluster',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

/** A policy that denies, and says the value of an expression. */
async function policy(server: PluginServer, resource: string, said: string): Promise<void> {
  const rule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['DELETE', 'CREATE'], resources: [resource] }
  const { code, body } = await server.send('POST', `/apis/${GROUP}/v1/validatingadmissionpolicies`, {
    metadata: { name: 'p' },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: 'false', messageExpression: `'<' + ${said} + '>'` }],
    },
  })
  expect([code, body.message]).toEqual([201, undefined])
  await server.send('POST', `/apis/${GROUP}/v1/validatingadmissionpolicybindings`, {
    metadata: { name: 'b' },
    spec: { policyName: 'p', validationActions: ['Deny'] },
  })
}

const saidIn = (message = ''): string | undefined => /<(.*)>/.exec(message)?.[1]

const UID =
  "has(request.options.preconditions) ? request.options.preconditions.uid + (has(request.options.preconditions.resourceVersion) ? ' at a version' : '') : 'none'"
const GRACE = "has(request.options.gracePeriodSeconds) ? string(request.options.gracePeriodSeconds) : 'none'"

test.each([
  ['a namespace', '/api/v1/namespaces', { metadata: { name: 'green' } }, 'namespaces', true],
  ['a definition', DEFINITIONS, definition, 'customresourcedefinitions', true],
  ['another object', '/api/v1/namespaces/blue/configmaps', { metadata: { name: 'c' } }, 'configmaps', false],
])('the uid of %s is in the preconditions of its DELETE', async (_, path, object, resource, isFilled) => {
  const server = pluginServer()
  await server.namespace('blue')
  const { body: created } = await server.send('POST', path, object)
  await policy(server, resource, `(${UID})`)
  const url = `${path}/${object.metadata.name}`
  const { uid, resourceVersion } = created.metadata as { uid?: string; resourceVersion?: string }
  expect(saidIn((await server.send('DELETE', url)).body.message)).toBe(isFilled ? uid : 'none')
  const both = { preconditions: { uid, resourceVersion } }
  expect(saidIn((await server.send('DELETE', url, both)).body.message)).toBe(`${uid} at a version`)
})

const scheduled = { nodeName: 'n', terminationGracePeriodSeconds: 7 }
test.each([
  ['of a pod on a node', pod(scheduled), {}, '7'],
  ['of a pod on a node, asked for', pod(scheduled), { gracePeriodSeconds: 9 }, '9'],
  ['of a pod on a node, negative', pod(scheduled), { gracePeriodSeconds: -5 }, '1'],
  ['of a pod without a node', pod(), { gracePeriodSeconds: 9 }, '0'],
])('the grace period %s is that of its DELETE', async (_, object, options, expected) => {
  const server = pluginServer()
  await server.namespace('blue')
  await server.send('POST', '/api/v1/nodes', NODE)
  expect(await server.send('POST', PODS, object)).toHaveProperty('code', 201)
  await policy(server, 'pods', `(${GRACE})`)
  expect(saidIn((await server.send('DELETE', `${PODS}/p`, options)).body.message)).toBe(expected)
})

test.each([
  [undefined, 'none'],
  [{}, 'none'],
  [{ gracePeriodSeconds: 3 }, '3'],
  [{ gracePeriodSeconds: -3 }, '1'],
])('of an object without a grace period only a negative one is changed: %j', async (options, expected) => {
  const server = pluginServer()
  await server.namespace('blue')
  await server.send('POST', '/api/v1/namespaces/blue/configmaps', { metadata: { name: 'c' } })
  await policy(server, 'configmaps', `(${GRACE})`)
  const { body } = await server.send('DELETE', '/api/v1/namespaces/blue/configmaps/c', options)
  expect(saidIn(body.message)).toBe(expected)
})

test('a DELETE that changes nothing, because an earlier one is pending, asks nobody', async () => {
  const server = pluginServer()
  await server.namespace('blue')
  await server.send('POST', '/api/v1/nodes', NODE)
  await server.send('POST', PODS, pod(scheduled))
  expect(await server.send('DELETE', `${PODS}/p`)).toHaveProperty('code', 200)
  await policy(server, 'pods', `(${GRACE})`)
  expect(await server.send('DELETE', `${PODS}/p`)).toHaveProperty('code', 200)
  expect(await server.send('DELETE', `${PODS}/p`, { gracePeriodSeconds: 7 })).toHaveProperty('code', 200)
  expect(saidIn((await server.send('DELETE', `${PODS}/p`, { gracePeriodSeconds: 2 })).body.message)).toBe('2')
})

const DRY =
  "has(object.deleteOptions) ? (has(object.deleteOptions.dryRun) ? object.deleteOptions.dryRun[0] : 'no') : 'none'"
test.each([
  ['', undefined, 'none'],
  ['', {}, 'no'],
  ['', { dryRun: ['All'] }, 'All'],
  ['?dryRun=All', undefined, 'none'],
  ['?dryRun=All', {}, 'All'],
  ['?dryRun=All', { gracePeriodSeconds: 3 }, 'All'],
])('an eviction %s with the options %j', async (query, deleteOptions, expected) => {
  const server = pluginServer()
  await server.namespace('blue')
  await server.send('POST', PODS, pod())
  await policy(server, 'pods/eviction', `(${DRY})`)
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions }
  const { body } = await server.send('POST', `${PODS}/p/eviction${query}`, eviction)
  expect(saidIn(body.message)).toBe(expected)
})

test('the options of a DELETE of a collection are as the client sent them', async () => {
  const server = pluginServer()
  await server.namespace('blue')
  await server.send('POST', '/api/v1/nodes', NODE)
  await server.send('POST', PODS, pod(scheduled))
  await policy(server, 'pods', `(${GRACE})`)
  expect(saidIn((await server.send('DELETE', PODS)).body.message)).toBe('none')
  expect(saidIn((await server.send('DELETE', PODS, { gracePeriodSeconds: -5 })).body.message)).toBe('-5')
})
