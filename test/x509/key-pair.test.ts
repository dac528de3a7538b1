import { generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { expect, test } from 'vitest'
import { isKeyOf, signsFor } from '../../src/x509/key-pair.ts'

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

test('a key of another kind is another one, and so is one that tells no public half', () => {
  const [curve, modulus] = [ec(), rsa()]
  expect(isKeyOf(pkcs8(curve.privateKey), named(modulus.publicKey))).toBe(false)
  expect(isKeyOf(pkcs8(modulus.privateKey), named(curve.publicKey))).toBe(false)
  const edwards = generateKeyPairSync('ed25519')
  expect(isKeyOf(pkcs8(edwards.privateKey), named(edwards.publicKey))).toBe(false)
})

test.each([
  ['EC', ec()],
  ['RSA', rsa()],
])('what a key of %s signs is checked with the certificate', async (_, { privateKey, publicKey }) => {
  expect(await signsFor(pkcs8(privateKey), named(publicKey))).toBe(true)
  const lying = pkcs8(privateKey)
  lying[40] = lying[40]! ^ 1
  expect(await signsFor(lying, named(publicKey))).toBe(false)
})
