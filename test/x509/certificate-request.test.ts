/** Signatures of certificate requests, as Go's crypto/x509 checks them: of all that is signed, only these may use SHA-1. */
import { generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { hasOwnSignature, readRequest } from '../../src/x509/certificate-request.ts'
import {
  bitString,
  contextTag,
  objectIdentifier,
  readElement,
  sequence,
  unsignedInteger,
  write,
} from '../../src/x509/der.ts'
import { isSignedBy } from '../../src/x509/signature.ts'

interface Pair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })

function requestOf({ publicKey, privateKey }: Pair, algorithm: string, hash: string, spoiled = false): Uint8Array {
  const spki = new Uint8Array(publicKey.export({ type: 'spki', format: 'der' }))
  const info = sequence(unsignedInteger(Uint8Array.of(0)), sequence(), readElement(spki).whole, write(contextTag(0)))
  const signature = new Uint8Array(sign(hash, info, privateKey))
  if (spoiled) signature[signature.length - 1]! ^= 1
  return sequence(info, sequence(objectIdentifier(algorithm)), bitString(signature))
}

describe.each<[what: string, pair: Pair, algorithm: string, hash: string]>([
  ['RSA with SHA-256', rsa, '1.2.840.113549.1.1.11', 'sha256'],
  ['RSA with SHA-1', rsa, '1.2.840.113549.1.1.5', 'sha1'],
  ['RSA with SHA-1, by its other name', rsa, '1.3.14.3.2.29', 'sha1'],
  ['ECDSA with SHA-256', ec, '1.2.840.10045.4.3.2', 'sha256'],
  ['ECDSA with SHA-1', ec, '1.2.840.10045.4.1', 'sha1'],
])('%s', (_what, pair, algorithm, hash) => {
  test('a signature of the own key holds', async () => {
    expect(await hasOwnSignature(readRequest(requestOf(pair, algorithm, hash)))).toBe(true)
  })

  test('no other does', async () => {
    expect(await hasOwnSignature(readRequest(requestOf(pair, algorithm, hash, true)))).toBe(false)
    const otherHash = hash === 'sha1' ? 'sha256' : 'sha1'
    expect(await hasOwnSignature(readRequest(requestOf(pair, algorithm, otherHash)))).toBe(false)
    const other = pair === rsa ? ec : rsa
    expect(await hasOwnSignature(readRequest(requestOf(other, algorithm, hash)))).toBe(false)
  })

  test('a certificate may not be signed with SHA-1', async () => {
    const { signed, publicKey } = readRequest(requestOf(pair, algorithm, hash))
    expect(await isSignedBy(signed, publicKey)).toBe(hash !== 'sha1')
  })
})

test('a request signed with MD5 is refused', async () => {
  expect(await hasOwnSignature(readRequest(requestOf(rsa, '1.2.840.113549.1.1.4', 'md5')))).toBe(false)
})
