// The flags that say who else is believed, as the Worker's settings: kube-apiserver's names and its words.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as z from 'zod/mini'
import { CannotStart } from './start.ts'
import type { IdentityOptions } from './start.ts'

export const identityFlags = {
  'authentication-config': { type: 'string' },
  'anonymous-auth': { type: 'string' },
  'token-auth-file': { type: 'string' },
  'oidc-issuer-url': { type: 'string' },
  'oidc-client-id': { type: 'string' },
  'oidc-ca-file': { type: 'string' },
  'oidc-username-claim': { type: 'string' },
  'oidc-username-prefix': { type: 'string' },
  'oidc-groups-claim': { type: 'string' },
  'oidc-groups-prefix': { type: 'string' },
  'oidc-signing-algs': { type: 'string', multiple: true },
  'oidc-required-claim': { type: 'string', multiple: true },
} as const

const text = z.optional(z.string())
const texts = z.optional(z.array(z.string()))

export const identitySchema = {
  'authentication-config': text,
  'anonymous-auth': z.optional(z.enum(['true', 'false'], { error: 'wants true or false.' })),
  'token-auth-file': text,
  'oidc-issuer-url': text,
  'oidc-client-id': text,
  'oidc-ca-file': text,
  'oidc-username-claim': text,
  'oidc-username-prefix': text,
  'oidc-groups-claim': text,
  'oidc-groups-prefix': text,
  'oidc-signing-algs': texts,
  'oidc-required-claim': texts,
} satisfies Record<keyof typeof identityFlags, z.ZodMiniType>

type Flags = { readonly [Name in keyof typeof identitySchema]?: z.output<(typeof identitySchema)[Name]> }

/** Undefined where none of them is given. @throws CannotStart */
export function identityOptions(flags: Flags): IdentityOptions | undefined {
  const settings = { ...authenticationSettings(flags), ...anonymousSetting(flags), ...tokenSetting(flags) }
  const file = flags['authentication-config']
  if (Object.keys(settings).length === 0) return undefined
  return { settings, files: file === undefined ? {} : { authentication: resolve(file) } }
}

export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CannotStart(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const anonymousSetting = ({ 'anonymous-auth': allowed }: Flags): Record<string, string> =>
  allowed === undefined ? {} : { KEDGE_ANONYMOUS_AUTH: allowed === 'true' ? '1' : '0' }

const tokenSetting = ({ 'token-auth-file': file }: Flags): Record<string, string> =>
  file === undefined ? {} : { KEDGE_TOKEN_AUTH_FILE: readText(file) }

function authenticationSettings(flags: Flags): Record<string, string> {
  const file = flags['authentication-config']
  const hasOidc = Object.entries(flags).some(([name, value]) => name.startsWith('oidc-') && value !== undefined)
  if (file !== undefined) {
    if (hasOidc) throw new CannotStart('authentication-config file and oidc-* flags are mutually exclusive')
    return { KEDGE_AUTHENTICATION_CONFIG: readText(file) }
  }
  if (!hasOidc) return {}
  const { 'oidc-issuer-url': url = '', 'oidc-client-id': client = '' } = flags
  if (url === '' || client === '')
    throw new CannotStart('oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set')
  return {
    KEDGE_AUTHENTICATION_CONFIG: JSON.stringify(oidcConfiguration(flags, url, client)),
    KEDGE_OIDC_SIGNING_ALGS: flags['oidc-signing-algs']?.join(',') ?? 'RS256',
  }
}

/** What the flags of old say, as a configuration. */
function oidcConfiguration(flags: Flags, url: string, client: string) {
  const { 'oidc-username-claim': claim = 'sub', 'oidc-username-prefix': prefix = '' } = flags
  const { 'oidc-groups-claim': groups = '', 'oidc-groups-prefix': groupsPrefix = '' } = flags
  const authorities = flags['oidc-ca-file']
  // a name that is not said to be without a prefix has one, so that no two issuers' names are mixed up
  const usual = claim === 'email' ? '' : `${url}#`
  return {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: {
          url,
          audiences: [client],
          ...(authorities === undefined ? {} : { certificateAuthority: readText(authorities) }),
        },
        claimMappings: {
          username: { claim, prefix: prefix === '' ? usual : prefix === '-' ? '' : prefix },
          ...(groups === '' ? {} : { groups: { claim: groups, prefix: groupsPrefix } }),
        },
        claimValidationRules: (flags['oidc-required-claim'] ?? []).map(requiredClaim),
      },
    ],
  }
}

function requiredClaim(text: string): { claim: string; requiredValue: string } {
  const at = text.indexOf('=')
  if (at < 1) throw new CannotStart(`--oidc-required-claim wants KEY=VALUE, not "${text}".`)
  return { claim: text.slice(0, at).trim(), requiredValue: text.slice(at + 1).trim() }
}
