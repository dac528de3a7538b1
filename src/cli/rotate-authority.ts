// The CA of a data directory is replaced in three steps with a start after each, so that everybody meets an authority
// that it trusts: first both are trusted and the old one signs, then the new one signs, then the old one is dropped.
//
//   ca.crt, ca.key             signs
//   ca.next.crt, ca.next.key   will sign: there from the first step to the second
//   ca.before.crt              signed before: there from the second step to the third
import { createAuthority } from './certificate.ts'
import type { Subject } from './certificate.ts'
import { KeyFiles } from './key-files.ts'

export const AUTHORITY: Subject = { commonName: 'kubernetes' } // as clusters name it; certificates that the API signs show it
export const AUTHORITY_DAYS = 3650

export const ROTATION_STEPS = ['begin', 'switch', 'finish'] as const
export type RotationStep = (typeof ROTATION_STEPS)[number]

const [SIGNS, NEXT, BEFORE] = ['ca', 'ca.next', 'ca.before']

/** PEM: the authority that signs, then those that are trusted beside it. */
export function authorityBundle(directory: string): string {
  const files = new KeyFiles(directory)
  const certificates = [SIGNS, NEXT, BEFORE].map((name) => files.text(`${name}.crt`))
  return [...new Set(certificates)].filter((text) => text !== undefined).join('')
}

/** A step that was cut short is repeated. @throws Error where another step is due */
export async function rotateAuthority(directory: string, step: RotationStep, now: Date): Promise<void> {
  const files = new KeyFiles(directory)
  const signs = files.credential(SIGNS)
  if (signs === undefined) throw new Error(`There is no CA in ${directory} yet: "kedge start" makes one.`)
  const next = files.credential(NEXT)
  const before = files.text(`${BEFORE}.crt`)
  const due = next !== undefined ? 'switch' : before !== undefined ? 'finish' : 'begin'
  if (step !== due) throw new Error(`The next step is "kedge keys rotate --ca ${due}".`)
  if (next !== undefined) {
    // what is there already was written by a step that was cut short, when ca.crt was still the old one
    if (before === undefined) files.write(`${BEFORE}.crt`, signs.certificate)
    files.keep(SIGNS, next)
    files.remove(`${NEXT}.crt`)
    files.remove(`${NEXT}.key`)
  } else if (before !== undefined) files.remove(`${BEFORE}.crt`)
  else files.keep(NEXT, await createAuthority(AUTHORITY, now, AUTHORITY_DAYS))
}
