// Makes settings of the Worker from the flags for ServiceAccount tokens, which have kube-apiserver's names.
import * as z from 'zod/mini'
import { readText, secondsOf } from './identity.ts'
import { fileName } from './named-flags.ts'
import { connectionOfKubeconfig } from './webhook-kubeconfig.ts'

export const serviceAccountFlags = {
  'service-account-issuer': { type: 'string', multiple: true },
  'service-account-max-token-expiration': { type: 'string' },
  'service-account-extend-token-expiration': { type: 'string' },
  'service-account-signing-endpoint': { type: 'string' },
} as const

export const serviceAccountSchema = {
  'service-account-issuer': z.optional(z.array(z.string())),
  'service-account-max-token-expiration': z.optional(
    z.string().check(
      z.refine((text) => secondsOf(text) !== undefined, {
        error: ({ input }) => `wants a duration as 24h, not "${String(input)}".`,
      }),
    ),
  ),
  'service-account-extend-token-expiration': z.optional(z.enum(['true', 'false'], { error: 'wants true or false.' })),
  'service-account-signing-endpoint': fileName,
} satisfies Record<keyof typeof serviceAccountFlags, z.ZodMiniType>

type Flags = { readonly [Name in keyof typeof serviceAccountSchema]?: z.output<(typeof serviceAccountSchema)[Name]> }

/** @throws CannotStart, Error about the file of the signer */
export function serviceAccountSettings(flags: Flags): Record<string, string> {
  const issuers = flags['service-account-issuer']
  const longest = flags['service-account-max-token-expiration']
  const extended = flags['service-account-extend-token-expiration']
  const signer = flags['service-account-signing-endpoint']
  return {
    ...(issuers === undefined ? {} : { KEDGE_ISSUER: issuers.join(',') }),
    // 0, as with kube-apiserver: no limit
    ...(longest === undefined || secondsOf(longest) === 0
      ? {}
      : { KEDGE_SA_MAX_TOKEN_SECONDS: String(secondsOf(longest)) }),
    ...(extended === undefined ? {} : { KEDGE_SA_EXTEND_TOKENS: extended === 'true' ? '1' : '0' }),
    ...(signer === undefined
      ? {}
      : { KEDGE_SA_SIGNER: JSON.stringify(connectionOfKubeconfig(readText(signer), signer)) }),
  }
}
