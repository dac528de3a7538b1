// The server runs a policy as it is stored, also after a restore that brings back a UID and a generation.
import { expect, test } from 'vitest'
import { compiledPolicy } from '../../../src/admission/policies/compiled-policy.ts'

const policy = (expression: string, metadata: object = {}) => ({
  metadata: { name: 'p', uid: 'u', generation: 2, resourceVersion: '7', ...metadata },
  spec: { validations: [{ expression }] },
})
const one = { uid: 'one' }

test('an unchanged policy is compiled once', async () => {
  const first = await compiledPolicy(one, 'validating', policy('true'))
  expect(await compiledPolicy(one, 'validating', policy('true'))).toBe(first)
})

test.each<[string, ReturnType<typeof policy>, { uid: string }]>([
  ['of the same generation, restored and changed', policy('false', { resourceVersion: '9' }), one],
  ['of another generation', policy('false', { generation: 3 }), one],
  ['of another control plane', policy('false'), { uid: 'other' }],
  ['made anew', policy('false', { uid: 'v' }), one],
])('a policy %s is compiled again', async (_, other, tenant) => {
  const first = await compiledPolicy(one, 'validating', policy('true'))
  expect(await compiledPolicy(tenant, 'validating', other)).not.toBe(first)
})
