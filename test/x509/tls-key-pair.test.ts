// The texts are those of kube-apiserver 1.36.3, which were compared for 304 pairs.
import { generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { expect, test } from 'vitest'
import { bitString, objectIdentifier, sequence, timeOf, unsignedInteger } from '../../src/x509/der.ts'
import { pemText } from '../../src/x509/pem.ts'
import { keyPairProblem } from '../../src/x509/tls-key-pair.ts'

const der = (key: KeyObject) => new Uint8Array(key.export({ type: 'spki', format: 'der' }))
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })
const keys = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  'another rsa': generateKeyPairSync('rsa', { modulusLength: 2048 }),
  p256: ec('P-256'),
  'another p256': ec('P-256'),
  p384: ec('P-384'),
  secp256k1: ec('secp256k1'),
  ed25519: generateKeyPairSync('ed25519'),
  ed448: generateKeyPairSync('ed448'),
}
type Name = keyof typeof keys

function certificate(name: Name): string {
  const algorithm = sequence(objectIdentifier('1.2.840.10045.4.3.2'))
  const date = timeOf(new Date('2026-01-01T00:00:00Z'))
  const number = unsignedInteger(Uint8Array.of(1))
  const signed = sequence(number, algorithm, sequence(), sequence(date, date), sequence(), der(keys[name].publicKey))
  return pemText('CERTIFICATE', sequence(signed, algorithm, bitString(Uint8Array.of(1))))
}
const pem = (name: Name, type: 'pkcs8' | 'pkcs1' | 'sec1' = 'pkcs8') =>
  keys[name].privateKey.export({ type: type as 'pkcs8', format: 'pem' }) as string

const CHANGED = 'tls: private key does not match public key'
const OTHER = 'tls: private key type does not match public key type'
const UNREAD = 'tls: failed to parse private key'

test.each<[Name, string, string | undefined]>([
  ['rsa', pem('rsa'), undefined],
  ['rsa', pem('rsa', 'pkcs1'), undefined],
  ['rsa', pem('another rsa'), CHANGED],
  ['rsa', pem('another rsa', 'pkcs1'), CHANGED],
  ['rsa', pem('p256'), OTHER],
  ['rsa', pem('ed25519'), OTHER],
  ['p256', pem('p256'), undefined],
  ['p256', pem('p256', 'sec1'), undefined],
  ['p256', pem('another p256'), CHANGED],
  ['p256', pem('p384', 'sec1'), CHANGED],
  ['p256', pem('rsa', 'pkcs1'), OTHER],
  ['p256', pem('secp256k1'), UNREAD],
  ['secp256k1', pem('rsa'), 'x509: unsupported elliptic curve'],
  ['ed25519', pem('ed25519'), undefined],
  ['ed25519', pem('p256'), OTHER],
  ['ed448', pem('rsa'), 'tls: unknown public key algorithm'],
  ['ed448', pem('ed448'), UNREAD],
])('a certificate of %s with %j', (name, key, problem) => {
  expect(keyPairProblem(certificate(name), key)).toBe(problem)
})

const other = pemText('FOO', Uint8Array.of(1))
const NO_CERTIFICATE = 'tls: failed to find "CERTIFICATE" PEM block in certificate input'
const NO_KEY = 'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input'
const SKIPPED = 'after skipping PEM blocks of the following types:'

test.each([
  ['', 'tls: failed to find any PEM data in certificate input'],
  [
    '-----BEGIN CERTIFICATE-----\n<yours>\n-----END CERTIFICATE-----\n',
    'tls: failed to find any PEM data in certificate input',
  ],
  [other, `${NO_CERTIFICATE} ${SKIPPED} [FOO]`],
  [other + pem('rsa'), `${NO_CERTIFICATE} ${SKIPPED} [FOO PRIVATE KEY]`],
  [
    pem('rsa'),
    'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
  ],
  [pemText('CERTIFICATE', Uint8Array.of(0)), 'x509: malformed certificate'],
  [other + certificate('rsa') + other, undefined],
  [certificate('rsa') + certificate('p256'), undefined],
  [certificate('p256') + certificate('rsa'), OTHER],
])('a certificate %j', (text, problem) => {
  expect(keyPairProblem(text, pem('rsa'))).toBe(problem)
})

test.each([
  ['', 'tls: failed to find any PEM data in key input'],
  [other, `${NO_KEY} ${SKIPPED} [FOO]`],
  [other + certificate('rsa'), `${NO_KEY} ${SKIPPED} [FOO CERTIFICATE]`],
  [certificate('rsa'), 'tls: found a certificate rather than a key in the PEM for the private key'],
  [pemText('PRIVATE KEY', Uint8Array.of(0)), UNREAD],
  [other + pem('rsa'), undefined],
])('a key %j', (text, problem) => {
  expect(keyPairProblem(certificate('rsa'), text)).toBe(problem)
})
