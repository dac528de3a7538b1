// A CA of a data directory is replaced in three steps with a start after each, so that everybody meets an authority
// that it trusts: first both are trusted and the old one signs, then the new one signs, then the old one is dropped.
//
//   ca.crt, ca.key             signs
//   ca.next.crt, ca.next.key   will sign: there from the first step to the second
//   ca.before.crt              signed before: there from the second step to the third
//
// That of front proxies has the same files under front-proxy-ca.
import { createAuthority } from './certificate.ts'
import type { Subject } from './certificate.ts'
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

/** PEM of the authority that signs, then of those that are trusted beside it. */
export function authorityBundle(directory: string, name: AuthorityName = 'ca'): string {
  const files = new KeyFiles(directory)
  const certificates = Object.values(filesOf(name)).map((file) => files.text(`${file}.crt`))
  return [...new Set(certificates)].filter((text) => text !== undefined).join('')
}

/**
 * A step that was interrupted is repeated.
 * @throws Error where another step is due
 */
export async function rotateAuthority(
  directory: string,
  step: RotationStep,
  now: Date,
  name: AuthorityName = 'ca',
): Promise<void> {
  const own = filesOf(name)
  const files = new KeyFiles(directory)
  const signs = files.credential(own.signs)
  if (signs === undefined) throw new Error(`There is no CA in ${directory} yet: "kedge start" makes one.`)
  const next = files.credential(own.next)
  const before = files.text(`${own.before}.crt`)
  const due = next !== undefined ? 'switch' : before !== undefined ? 'finish' : 'begin'
  if (step !== due) throw new Error(`The next step is "kedge keys rotate --${name} ${due}".`)
  if (next !== undefined) {
    // an existing file comes from an interrupted step, when ca.crt was still the old one
    if (before === undefined) files.write(`${own.before}.crt`, signs.certificate)
    files.keep(own.signs, next)
    files.remove(`${own.next}.crt`)
    files.remove(`${own.next}.key`)
  } else if (before !== undefined) files.remove(`${own.before}.crt`)
  else files.keep(own.next, await createAuthority(authorities[name], now, AUTHORITY_DAYS))
}
