import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { issuedErrors } from '../../../src/registry/certificates/pod-certificates.ts'
import { primitiveContextTag, sequence, write } from '../../../src/x509/der.ts'
import { toBase64 } from '../../../src/x509/pem.ts'
import { extension, signCertificate } from '../../../src/x509/sign-certificate.ts'
import { signerOf } from '../../../src/x509/signature.ts'

const now = new Date('2026-05-01T00:00:00Z')
const DAY = 86_400_000
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const publicKey = new Uint8Array(keys.publicKey.export({ type: 'spki', format: 'der' }))
const signer = await signerOf(new Uint8Array(keys.privateKey.export({ type: 'pkcs8', format: 'der' })))
const [EMAIL, DNS, ADDRESS] = [1, 2, 7]

async function errorsOf(names: [kind: number, name: string][], more: object = {}): Promise<string[]> {
  const certificateChain = await signCertificate(signer, {
    serial: Uint8Array.of(1),
    issuer: sequence(),
    subject: sequence(),
    notBefore: now,
    notAfter: new Date(now.getTime() + DAY),
    publicKey,
    extensions: [
      extension(
        '2.5.29.17',
        false,
        sequence(...names.map(([kind, name]) => write(primitiveContextTag(kind), Buffer.from(name, 'latin1')))),
      ),
    ],
  })
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString()
  const times = { notBefore: at(0), notAfter: at(86_400), beginRefreshAt: at(3_600) }
  const spec = { pkixPublicKey: toBase64(publicKey), maxExpirationSeconds: 86_400 }
  return issuedErrors(spec, { certificateChain, ...times, ...more }, now).map(({ message }) =>
    message.replace(/^Invalid value: (?:"(?:[^"\\]|\\.)*": )?|^Required value: /, ''),
  )
}

// kube-apiserver 1.36.3 answered these
test.each<[number, string, string[]]>([
  [DNS, 'a.b', []],
  [DNS, '*.a', []],
  [DNS, '', ['leaf certificate should not contain empty DNSName']],
  [DNS, 'a..b', ["leaf certificate's DNSName should not contain '..'"]],
  [DNS, '.a', ["leaf certificate's DNSName should not start or end with '.'"]],
  [DNS, 'a.', ["leaf certificate's DNSName should not start or end with '.'"]],
  ...['a@b', 'A <a@b>', '"a b"@c', 'a@[1.2.3.4]'].map((name): [number, string, string[]] => [EMAIL, name, []]),
  ...['', 'a', 'a@', '@b', 'a b@c', 'a@b,c@d', 'a.@b', 'a..b@c', 'a@b c'].map((name): [number, string, string[]] => [
    EMAIL,
    name,
    ['leaf certificate should not contain invalid EmailAddress'],
  ]),
  [DNS, '\xfc', ['leaf certificate does not parse as valid X.509']],
  [ADDRESS, 'abc', ['leaf certificate does not parse as valid X.509']],
])('%i %j', async (kind, name, errors) => {
  expect(await errorsOf([[kind, name]])).toEqual(errors)
})

test('wrong names come before missing times, and hide wrong ones', async () => {
  const missing = 'must be present and consistent with the issued certificate'
  const empty = 'leaf certificate should not contain empty DNSName'
  expect(await errorsOf([[DNS, '']], { notBefore: undefined })).toEqual([empty, missing])
  expect(await errorsOf([[DNS, '']], { beginRefreshAt: now.toISOString() })).toEqual([empty])
  expect(await errorsOf([], { beginRefreshAt: now.toISOString() })).toEqual([
    'must be at least 10 minutes after status.notBefore',
  ])
})
