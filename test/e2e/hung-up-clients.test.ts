// A client disconnects while the API server calls another server for its request: that call ends at once, and the
// request writes nothing.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

const authority = await createAuthority({ commonName: 'slow' }, new Date(), 30)
const names = ['127.0.0.1', 'slow.default.svc']
const { key, certificate } = await issue(
  authority,
  { subject: { commonName: 'slow' }, usage: 'server', names, days: 30 },
  new Date(),
)
const caBundle = Buffer.from(authority.certificate).toString('base64')

/** The paths of received calls, and of calls that the API server ended. The test answers none. */
const came: string[] = []
const ended: string[] = []

const server = createServer({ key, cert: certificate }, (asked, response: ServerResponse) => {
  asked.resume()
  const [path = ''] = (asked.url ?? '').split('?')
  // Discovery, which makes the aggregated API available.
  if (path === '/apis/slow.example.com/v1' || path.startsWith('/openapi'))
    return void response.end('{"kind":"APIResourceList","groupVersion":"slow.example.com/v1","resources":[]}')
  came.push(path)
  response.once('close', () => ended.push(path))
})

const directory = mkdtempSync(join(tmpdir(), 'kedge-hung-up-'))
const file = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text)
  return join(directory, name)
}

let kedge: KedgeProcess
let api: ApiClient

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // of a server that listens on TCP
  const url = (path: string): string => `https://127.0.0.1:${port}/${path}`
  file('ca.crt', authority.certificate)
  const kubeconfig = (path: string): string =>
    file(
      path,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: url(path), 'certificate-authority': 'ca.crt' } }],
        contexts: [{ name: 'c', context: { cluster: 'c' } }],
        'current-context': 'c',
      }),
    )
  kedge = await startKedge([
    '--ephemeral',
    '--port',
    '0',
    '--services',
    `default/slow:443=https://127.0.0.1:${port}`,
    '--authentication-token-webhook-config-file',
    kubeconfig('tokens'),
    '--enable-admission-plugins',
    'ImagePolicyWebhook',
    '--admission-control-config-file',
    file(
      'admission.json',
      JSON.stringify({
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'AdmissionConfiguration',
        plugins: [
          {
            name: 'ImagePolicyWebhook',
            configuration: { imagePolicy: { kubeConfigFile: kubeconfig('images'), defaultAllow: true } },
          },
        ],
      }),
    ),
    '--authorization-config',
    file(
      'authorization.yaml',
      `apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
- type: Webhook
  name: slow
  webhook:
    timeout: 30s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: NoOpinion
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: ${kubeconfig('access')}}
    matchConditions: [{expression: "has(request.resourceAttributes) && request.resourceAttributes.namespace == 'asked'"}]
- {type: RBAC, name: rbac}
`,
    ),
  ])
  api = new ApiClient(kedge.kubeconfig)
  const webhook = (failurePolicy: string) => ({
    name: `${failurePolicy.toLowerCase()}.example.com`,
    clientConfig: { url: url(failurePolicy), caBundle },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    objectSelector: { matchLabels: { failurePolicy } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 30,
    failurePolicy,
  })
  const created = async (path: string, object: object) =>
    expect((await api.send('POST', path, object)).status).toBe(201)
  await created('/api/v1/namespaces', { metadata: { name: 'asked' } }).catch(() => {})
  await created('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'slow' },
    webhooks: [webhook('Fail'), webhook('Ignore')],
  })
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  await created('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.converted.example.com' },
    spec: {
      group: 'converted.example.com',
      scope: 'Cluster',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [
        { name: 'v1', served: true, storage: true, schema },
        { name: 'v2', served: true, storage: false, schema },
      ],
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { url: url('convert'), caBundle }, conversionReviewVersions: ['v1'] },
      },
    },
  })
  await created('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v1.slow.example.com' },
    spec: {
      group: 'slow.example.com',
      version: 'v1',
      service: { name: 'slow', namespace: 'default' },
      caBundle,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  })
  const thing = { apiVersion: 'converted.example.com/v1', kind: 'Thing', metadata: { name: 'a' } }
  await eventually(() => created('/apis/converted.example.com/v1/things', thing))
  const isAvailable = async () => {
    const { body } = await api.send('GET', '/apis/apiregistration.k8s.io/v1/apiservices/v1.slow.example.com')
    expect(body).toMatchObject({ status: { conditions: [{ type: 'Available', status: 'True' }] } })
  }
  await eventually(isAvailable)
})

afterAll(async () => {
  api?.close()
  await kedge?.stop()
  server.closeAllConnections()
  server.close()
  rmSync(directory, { recursive: true, force: true })
})

const configMap = (failurePolicy: string) => ({
  metadata: { name: failurePolicy.toLowerCase(), labels: { failurePolicy } },
})
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const POD = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }

test.each<[what: string, called: string, method: string, path: string, body?: object, token?: string]>([
  ['an admission webhook', '/Fail', 'POST', CONFIG_MAPS, configMap('Fail')],
  ['an admission webhook that may be passed over', '/Ignore', 'POST', CONFIG_MAPS, configMap('Ignore')],
  ['an image policy that may be passed over', '/images', 'POST', '/api/v1/namespaces/default/pods', POD],
  ['a conversion webhook', '/convert', 'GET', '/apis/converted.example.com/v2/things/a'],
  [
    'a conversion webhook for a write',
    '/convert',
    'POST',
    '/apis/converted.example.com/v2/things',
    { apiVersion: 'converted.example.com/v2', kind: 'Thing', metadata: { name: 'b' } },
  ],
  ['an aggregated API', '/apis/slow.example.com/v1/things', 'GET', '/apis/slow.example.com/v1/things'],
  ['a write of an aggregated API', '/apis/slow.example.com/v1/others', 'POST', '/apis/slow.example.com/v1/others', {}],
  ['an authenticator', '/tokens', 'GET', '/api/v1/pods', undefined, 'a-token-that-nobody-knows'],
  [
    'an authorizer that may be passed over',
    '/access',
    'POST',
    '/api/v1/namespaces/asked/configmaps',
    { metadata: { name: 'unasked' } },
    'system:anonymous',
  ],
])('a call of %s ends with its client', async (_what, called, method, path, body, token) => {
  came.length = ended.length = 0
  const hangUp = send(method, path, body, token)
  await eventually(() => expect(came).toContain(called))
  expect(ended).toEqual([])
  hangUp()
  // The call ends long before its timeout of 30 seconds.
  await eventually(() => expect(ended).toContain(called))
})

test('a request whose client disconnected wrote nothing', async () => {
  for (const name of ['fail', 'ignore']) expect((await api.send('GET', `${CONFIG_MAPS}/${name}`)).status).toBe(404)
  expect((await api.send('GET', '/apis/converted.example.com/v1/things/b')).status).toBe(404)
  expect((await api.send('GET', '/api/v1/namespaces/default/pods/p')).status).toBe(404)
})

test('the authenticator reviews further tokens after many clients disconnected', async () => {
  came.length = ended.length = 0
  // These are more calls than may wait for the authenticator at once.
  for (let round = 1; round <= 5; round++) {
    const hangUps = Array.from({ length: 30 }, (_, n) =>
      send('GET', '/api/v1/pods', undefined, `given-up-${round}-${n}`),
    )
    await eventually(() => expect(came).toHaveLength(round * 30))
    for (const hangUp of hangUps) hangUp()
    await eventually(() => expect(ended).toHaveLength(round * 30))
  }
})

/** @returns a function that disconnects the client */
function send(method: string, path: string, body: object | undefined, token = api.token): () => void {
  const headers = {
    Authorization: `Bearer ${token === 'system:anonymous' ? api.token : token}`,
    'Content-Type': 'application/json',
    ...(token === 'system:anonymous' ? { 'Impersonate-User': 'somebody' } : {}),
  }
  const sent = request(`${kedge.url}${path}`, { method, headers, agent: false, rejectUnauthorized: false })
  sent.on('error', () => {}).end(body === undefined ? undefined : JSON.stringify(body))
  return () => void sent.destroy()
}
