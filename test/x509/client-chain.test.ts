import { expect, test } from 'vitest'
import { readAuthorities, validClientChain } from '../../src/x509/client-chain.ts'
import { bitString, contextTag, sequence, TAG, write } from '../../src/x509/der.ts'
import {
  authorityBit,
  client,
  CLIENT_AUTH,
  CN,
  extension,
  keyUsage,
  makeCertificate,
  purposes,
  SERVER_AUTH,
} from './make-certificate.ts'
import type { Made, Wanted } from './make-certificate.ts'

const now = new Date('2026-05-01T00:00:00Z')
const hour = 3_600_000
const make = (wanted: Partial<Wanted>): Promise<Made> =>
  makeCertificate(now, { subject: [[CN, 'somebody']], ...wanted })
const caExtensions = [authorityBit(), keyUsage(5)]
const authority = (name: string, wanted: Partial<Wanted> = {}): Promise<Made> =>
  make({ subject: [[CN, name]], extensions: caExtensions, ...wanted })
const isValid = async (root: Made, ...chain: Made[]): Promise<boolean> =>
  (await validClientChain(
    chain.map(({ der }) => der),
    readAuthorities(root.pem),
    now,
  )) !== undefined

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)
const dns = (name: string): Uint8Array => write(0x82, ascii(name))
const names = (isCritical: boolean, ...them: Uint8Array[]): Uint8Array =>
  extension('2.5.29.17', isCritical, sequence(...them))
/** Permits these names. */
const constraints = (isCritical: boolean, ...them: Uint8Array[]): Uint8Array =>
  extension('2.5.29.30', isCritical, sequence(write(contextTag(0), ...them.map((name) => sequence(name)))))
const requiresPolicy = sequence(write(0x80, Uint8Array.of(0)))

const root = await authority('root')
const middle = await authority('middle', { by: root })

test.each<[what: string, extensions: Uint8Array[], expected: boolean]>([
  ['for clients', client, true],
  ['that names no purpose', [], true],
  ['for any purpose', [purposes('2.5.29.37.0')], true],
  ['for servers and clients', [purposes(SERVER_AUTH, CLIENT_AUTH)], true],
  ['for servers', [purposes(SERVER_AUTH)], false],
  ['with an empty list of purposes', [purposes()], true],
  ['whose key may only encipher', [keyUsage(2), purposes(CLIENT_AUTH)], true],
  ['whose key may only sign certificates', [keyUsage(5), purposes(CLIENT_AUTH)], true],
  ['whose purposes are no sequence', [extension('2.5.29.37', false, write(0x31))], false],
  ['whose key usage is no bit string', [extension('2.5.29.15', true, write(TAG.octetString, Uint8Array.of(0)))], false],
  ['whose key usage has unused bits', [extension('2.5.29.15', true, bitString(Uint8Array.of(0x81), 3))], false],
  ['whose truth value is none', [extension('2.5.29.19', true, sequence(write(TAG.boolean, Uint8Array.of(1))))], false],
  ['with a critical name of a sort that Go does not read', [names(true, write(0x88, Uint8Array.of(0x2a)))], false],
  ['with such a name that is not critical', [names(false, write(0x88, Uint8Array.of(0x2a)))], true],
  ['with critical names', [names(true, dns('a.example'))], true],
  ['with an address of three octets', [names(false, write(0x87, Uint8Array.of(1, 2, 3)))], false],
  ['with a URI that Go cannot read', [names(false, write(0x86, ascii('http://a b/')))], false],
  ['that says where revocations are', [extension('2.5.29.31', true, sequence(sequence()))], true],
  ['that requires a policy', [extension('2.5.29.36', false, requiresPolicy)], false],
  ['that maps policies', [extension('2.5.29.33', true, sequence())], true],
  ['with a critical key identifier', [extension('2.5.29.14', true, write(TAG.octetString, Uint8Array.of(1)))], false],
  ['whose authority information is none', [extension('1.3.6.1.5.5.7.1.1', false, write(4))], false],
  [
    'of no authority that constrains names',
    [constraints(true, dns('a.example')), names(false, dns('b.example'))],
    true,
  ],
  ['with something critical that is not known', [...client, extension('1.2.3.4', true, new Uint8Array(0))], false],
  ['with something else that is not known', [...client, extension('1.2.3.4', false, new Uint8Array(0))], true],
  ['that names its purpose twice', [purposes(CLIENT_AUTH), purposes(SERVER_AUTH)], false],
])('a certificate %s', async (_what, extensions, expected) => {
  expect(await isValid(root, await make({ by: root, extensions }))).toBe(expected)
})

test('a certificate that is in the bundle itself is trusted, if it is one of a client', async () => {
  const leaf = await make({ by: middle, extensions: client })
  const twin = await make({ by: middle, extensions: client })
  const server = await make({ by: middle, extensions: [purposes(SERVER_AUTH)] })
  const ended = await make({ by: middle, extensions: client, to: new Date(now.getTime() - hour) })
  expect(await isValid(leaf, leaf)).toBe(true)
  expect(await isValid(twin, leaf), 'another of the same name').toBe(false)
  expect(await isValid(server, server)).toBe(false)
  expect(await isValid(ended, ended)).toBe(false)
  expect(await isValid(leaf, await make({ by: leaf, extensions: client })), 'it is no authority').toBe(false)
})

test.each<[what: string, Partial<Wanted>]>([
  ['not yet', { from: new Date(now.getTime() + hour) }],
  ['no longer', { to: new Date(now.getTime() - hour) }],
  ['by another key', { by: await authority('root') }],
  ['with another issuer’s name', { issuer: middle.name }],
  ['by itself', { by: undefined }],
])('a certificate that is signed %s is refused', async (_what, wanted) => {
  const leaf = { by: root, extensions: client, ...wanted }
  if (leaf.by === undefined) delete (leaf as { by?: Made }).by
  expect(await isValid(root, await make(leaf))).toBe(false)
})

test('a chain is followed through the authorities that came with it, in any order', async () => {
  const lower = await authority('lower', { by: middle })
  const leaf = await make({ by: lower, extensions: client })
  expect(await isValid(root, leaf, lower, middle)).toBe(true)
  expect(await isValid(root, leaf, middle, lower)).toBe(true)
  expect(await isValid(root, leaf, lower)).toBe(false)
  expect(await isValid(middle, leaf, lower), 'an authority need not have signed itself').toBe(true)
  expect(await isValid(root, leaf, lower, middle, middle, middle, middle), 'too many').toBe(false)
})

test.each<[what: string, Partial<Wanted>]>([
  ['is none', { extensions: client }],
  ['says it is none', { extensions: [extension('2.5.29.19', true, Uint8Array.of(0x30, 0))] }],
  ['may not sign certificates', { extensions: [authorityBit(), keyUsage(0)] }],
  ['may only sign for servers', { extensions: [...caExtensions, purposes(SERVER_AUTH)] }],
  ['holds no longer', { extensions: caExtensions, to: new Date(now.getTime() - hour) }],
])('an authority in between that %s is refused', async (_what, wanted) => {
  const between = await authority('between', { by: root, ...wanted })
  expect(await isValid(root, await make({ by: between, extensions: client }), between)).toBe(false)
})

test('an authority that may have none below itself', async () => {
  const short = await authority('short', { extensions: [authorityBit(0)] })
  const below = await authority('below', { by: short })
  expect(await isValid(short, await make({ by: short, extensions: client }))).toBe(true)
  expect(await isValid(short, await make({ by: below, extensions: client }), below)).toBe(false)
})

test('a root that holds no longer, or is no authority, is none', async () => {
  for (const wanted of [{ to: new Date(now.getTime() - hour) }, { extensions: [] }]) {
    const bad = await authority('bad', wanted)
    expect(await isValid(bad, await make({ by: bad, extensions: client }))).toBe(false)
  }
})

test('a changed octet anywhere is refused, or is none of those that were signed', async () => {
  const { der } = await make({ by: root, extensions: client })
  const roots = readAuthorities(root.pem)
  const signed = (await validClientChain([der], roots, now))!.leaf.signed.bytes
  expect(await validClientChain([Uint8Array.of(...der, 0)], roots, now)).toBeUndefined()
  for (let at = 0; at < der.length; at++) {
    const changed = der.slice()
    changed[at]! ^= 1
    const valid = await validClientChain([changed], roots, now)
    if (valid !== undefined) expect([...valid.leaf.signed.bytes], `octet ${at}`).toEqual([...signed])
  }
})

test('a bundle without a certificate is an error', () => {
  expect(() => readAuthorities('nothing')).toThrow(TypeError)
})

const directory = write(contextTag(4), sequence())
test.each<[what: string, between: Uint8Array, leaf: Uint8Array[], expected: boolean]>([
  ['and the client has no names', constraints(true, dns('a.example')), client, true],
  ['and the client has others', constraints(true, dns('a.example')), [names(false, dns('b.example'))], false],
  ['not critically, and the client has others', constraints(false, dns('a.example')), [names(false, dns('b'))], false],
  ['and Go does not compare them', constraints(true, directory), client, false],
  ['and Go ignores them', constraints(false, directory), client, true],
])('an authority in between constrains names %s', async (_what, constrains, extensions, expected) => {
  const between = await authority('between', { by: root, extensions: [...caExtensions, constrains] })
  expect(await isValid(root, await make({ by: between, extensions }), between)).toBe(expected)
  const alone = await authority('alone', { extensions: [...caExtensions, constrains] })
  expect(await isValid(alone, await make({ by: alone, extensions })), 'and so does a root').toBe(expected)
})

test('an authority in between that requires a policy is refused, and a root is not', async () => {
  const extensions = [...caExtensions, extension('2.5.29.36', false, requiresPolicy)]
  const between = await authority('between', { by: root, extensions })
  expect(await isValid(root, await make({ by: between, extensions: client }), between)).toBe(false)
  const alone = await authority('alone', { extensions })
  expect(await isValid(alone, await make({ by: alone, extensions: client }))).toBe(true)
})

test('a root for servers alone names no clients', async () => {
  const alone = await authority('alone', { extensions: [...caExtensions, purposes(SERVER_AUTH)] })
  expect(await isValid(alone, await make({ by: alone, extensions: client }))).toBe(false)
})
