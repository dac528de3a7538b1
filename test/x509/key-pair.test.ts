import { generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { expect, test } from 'vitest'
import { isKeyOf } from '../../src/x509/key-pair.ts'

const pkcs8 = (key: KeyObject) => new Uint8Array(key.export({ type: 'pkcs8', format: 'der' }))
const named = (key: KeyObject) => ({ publicKey: new Uint8Array(key.export({ type: 'spki', format: 'der' })) })
const ec = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 })

test.each([
  ['EC', ec(), ec()],
  ['RSA', rsa(), rsa()],
])('a key of %s is told from another one', (_, one, other) => {
  expect(isKeyOf(pkcs8(one.privateKey), named(one.publicKey))).toBe(true)
  expect(isKeyOf(pkcs8(one.privateKey), named(other.publicKey))).toBe(false)
})

test('a key of another kind is another one; one that does not say its public half says nothing', () => {
  const [curve, modulus] = [ec(), rsa()]
  expect(isKeyOf(pkcs8(curve.privateKey), named(modulus.publicKey))).toBe(false)
  const edwards = generateKeyPairSync('ed25519')
  expect(isKeyOf(pkcs8(edwards.privateKey), named(edwards.publicKey))).toBeUndefined()
})
