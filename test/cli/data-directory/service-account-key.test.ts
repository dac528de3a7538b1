import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { issueToken } from '../../../src/authentication/service-account.ts'
import { verificationKeys } from '../../../src/authentication/service-account-key.ts'
import { authenticateToken } from '../../../src/authentication/token-authenticator.ts'
import { openPki } from '../../../src/cli/data-directory/pki.ts'
import type { Pki } from '../../../src/cli/data-directory/pki.ts'
import { rotateServiceAccountKey } from '../../../src/cli/data-directory/service-account-key.ts'
import { settingsOf } from '../../../src/settings.ts'
import { memoryServer } from '../../request-in-memory.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-keys-'))
const open = (): Promise<Pki> => openPki(directory, ['localhost'], new Date())
let [before, after]: Pki[] = []
let retired = ''
beforeAll(async () => {
  before = await open()
  retired = (await rotateServiceAccountKey(directory)).retired
  after = await open()
})

const serverWith = async ({ serviceAccountKey, retiredServiceAccountKeys }: Pki) => {
  const server = memoryServer({
    KEDGE_SA_KEY: serviceAccountKey,
    ...(retiredServiceAccountKeys && { KEDGE_SA_RETIRED_KEYS: retiredServiceAccountKeys }),
  })
  const metadata = { name: 'robot', namespace: 'a', uid: 'u1' }
  await server.put('', 'serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  return server
}
const tokenOf = ({ env, now }: Awaited<ReturnType<typeof serverWith>>) =>
  issueToken({
    env,
    now,
    audiences: settingsOf(env).issuers,
    expirationSeconds: 600,
    claims: { namespace: 'a', serviceaccount: { name: 'robot', uid: 'u1' } },
  })

test('a token that was made before a rotation is good after it; a new one has the new key', async () => {
  const old = await tokenOf(await serverWith(before!))
  const server = await serverWith(after!)
  const fresh = await tokenOf(server)
  for (const token of [old, fresh])
    expect((await authenticateToken(server, token)).user.name).toBe('system:serviceaccount:a:robot')
  const keyOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid
  expect(keyOf(old)).toBe(retired)
  expect(keyOf(fresh)).not.toBe(retired)
})

test('all keys are published, and nothing private is kept of the old one', async () => {
  const { env } = await serverWith(after!)
  const keys = await verificationKeys(env)
  expect(keys.map(({ keyId }) => keyId)).toEqual([JSON.parse(after!.serviceAccountKey).kid, retired])
  expect(after!.retiredServiceAccountKeys).not.toMatch(/"(?:d|p|q|dp|dq|qi)"/)
})

test('a token of a key that is none of them is refused', async () => {
  const stranger = memoryServer({ KEDGE_SA_KEY: before!.serviceAccountKey })
  const token = await tokenOf(stranger)
  const alone = await serverWith({ ...after!, retiredServiceAccountKeys: undefined })
  await expect(authenticateToken(alone, token)).rejects.toThrow('invalid signature, no keys found')
})

test.each([
  ['a private key', () => JSON.stringify({ keys: [JSON.parse(before!.serviceAccountKey)] })],
  ['no JWKS', () => '{}'],
  ['a key without an id', () => after!.retiredServiceAccountKeys!.replace(/"kid":"[^"]*",/, '')],
])('%s is no setting', (_, text) => {
  expect(() => settingsOf({ KEDGE_SA_RETIRED_KEYS: text() })).toThrow('KEDGE_SA_RETIRED_KEYS must be a JWKS')
})
