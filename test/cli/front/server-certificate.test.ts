import { expect, test } from 'vitest'
import { createAuthority } from '../../../src/cli/data-directory/certificate.ts'
import { credentialProblem } from '../../../src/cli/front/server-certificate.ts'

const [own, other] = await Promise.all(
  ['own', 'other'].map((commonName) => createAuthority({ commonName }, new Date(), 1)),
)

test('a certificate and its key can be shown', () => {
  expect(credentialProblem(own!)).toBeUndefined()
})

// a renewal may write a file in two steps, and one file after the other
test.each([
  ['no certificate yet', { ...own!, certificate: '' }],
  ['no key yet', { ...own!, key: '' }],
  ['half of a certificate', { ...own!, certificate: own!.certificate.slice(0, 100) }],
  ['the key of another certificate', { ...own!, key: other!.key }],
])('%s cannot', (_name, credential) => {
  expect(credentialProblem(credential)).toContain('--tls-cert-file and --tls-private-key-file cannot be used: ')
})
