/**
 * Other Workers authenticate, authorize and sign tokens through service bindings: one answers TokenReviews, one answers
 * SubjectAccessReviews, one signs ServiceAccount tokens.
 */
import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBoundEngine } from './bound-engine.ts'

const TOKEN = 'the-token-of-an-administrator-of-this-test'

const accounts = `
export default {
  async fetch(request) {
    const review = await request.json()
    const [, name] = /^person-([a-z]+)$/.exec(review.spec.token) ?? []
    const status = name === undefined ? { authenticated: false } : { authenticated: true, user: { username: name, groups: ['people'] } }
    return Response.json({ ...review, status })
  },
}`

/** Anna may do everything in the namespace blue. Reviews of Berta's access fail. */
const access = `
export default {
  async fetch(request) {
    const review = await request.json()
    const { user, resourceAttributes } = review.spec
    if (user === 'berta') return new Response('broken', { status: 400 })
    return Response.json({ ...review, status: { allowed: user === 'anna' && resourceAttributes?.namespace === 'blue', reason: 'another Worker' } })
  },
}`

const signer = `
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
let pair
const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
const base64Url = (text) => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
export default {
  async fetch(request) {
    pair ??= await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    const { claims } = await request.json()
    switch (new URL(request.url).pathname) {
      case '/v1.ExternalJWTSigner/Sign': {
        const header = base64Url(btoa(JSON.stringify({ alg: 'ES256', kid: 'elsewhere', typ: 'JWT' })))
        const signature = await crypto.subtle.sign(algorithm, pair.privateKey, new TextEncoder().encode(header + '.' + claims))
        return Response.json({ header, signature: base64Url(base64(signature)) })
      }
      case '/v1.ExternalJWTSigner/FetchKeys': {
        const key = base64(await crypto.subtle.exportKey('spki', pair.publicKey))
        return Response.json({ keys: [{ keyId: 'elsewhere', key }], dataTimestamp: '2026-01-01T00:00:00Z', refreshHintSeconds: '600' })
      }
      case '/v1.ExternalJWTSigner/Metadata':
        return Response.json({ maxTokenExpirationSeconds: '7200' })
    }
    return new Response('', { status: 404 })
  },
}`

const authorization = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthorizationConfiguration',
  authorizers: [
    { type: 'RBAC', name: 'rbac' },
    {
      type: 'Webhook',
      name: 'access',
      webhook: {
        timeout: '30s',
        subjectAccessReviewVersion: 'v1',
        matchConditionSubjectAccessReviewVersion: 'v1',
        failurePolicy: 'Deny',
        connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/access' },
        matchConditions: [{ expression: "'people' in request.groups" }],
      },
    },
  ],
}

let engine: Miniflare | undefined
beforeAll(async () => {
  engine = await startBoundEngine(
    { accounts, access, signer },
    {
      KEDGE_ADMIN_TOKEN: TOKEN,
      KEDGE_AUTHENTICATION_TOKEN_WEBHOOK: JSON.stringify({
        connection: { url: 'https://accounts.worker/review' },
        version: 'v1',
      }),
      KEDGE_AUTHORIZATION_CONFIG: JSON.stringify(authorization),
      KEDGE_WEBHOOK_CONNECTIONS: JSON.stringify({ '/access': { url: 'https://access.worker/review' } }),
      KEDGE_SA_SIGNER: JSON.stringify({ url: 'https://signer.worker' }),
    },
  )
})
afterAll(() => engine?.dispose())

async function send(
  token: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; object: any; warning: string }> {
  const response = await engine!.dispatchFetch(`http://localhost${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, object: await response.json(), warning: response.headers.get('Warning') ?? '' }
}

test.each([
  ['anna', 'blue', 200, undefined],
  ['anna', 'red', 403, 'User "anna" cannot list resource "configmaps" in API group "" in the namespace "red"'],
  ['carl', 'blue', 403, 'User "carl" cannot list'],
  // The authorizer fails: the request is not allowed, and the answer does not call it forbidden.
  ['berta', 'blue', 500, undefined],
])('%s in the namespace %s: %i', async (name, namespace, status, message) => {
  const answer = await send(`person-${name}`, 'GET', `/api/v1/namespaces/${namespace}/configmaps`)
  expect(answer.status).toBe(status)
  if (message !== undefined) expect(answer.object.message).toContain(message)
})

test('a user that the Worker does not know is anonymous', async () => {
  expect((await send('a-stranger', 'GET', '/version')).status).toBe(401)
})

test('a Worker signs the tokens of ServiceAccounts, and sets their lifetime', async () => {
  const account = '/api/v1/namespaces/default/serviceaccounts/default'
  const made = await send(TOKEN, 'POST', `${account}/token`, { spec: { expirationSeconds: 86_400 } })
  expect(made).toMatchObject({ status: 201, object: { spec: { expirationSeconds: 7200 } } })
  expect(made.warning).toContain('requested expiration of 86400 seconds shortened to 7200 seconds')
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const who = await send(made.object.status.token, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review)
  expect(who.object.status.userInfo.username).toBe('system:serviceaccount:default:default')
  const { keys } = (await send(TOKEN, 'GET', '/openid/v1/jwks')).object
  expect(keys).toMatchObject([{ kid: 'elsewhere', kty: 'EC', crv: 'P-256', alg: 'ES256' }])
})
