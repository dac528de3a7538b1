import { constants, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { provesPossession, readPublicKey } from '../../src/x509/public-key.ts'

const der = (key: KeyObject) => new Uint8Array(key.export({ type: 'spki', format: 'der' }))
const text = new TextEncoder().encode('the uid of a pod')

const ed25519 = generateKeyPairSync('ed25519')
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pss = (saltLength: number) => ({ key: rsa.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength })

test.each([
  ['Ed25519', ed25519.publicKey, { kind: 'Ed25519' }],
  ['P-256', p256.publicKey, { kind: 'EC', curve: 'P-256' }],
  ['P-384', p384.publicKey, { kind: 'EC', curve: 'P-384' }],
  ['secp256k1', generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey, { kind: 'EC', curve: undefined }],
  ['RSA', rsa.publicKey, { kind: 'RSA', modulusBits: 2048 }],
  ['X25519', generateKeyPairSync('x25519').publicKey, { kind: 'other' }],
])('a key of %s', (_, key, expected) => {
  expect(readPublicKey(der(key))).toEqual(expected)
})

test.each([
  ['nothing', new Uint8Array()],
  ['text', text],
  ['a key cut off', der(rsa.publicKey).slice(0, -3)],
  ['more than a key', new Uint8Array([...der(p256.publicKey), 0])],
])('%s is no key', (_, bytes) => {
  expect(() => readPublicKey(bytes)).toThrow()
})

describe.each([
  ['Ed25519', ed25519.publicKey, sign(null, text, ed25519.privateKey)],
  ['P-256', p256.publicKey, sign('sha256', text, p256.privateKey)],
  ['P-384', p384.publicKey, sign('sha256', text, p384.privateKey)],
  ['RSA, the longest salt', rsa.publicKey, sign('sha256', text, pss(constants.RSA_PSS_SALTLEN_MAX_SIGN))],
  ['RSA, a salt of the length of the hash', rsa.publicKey, sign('sha256', text, pss(32))],
])('possession of a key of %s', (_, key, signature) => {
  test('is proven', async () => {
    expect(await provesPossession(der(key), text, signature)).toBe(true)
  })

  test('is not proven by a signature of something else', async () => {
    expect(await provesPossession(der(key), new TextEncoder().encode('another'), signature)).toBe(false)
  })

  test('is not proven by what is no signature', async () => {
    expect(await provesPossession(der(key), text, new Uint8Array([1, 2, 3]))).toBe(false)
  })
})
