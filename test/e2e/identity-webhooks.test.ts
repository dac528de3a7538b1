// Webhooks for TokenReview and SubjectAccessReview answer well, slowly, wrongly or with too much. A local server calls
// them.
import type { ServerResponse } from 'node:http'
import { createServer, request } from 'node:https'
import { mkdtempSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'

const authority = await createAuthority({ commonName: 'reviews' }, new Date(), 30)
const leaf = { subject: { commonName: 'reviews' }, usage: 'server', names: ['127.0.0.1'], days: 30 } as const
const { key, certificate } = await issue(authority, leaf, new Date())

type Answering = (review: any, response: ServerResponse) => void
const reply = (review: any, response: ServerResponse, status: object): void =>
  void response.end(JSON.stringify({ ...review, status }))

const hung: ServerResponse[] = []

/** The answer of the webhook for each token. */
const tokens: Readonly<Record<string, Answering>> = {
  good: (review, response) =>
    reply(review, response, { authenticated: true, user: { username: 'hook:anna', groups: ['dev'] } }),
  unknown: (review, response) => reply(review, response, { authenticated: false }),
  wrong: (_, response) => response.end('{"status":'),
  huge: (review, response) => reply(review, response, { authenticated: true, error: 'x'.repeat(4 * 1024 * 1024) }),
  failing: (_, response) => response.writeHead(503).end('down'),
  hanging: (_, response) => hung.push(response),
}

const server = createServer({ key, cert: certificate }, (asked, response) => {
  let text = ''
  asked.setEncoding('utf8').on('data', (part: string) => (text += part))
  asked.on('end', () => {
    const review = JSON.parse(text)
    response.setHeader('content-type', 'application/json')
    if (asked.url?.startsWith('/tokens')) return tokens[review.spec.token]?.(review, response)
    const { user, resourceAttributes = {} } = review.spec
    reply(review, response, {
      allowed: user === 'hook:anna' && resourceAttributes.namespace === 'blue',
      reason: 'asked',
    })
  })
})

const directory = mkdtempSync(join(tmpdir(), 'kedge-identity-'))
const file = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text)
  return join(directory, name)
}
const kubeconfig = (path: string): string => {
  const { port } = server.address() as AddressInfo // of a server that listens on TCP
  return `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:${port}/${path}', certificate-authority: ca.crt}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`
}

let kedge: KedgeProcess
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  file('ca.crt', authority.certificate)
  const authorizer = file('authorizer', kubeconfig('access'))
  const configuration = file(
    'authorization.yaml',
    `apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
- {type: Node, name: node}
- {type: RBAC, name: rbac}
- type: Webhook
  name: reviews
  webhook:
    timeout: 30s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: Deny
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: ${authorizer}}
    matchConditions: [{expression: "has(request.resourceAttributes)"}]
`,
  )
  kedge = await startKedge([
    '--ephemeral',
    '--port',
    '0',
    '--authentication-token-webhook-config-file',
    file('tokens', kubeconfig('tokens')),
    '--authentication-token-webhook-version',
    'v1',
    '--authorization-config',
    configuration,
  ])
})
afterAll(async () => {
  await kedge?.stop()
  server.closeAllConnections()
  server.close()
})

const get = (path: string, token: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const sent = request(`${kedge.url}${path}`, { headers, rejectUnauthorized: false }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
    })
    sent.once('error', reject).end()
  })

test.each([
  ['good', 200],
  ['unknown', 401],
  ['wrong', 401],
  ['huge', 401],
  ['failing', 401],
])('a token that is %s: %i', async (token, status) => {
  expect(await get('/version', token)).toBe(status)
})

test('a server that hangs harms no other token', async () => {
  const waits = get('/version', 'hanging')
  await eventually(() => expect(hung).toHaveLength(1))
  expect(await get('/version', 'good')).toBe(200)
  hung[0]!.writeHead(403).end()
  expect(await waits).toBe(401)
})

test.each([
  ['/api/v1/namespaces/blue/configmaps', 200],
  ['/api/v1/namespaces/red/configmaps', 403],
  ['/metrics', 403],
])('%s: %i by the authorizer', async (path, status) => {
  expect(await get(path, 'good')).toBe(status)
})
