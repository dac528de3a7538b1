// A CA of a data directory is replaced in three steps with a start after each, so that everybody meets an authority
// that it trusts: first both are trusted and the old one signs, then the new one signs, then the old one is dropped.
//
//   ca.crt, ca.key             signs
//   ca.next.crt, ca.next.key   will sign: there from the first step to the second
//   ca.before.crt              signed before: there from the second step to the third
//   ca.started.crt             those that the last start trusted
//
// That of front proxies has the same files under front-proxy-ca.
import { X509Certificate } from 'node:crypto'
import { createAuthority } from './certificate.ts'
import type { Credential, Subject } from './certificate.ts'
import { KeyFiles } from './key-files.ts'

export const AUTHORITY_DAYS = 3650

export const ROTATION_STEPS = ['begin', 'switch', 'finish'] as const
export type RotationStep = (typeof ROTATION_STEPS)[number]

/** Two authorities, each with its files and its flag: of the server and its clients, and of front proxies. */
export type AuthorityName = keyof typeof authorities
export const authorities = {
  // as clusters name it; certificates that the API signs show it
  ca: { commonName: 'kubernetes' },
  'front-proxy-ca': { commonName: 'front-proxy-ca' },
} as const satisfies Record<string, Subject>

const filesOf = (name: AuthorityName) => ({ signs: name, next: `${name}.next`, before: `${name}.before` })
const startedFile = (name: AuthorityName): string => `${name}.started.crt`

/** Notes what a start trusts. */
export function noteStarted(directory: string): void {
  const files = new KeyFiles(directory)
  for (const name of Object.keys(authorities) as AuthorityName[]) {
    const bundle = authorityBundle(directory, name)
    if (files.text(startedFile(name)) !== bundle) files.write(startedFile(name), bundle)
  }
}

/** PEM of the authority that signs, then of those that are trusted beside it. */
export function authorityBundle(directory: string, name: AuthorityName = 'ca'): string {
  const files = new KeyFiles(directory)
  const certificates = Object.values(filesOf(name)).map((file) => files.text(`${file}.crt`))
  return [...new Set(certificates)].filter((text) => text !== undefined).join('')
}

/**
 * Finishes a switch that was interrupted. Until then the key may be of the new authority and the certificate of the old.
 */
export function finishSwitch(directory: string, name: AuthorityName): void {
  const files = new KeyFiles(directory)
  const next = files.credential(filesOf(name).next)
  if (next !== undefined && files.text(`${filesOf(name).before}.crt`) !== undefined) becomeSigner(files, name, next)
}

/** The last part of a switch, when the authority that signed before is kept. It may be repeated. */
function becomeSigner(files: KeyFiles, name: AuthorityName, next: Credential): void {
  const own = filesOf(name)
  files.keep(own.signs, next)
  files.remove(`${own.next}.crt`)
  files.remove(`${own.next}.key`)
}

/**
 * A step that was interrupted is repeated.
 * @param isForced also where no server has started since the last step
 * @throws Error where another step is due, or a start
 */
export async function rotateAuthority(
  directory: string,
  step: RotationStep,
  now: Date,
  name: AuthorityName = 'ca',
  isForced = false,
): Promise<void> {
  const own = filesOf(name)
  const files = new KeyFiles(directory)
  const signs = files.credential(own.signs)
  if (signs === undefined) throw new Error(`There is no CA in ${directory} yet: "kedge start" makes one.`)
  const next = files.credential(own.next)
  const before = files.text(`${own.before}.crt`)
  const due = next !== undefined ? 'switch' : before !== undefined ? 'finish' : 'begin'
  if (step !== due) throw new Error(`The next step is "kedge keys rotate --${name} ${due}".`)
  const isRepeated = next !== undefined && before !== undefined
  // an authority that is not valid signs nothing, and nobody is locked out by another one
  if (step !== 'begin' && !isForced && !isRepeated && isValid(signs, now) && !hasStarted(files, directory, name))
    throw new Error(
      'No server has started since the last step, so nobody trusts what comes next. Start one, give everybody the CAs that it trusts, and repeat this step. --force does it at once, and locks out clients that trust the old CA alone.',
    )
  if (next !== undefined) {
    // an existing file comes from an interrupted step, when ca.crt was still the old one
    if (before === undefined) files.write(`${own.before}.crt`, signs.certificate)
    becomeSigner(files, name, next)
  } else if (before !== undefined) files.remove(`${own.before}.crt`)
  else files.keep(own.next, await createAuthority(authorities[name], now, AUTHORITY_DAYS))
}

const hasStarted = (files: KeyFiles, directory: string, name: AuthorityName): boolean =>
  files.text(startedFile(name)) === authorityBundle(directory, name)

function isValid({ certificate }: Credential, now: Date): boolean {
  const { validFrom, validTo } = new X509Certificate(certificate)
  return Date.parse(validFrom) <= now.getTime() && now.getTime() < Date.parse(validTo)
}
