import { expect, test } from 'vitest'
import { createAuthority } from '../../../src/cli/data-directory/certificate.ts'
import { joinCommand } from '../../../src/cli/commands/join.ts'

const certificate = async (): Promise<string> =>
  (await createAuthority({ commonName: 'kubernetes' }, new Date(), 1)).certificate
const HASH = '--discovery-token-ca-cert-hash sha256:[0-9a-f]{64}'

test.each([
  ['one CA', 1],
  ['two, while it is rotated', 2],
])('the command names %s', async (_, count) => {
  const all = await Promise.all(Array.from({ length: count }, certificate))
  const server = { url: 'https://here', token: '', authority: all.join('') }
  const pattern = `^kubeadm join here:6443 --token abcdef.0123456789abcdef${` ${HASH}`.repeat(count)}$`
  expect(joinCommand(server, 'here:6443', 'abcdef.0123456789abcdef')).toMatch(new RegExp(pattern))
})
