// Flags with kube-apiserver's names for certificates that are not of the data directory.
import { fileName } from './named-flags.ts'
import { readText } from './identity.ts'
import type { StartOptions } from '../start/options.ts'
import type * as z from 'zod/mini'

export const certificateFlags = {
  'client-ca-file': { type: 'string' },
  'tls-cert-file': { type: 'string' },
  'tls-private-key-file': { type: 'string' },
} as const

export const certificateSchema = {
  'client-ca-file': fileName,
  'tls-cert-file': fileName,
  'tls-private-key-file': fileName,
} satisfies Record<keyof typeof certificateFlags, z.ZodMiniType>

type Flags = { readonly [Name in keyof typeof certificateSchema]?: z.output<(typeof certificateSchema)[Name]> }

/** @throws CannotStart */
export function certificateOptions(
  flags: Flags,
): Pick<StartOptions, 'clientAuthorities' | 'clientAuthoritiesFile' | 'server' | 'serverFiles'> {
  const { 'client-ca-file': clients, 'tls-cert-file': certificate, 'tls-private-key-file': key } = flags
  return {
    ...(clients === undefined ? {} : { clientAuthorities: readText(clients), clientAuthoritiesFile: clients }),
    ...(certificate === undefined || key === undefined
      ? {}
      : { server: { certificate: readText(certificate), key: readText(key) }, serverFiles: { certificate, key } }),
  }
}
