import { X509Certificate, createPublicKey } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { openPki } from '../../../src/cli/data-directory/pki.ts'
import type { Pki } from '../../../src/cli/data-directory/pki.ts'
import type { RotationStep } from '../../../src/cli/data-directory/rotate-authority.ts'
import { rotateAuthority } from '../../../src/cli/data-directory/rotate-authority.ts'
import { settingsOf } from '../../../src/settings.ts'
import { pemBlocks } from '../../../src/x509/pem.ts'

const now = new Date()
let directory = ''
const open = (): Promise<Pki> => openPki(directory, ['localhost'], now)
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'kedge-authority-'))))

const isOf = ({ server }: Pki, authority: string): boolean =>
  new X509Certificate(server.certificate).verify(createPublicKey(authority))
const count = ({ authorities }: Pki): number => pemBlocks(authorities).length
/** The server accepts these as settings: the signing key belongs to the first authority. */
const asSettings = ({ authority, authorities }: Pki) =>
  settingsOf({ KEDGE_CA: authorities, KEDGE_CA_KEY: authority.key }).authority

test('clients trust both CAs before the new CA signs, and until the old CA is dropped', async () => {
  const old = await open()
  expect(count(old)).toBe(1)

  await rotateAuthority(directory, 'begin', now)
  const begun = await open()
  expect([begun.authority, begun.server]).toEqual([old.authority, old.server])
  expect(count(begun)).toBe(2)
  expect(asSettings(begun)).toBe(begun.authorities)

  await rotateAuthority(directory, 'switch', now)
  const switched = await open()
  expect(switched.authority.certificate).not.toBe(old.authority.certificate)
  expect(begun.authorities).toContain(switched.authority.certificate)
  expect(switched.authorities).toBe(switched.authority.certificate + old.authority.certificate)
  expect([isOf(switched, switched.authority.certificate), isOf(switched, old.authority.certificate)]).toEqual([
    true,
    false,
  ])
  expect(asSettings(switched)).toBe(switched.authorities)

  await rotateAuthority(directory, 'finish', now)
  const finished = await open()
  expect(finished.authorities).toBe(switched.authority.certificate)
  expect(finished.server).toEqual(switched.server)
})

test.each([
  [[], 'switch', 'begin'],
  [[], 'finish', 'begin'],
  [['begin'], 'begin', 'switch'],
  [['begin'], 'finish', 'switch'],
  [['begin', 'switch'], 'switch', 'finish'],
  [['begin', 'switch'], 'begin', 'finish'],
] as const)('after %j, %s is refused: %s is due', async (done, step, due) => {
  await open()
  for (const one of done) {
    await rotateAuthority(directory, one, now)
    await open()
  }
  await expect(rotateAuthority(directory, step, now)).rejects.toThrow(
    `The next step is "kedge keys rotate --ca ${due}".`,
  )
})

test.each(['ca', 'front-proxy-ca'] as const)('%s: a step without a start before it is refused', async (name) => {
  const rotate = (step: RotationStep, isForced = false) => rotateAuthority(directory, step, now, name, isForced)
  const refused = 'No server has started since the last step, so nobody trusts what comes next.'
  await open()
  await rotate('begin')
  await expect(rotate('switch')).rejects.toThrow(refused)
  await open()
  await rotate('switch')
  await expect(rotate('finish')).rejects.toThrow(refused)
  await rotate('finish', true)
  const pki = await open()
  expect(pemBlocks(name === 'ca' ? pki.authorities : pki.frontProxyAuthorities)).toHaveLength(1)
})

test('a directory without a CA is refused', async () => {
  await expect(rotateAuthority(directory, 'begin', now)).rejects.toThrow('There is no CA')
})

test('the CA of front proxies rotates by itself', async () => {
  const rotated = async (step: 'begin' | 'switch' | 'finish') => {
    await rotateAuthority(directory, step, now, 'front-proxy-ca')
    const pki = await open()
    const by = new X509Certificate(pki.frontProxy.certificate)
    return {
      pki,
      trusts: pemBlocks(pki.frontProxyAuthorities).length,
      signs: (pem: string) => by.verify(createPublicKey(pem)),
    }
  }
  const old = await open()
  const begun = await rotated('begin')
  expect([begun.trusts, begun.signs(old.frontProxyAuthority.certificate)]).toEqual([2, true])
  const switched = await rotated('switch')
  const fresh = switched.pki.frontProxyAuthority.certificate
  expect([switched.trusts, switched.signs(fresh)]).toEqual([2, true])
  expect(begun.pki.frontProxyAuthorities).toContain(fresh)
  const finished = await rotated('finish')
  expect(finished.pki.frontProxyAuthorities).toBe(fresh)
  expect(finished.pki.authorities).toBe(old.authorities)
  await expect(rotateAuthority(directory, 'switch', now, 'front-proxy-ca')).rejects.toThrow(
    'The next step is "kedge keys rotate --front-proxy-ca begin".',
  )
})

test('rotation repeats an interrupted switch, and still trusts the old CA', async () => {
  const old = await open()
  await rotateAuthority(directory, 'begin', now)
  const file = (name: string): string => join(directory, name)
  // the rotation was interrupted: the old authority is saved, and only half of the new one is written
  writeFileSync(file('ca.before.crt'), old.authority.certificate)
  writeFileSync(file('ca.key'), readFileSync(file('ca.next.key')))
  await rotateAuthority(directory, 'switch', now)
  const { authority, authorities } = await open()
  expect(authorities).toBe(authority.certificate + old.authority.certificate)
  expect(isOf(await open(), authority.certificate)).toBe(true)
})

describe.each(['ca', 'front-proxy-ca'] as const)('a switch of %s that was interrupted', (name) => {
  const file = (ending: string): string => join(directory, `${name}.${ending}`)
  const copy = (from: string, to: string) => (): void => writeFileSync(file(to), readFileSync(file(from)))
  /** The steps of a switch, each of which it may be interrupted after. */
  const steps = [
    copy('crt', 'before.crt'),
    copy('next.key', 'key'),
    copy('next.crt', 'crt'),
    () => rmSync(file('next.crt')),
  ]

  test.each(steps.map((_, index) => index + 1))('after %i of its steps is finished by the next start', async (done) => {
    const ofName = (pki: Pki) =>
      name === 'ca' ? [pki.authority, pki.authorities] : [pki.frontProxyAuthority, pki.frontProxyAuthorities]
    const [old] = ofName(await open()) as [Pki['authority'], string]
    await rotateAuthority(directory, 'begin', now, name)
    await open()
    const next = readFileSync(file('next.crt'), 'utf8')
    for (const step of steps.slice(0, done)) step()
    expect(ofName(await open())).toEqual([
      { certificate: next, key: readFileSync(file('key'), 'utf8') },
      next + old.certificate,
    ])
    await rotateAuthority(directory, 'finish', now, name)
    expect(ofName(await open())[1]).toBe(next)
  })
})

describe('an authority without', () => {
  const file = (name: string): string => join(directory, name)

  test.each([
    ['ca.key', 'ca.crt'],
    ['ca.crt', 'ca.key'],
    ['front-proxy-ca.key', 'front-proxy-ca.crt'],
    ['front-proxy-ca.crt', 'front-proxy-ca.key'],
  ])('its %s is not replaced: %s stays as it is', async (missing, left) => {
    await open()
    const text = readFileSync(file(left), 'utf8')
    rmSync(file(missing))
    await expect(open()).rejects.toThrow(`${file(left)} has no ${missing} beside it.`)
    expect(readFileSync(file(left), 'utf8')).toBe(text)
  })

  test('both of its files is made anew, and signs', async () => {
    const old = await open()
    for (const name of ['ca.key', 'ca.crt']) rmSync(file(name))
    const { authority, ...others } = await open()
    expect(authority.certificate).not.toBe(old.authority.certificate)
    expect(isOf({ authority, ...others }, authority.certificate)).toBe(true)
  })

  test('its certificate is made by the start that follows an interrupted first one', async () => {
    const { authority } = await open()
    rmSync(directory, { recursive: true })
    mkdirSync(directory)
    writeFileSync(file('ca.key'), authority.key)
    expect((await open()).authority.key).not.toBe(authority.key)
  })
})
