import { expect, test } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { tokenReview } from '../../../src/registry/authentication/token-review.ts'
import { memoryServer } from '../../request-in-memory.ts'

const server = memoryServer({ KEDGE_ADMIN_TOKEN: 'an-administrators-secret-of-this-test' })

async function reviewed(token: string) {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } }
  // a review has only the fields that the test needs
  const { status } = (await tokenReview(server.request('/'), review as unknown as KubeObject, async () => {})) as {
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
