/** Requests that match a webhook. If the call fails, the request fails, or passes if failurePolicy is Ignore. */
import { describe, expect, test } from 'vitest'
import type { MutatingWebhook } from '../../../src/api/admissionregistration/v1.ts'
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import type { Attributes } from '../../../src/admission/attributes.ts'
import {
  mutatingAdmissionWebhook,
  validatingAdmissionWebhook,
} from '../../../src/admission/webhooks/admission-webhooks.ts'
import { memoryServer } from '../../request-in-memory.ts'
import { frontFailing } from '../../webhooks/front.ts'

const failure = (call: string) => {
  const why = `failed calling webhook "a.example.com": failed to call webhook: Post "${call}`
  return {
    code: 500,
    status: {
      reason: 'InternalError',
      message: `Internal error occurred: ${why}`,
      details: { causes: [{ message: why }] },
    },
  }
}
const REFUSED = 'dial tcp 10.0.0.1:443: connect: connection refused'
const TIMEOUT = { code: 504, status: { reason: 'Timeout' } }
const UNREACHABLE = failure(`https://hook.example.com/?timeout=10s": ${REFUSED}`)

const hook = (more: MutatingWebhook = {}): MutatingWebhook => ({
  name: 'a.example.com',
  clientConfig: { url: 'https://hook.example.com' },
  rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  sideEffects: 'None',
  timeoutSeconds: 10,
  admissionReviewVersions: ['v1'],
  ...more,
})

const condition = (expression: string) => ({ name: 'c', expression })

const labelled = (labels: Record<string, string>): KubeObject => ({ metadata: { name: 'a', labels } })
const asked = (more: Partial<Attributes> = {}): Partial<Attributes> => ({
  operation: 'CREATE',
  resource: { group: '', version: 'v1', resource: 'configmaps' },
  kind: { group: '', version: 'v1', kind: 'ConfigMap' },
  subresource: '',
  namespace: 'blue',
  name: 'a',
  object: labelled({ app: 'web' }),
  options: {},
  dryRun: false,
  ...more,
})

async function serverWith(type: 'mutating' | 'validating', webhooks: MutatingWebhook[]) {
  const server = memoryServer({
    OUTGOING: frontFailing({ code: 'ECONNREFUSED', message: '', address: '10.0.0.1:443' }),
  })
  await server.put('admissionregistration.k8s.io', `${type}webhookconfigurations`, {
    metadata: { name: 'configuration' },
    webhooks: webhooks as unknown as JsonObject[], // they are JSON
  })
  await server.put('', 'namespaces', { metadata: { name: 'blue', labels: { colour: 'blue' } } })
  return server
}

const plugins = {
  mutating: (attributes: Attributes) => mutatingAdmissionWebhook.admit?.(attributes),
  validating: (attributes: Attributes) => validatingAdmissionWebhook.validate?.(attributes),
}

async function send(type: keyof typeof plugins, webhooks: MutatingWebhook[], attributes: Partial<Attributes>) {
  const server = await serverWith(type, webhooks)
  const request = server.request('/')
  // the plugin reads no other attributes
  const whole = { ...attributes, request, user: request.user } as Attributes
  if (mutatingAdmissionWebhook.handles(whole)) await plugins[type](whole)
}

describe.each(['mutating', 'validating'] as const)('a %s webhook', (type) => {
  const events = { group: 'events.k8s.io', version: 'v1', resource: 'events' }
  const namespace = (labels: Record<string, string>): Partial<Attributes> => ({
    resource: { group: '', version: 'v1', resource: 'namespaces' },
    object: labelled(labels),
  })
  const ofNamespaces = {
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['namespaces'] }],
  }
  const blue = { matchLabels: { colour: 'blue' } }
  const notBlue = { matchExpressions: [{ key: 'colour', operator: 'NotIn', values: ['blue'] }] }
  const web = { matchLabels: { app: 'web' } }

  test.each<[string, MutatingWebhook, Partial<Attributes>]>([
    ['matches by its rules', {}, {}],
    ['matches a DELETE', {}, { operation: 'DELETE', object: undefined, oldObject: labelled({}) }],
    ['matches a dry run', {}, { dryRun: true }],
    ['selects the namespace', { namespaceSelector: blue }, {}],
    ['selects the object', { objectSelector: web }, {}],
    ['selects the old object', { objectSelector: web }, { object: labelled({}), oldObject: labelled({ app: 'web' }) }],
    [
      'selects nothing cluster-scoped by namespace',
      { ...ofNamespaces, rules: [{ ...ofNamespaces.rules[0], resources: ['nodes'] }], namespaceSelector: notBlue },
      { resource: { group: '', version: 'v1', resource: 'nodes' }, namespace: '' },
    ],
    [
      'selects a Namespace by the labels that it will have',
      { ...ofNamespaces, namespaceSelector: notBlue },
      namespace({}),
    ],
    [
      'selects a Namespace whose name is to be generated',
      { ...ofNamespaces, namespaceSelector: blue },
      { ...namespace({ colour: 'blue' }), namespace: '', name: '' },
    ],
    [
      'selects a Namespace that is deleted by those it has',
      { ...ofNamespaces, namespaceSelector: blue },
      { ...namespace({}), object: undefined, operation: 'DELETE' },
    ],
    [
      'matches another group that shows the same objects',
      { rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['events'] }] },
      { resource: events, kind: { group: 'events.k8s.io', version: 'v1', kind: 'Event' } },
    ],
    ['has conditions that hold', { matchConditions: [{ name: 'c', expression: "request.operation == 'CREATE'" }] }, {}],
  ])('that %s fails the request', async (_, more, attributes) => {
    await expect(send(type, [hook(more)], asked(attributes))).rejects.toMatchObject(UNREACHABLE)
  })

  test.each<[string, MutatingWebhook, Partial<Attributes>]>([
    ['may be ignored', { failurePolicy: 'Ignore' }, {}],
    ['has a condition that does not hold', { matchConditions: [condition('object.metadata.name != "a"')] }, {}],
    [
      'has one that does not hold beside one that cannot be told',
      {
        matchConditions: [condition('object.none.a'), condition('authorizer.path("/metrics").check("get").allowed()')],
      },
      {},
    ],
    [
      'has a condition that cannot be told, and may be ignored',
      { matchConditions: [condition('object.none.a')], failurePolicy: 'Ignore' },
      {},
    ],
    [
      'has a condition about rules that a Role does not have, which are null',
      {
        matchConditions: [condition('object.rules != null')],
        rules: [
          { apiGroups: ['rbac.authorization.k8s.io'], apiVersions: ['v1'], operations: ['*'], resources: ['roles'] },
        ],
      },
      {
        resource: { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'roles' },
        kind: { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'Role' },
        object: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name: 'a', namespace: 'blue' },
        },
      },
    ],
    ['is about something else', {}, { resource: { group: '', version: 'v1', resource: 'secrets' } }],
    ['is about another subresource', {}, { subresource: 'status' }],
    ['does not select the namespace', { namespaceSelector: notBlue }, {}],
    ['does not select the object', { objectSelector: { matchLabels: { app: 'db' } } }, {}],
    ['does not select a Namespace as it will be', { ...ofNamespaces, namespaceSelector: blue }, namespace({})],
    [
      'does not select a Namespace whose name is to be generated',
      { ...ofNamespaces, namespaceSelector: blue },
      { ...namespace({}), namespace: '', name: '' },
    ],
    [
      'wants exactly its group',
      {
        matchPolicy: 'Exact',
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['events'] }],
      },
      { resource: events, kind: { group: 'events.k8s.io', version: 'v1', kind: 'Event' } },
    ],
    [
      'would be asked about a configuration of webhooks',
      { rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }] },
      {
        resource: { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingwebhookconfigurations' },
        kind: { group: 'admissionregistration.k8s.io', version: 'v1', kind: 'ValidatingWebhookConfiguration' },
        namespace: '',
      },
    ],
  ])('that %s lets it pass', async (_, more, attributes) => {
    await send(type, [hook(more)], asked(attributes))
  })

  test('with a match condition that fails to evaluate refuses the request', async () => {
    const webhooks = [hook({ matchConditions: [condition('object.none.a == 1')] })]
    await expect(send(type, webhooks, asked())).rejects.toMatchObject({
      code: 403,
      message: 'configmaps "a" is forbidden: expression \'object.none.a == 1\' resulted in error: no such key: none',
    })
  })

  test.each<[string, MutatingWebhook, object]>([
    [
      'with a path and a timeout',
      { clientConfig: { url: 'https://hook.example.com/path' }, timeoutSeconds: 3 },
      failure(`https://hook.example.com/path?timeout=3s": ${REFUSED}`),
    ],
    [
      'of a Service that is not there',
      { clientConfig: { service: { namespace: 'blue', name: 'hooks', path: '/p' } } },
      failure('https://hooks.blue.svc:443/p?timeout=10s": service "hooks" not found'),
    ],
  ])('%s is named in the failure', async (_, more, expected) => {
    await expect(send(type, [hook(more)], asked())).rejects.toMatchObject(expected)
  })

  test('with side effects refuses dry runs', async () => {
    await expect(send(type, [hook({ sideEffects: 'Some' })], asked({ dryRun: true }))).rejects.toMatchObject({
      code: 400,
      status: { reason: 'BadRequest', message: 'admission webhook "a.example.com" does not support dry run' },
    })
  })

  test('behind one that may be ignored fails the request', async () => {
    const webhooks = [hook({ name: 'b.example.com', failurePolicy: 'Ignore' }), hook()]
    await expect(send(type, webhooks, asked())).rejects.toMatchObject(UNREACHABLE)
  })

  test.each([
    ['', 33_000, undefined],
    // the call took all the time that was left, and ended a little early by the clock
    ['', 33_990, TIMEOUT],
    ['', 34_000, TIMEOUT],
    // the time that the client gave
    ['?timeout=10s', 9_000, undefined],
    ['?timeout=10s', 9_990, TIMEOUT],
    ['?timeout=10s', 20_000, TIMEOUT],
    ['?timeout=50s', 34_000, TIMEOUT],
  ])(
    'that may be ignored is not, where the request has no time left: %j after %i ms',
    async (query, after, expected) => {
      const server = await serverWith(type, [hook({ failurePolicy: 'Ignore' })])
      const request = server.request(`/${query}`)
      server.now = new Date(server.now.getTime() + after)
      // the plugin reads no other attributes
      const attributes = { ...asked(), request, user: request.user } as Attributes
      await Promise.resolve(plugins[type](attributes)).then(
        () => expect(expected).toBeUndefined(),
        (error: unknown) => expect(error).toMatchObject(expected ?? {}),
      )
    },
  )

  test('of a namespace that is not there is not found', async () => {
    const attributes = asked({ namespace: 'nowhere' })
    await expect(send(type, [hook({ namespaceSelector: blue })], attributes)).rejects.toMatchObject({ code: 404 })
  })
})
