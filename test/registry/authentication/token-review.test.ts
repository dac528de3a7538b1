import { expect, test } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { tokenReview } from '../../../src/registry/authentication/token-review.ts'
import { compileExpressionsWith } from '../../../src/authentication/expression.ts'
import { compileIdentityExpression } from '../../../src/expressions/identity-expressions.ts'
import { memoryServer } from '../../request-in-memory.ts'

compileExpressionsWith(async () => compileIdentityExpression)

const server = memoryServer({ KEDGE_ADMIN_TOKEN: 'an-administrators-secret-of-this-test' })

async function reviewed(token: string, on = server, request = on.request('/')) {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } }
  // a review has only the fields that the test needs
  const { status } = (await tokenReview(request, review as unknown as KubeObject, async () => {})) as {
    status?: { authenticated: boolean; error?: string; user?: { username: string } }
  }
  return status
}

test('a good token', async () => {
  expect(await reviewed('an-administrators-secret-of-this-test')).toMatchObject({
    authenticated: true,
    user: { username: 'kubernetes-admin' },
  })
})

// a TokenReview may carry a token that no HTTP header can hold
test.each(['garbage', 'a\u0000b', 'snow\u2603man', 'a\nb'])(
  '%j: a bad token, and no mistake of ours',
  async (token) => {
    expect(await reviewed(token)).toMatchObject({ authenticated: false, error: expect.stringContaining('token') })
  },
)

const configured = (anonymous: object) =>
  memoryServer({
    KEDGE_AUTHENTICATION_CONFIG: JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthenticationConfiguration',
      anonymous,
    }),
  })

test('a token of blanks is none: anonymous, where all requests may be', async () => {
  expect(await reviewed(' ')).toMatchObject({ authenticated: true, user: { username: 'system:anonymous' } })
  for (const on of [
    memoryServer({ KEDGE_ANONYMOUS_AUTH: '0' }),
    configured({ enabled: false }),
    configured({ enabled: true, conditions: [{ path: '/healthz' }] }),
  ])
    expect(await reviewed(' ', on)).toEqual({ authenticated: false })
})

test('a token that ends while the body of the review comes', async () => {
  const on = memoryServer()
  const data = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
    expiration: new Date(on.now.getTime() + 30_000).toISOString(),
  }
  await on.put('', 'secrets', {
    metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, btoa(text)])),
  })
  const token = 'abcdef.0123456789abcdef'
  const slow = on.request('/')
  on.now = new Date(on.now.getTime() + 25_000)
  expect(await reviewed(token, on)).toMatchObject({ authenticated: true })
  // the answer is remembered for ten seconds
  on.now = new Date(on.now.getTime() + 15_000)
  expect(await reviewed(token, on, slow)).toMatchObject({ authenticated: false })
})
