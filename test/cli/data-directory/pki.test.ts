import { X509Certificate, createPrivateKey } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openPki } from '../../../src/cli/data-directory/pki.ts'
import { rotateAuthority } from '../../../src/cli/data-directory/rotate-authority.ts'

const DAY = 86_400_000
const FIRST_START = new Date('2026-01-01T00:00:00Z')
const NAMES = ['localhost', '127.0.0.1']

let directory: string
const path = (file: string): string => join(directory, file)
const open = (now = FIRST_START) => openPki(directory, NAMES, now)
const daysLater = (days: number): Date => new Date(FIRST_START.getTime() + days * DAY)

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'kedge-pki-'))
  await open()
})
afterEach(() => rmSync(directory, { recursive: true }))

const damages = {
  empty: () => '',
  'of something else': () => 'nothing in PEM',
  'of another directory': async (file: string) => {
    const other = mkdtempSync(join(tmpdir(), 'kedge-pki-'))
    await openPki(other, NAMES, FIRST_START)
    const text = readFileSync(join(other, file), 'utf8')
    rmSync(other, { recursive: true })
    return text
  },
}
const damage = async (file: string, how: keyof typeof damages): Promise<void> =>
  writeFileSync(path(file), await damages[how](file))
const eachDamage = (files: readonly string[]) =>
  files.flatMap((file) => Object.keys(damages).map((how) => [file, how as keyof typeof damages] as const))

describe('a certificate that a start can make anew', () => {
  const credentials = {
    server: 'server',
    admin: 'administrator',
    'front-proxy-client': 'frontProxy',
    'apiserver-kubelet-client': 'kubeletClient',
  } as const

  test.each(eachDamage(Object.keys(credentials).flatMap((name) => [`${name}.crt`, `${name}.key`])))(
    'is made anew where %s is %s',
    async (file, how) => {
      const name = file.replace(/\.\w+$/, '') as keyof typeof credentials // as the keys above
      await damage(file, how)
      const { certificate, key } = (await open())[credentials[name]]
      expect(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))).toBe(true)
      expect([path(`${name}.crt`), path(`${name}.key`)].map((one) => readFileSync(one, 'utf8'))).toEqual([
        certificate,
        key,
      ])
    },
  )

  test.each([
    ['stays while it is valid for long', 300, false],
    ['is made anew before it ends', 310, true],
    ['stays where the clock was set back a little', -0.001, false],
    ['is made anew where its clock was ahead', -1, true],
  ])('%s', async (_what, days, isNew) => {
    // the authorities are old enough for each of these times
    rmSync(directory, { recursive: true })
    await open(daysLater(-100))
    for (const name of Object.keys(credentials)) rmSync(path(`${name}.crt`))
    const { server } = await open()
    expect((await open(daysLater(days))).server.certificate !== server.certificate).toBe(isNew)
  })
})

describe('an authority', () => {
  test.each(eachDamage(['ca.crt', 'ca.key', 'front-proxy-ca.crt', 'front-proxy-ca.key']))(
    'is not replaced where %s is %s',
    async (file, how) => {
      const before = readFileSync(path('server.crt'), 'utf8')
      await damage(file, how)
      const damaged = readFileSync(path(file), 'utf8')
      const [name = ''] = file.split('.')
      const isNoCertificate = file.endsWith('.crt') && how !== 'of another directory'
      await expect(open()).rejects.toThrow(
        isNoCertificate
          ? `${path(file)} is no certificate in PEM. Put the right one back`
          : `${path(`${name}.key`)} is not the key of ${name}.crt. Put the right one back`,
      )
      expect([file, 'server.crt'].map((one) => readFileSync(path(one), 'utf8'))).toEqual([damaged, before])
    },
  )

  test.each([
    ['has ended', 3650],
    ['has not begun', -1],
  ])('that %s is named, with what helps', async (_what, days) => {
    await expect(open(daysLater(days))).rejects.toThrow(
      `${path('ca.crt')} is valid from Dec 31 23:55:00 2025 GMT to Dec 30 00:00:00 2035 GMT, and now it is ${daysLater(days).toUTCString()}. Where the clock is right, "kedge keys rotate --ca begin", then "switch", makes another.`,
    )
    for (const name of ['ca', 'front-proxy-ca'] as const)
      for (const step of ['begin', 'switch'] as const) await rotateAuthority(directory, step, daysLater(days), name)
    const { authority, server } = await open(daysLater(days))
    expect(new X509Certificate(server.certificate).checkIssued(new X509Certificate(authority.certificate))).toBe(true)
  })
})
