// Makes settings of the Worker from the flags of authentication and authorization, which have kube-apiserver's names
// and errors.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as z from 'zod/mini'
import { fileName } from './named-flags.ts'
import { CannotStart } from '../start/options.ts'
import type { IdentityOptions } from '../start/options.ts'
import { connectionOfKubeconfig } from './webhook-kubeconfig.ts'

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
  'authentication-token-webhook-config-file': { type: 'string' },
  'authentication-token-webhook-version': { type: 'string' },
  'authentication-token-webhook-cache-ttl': { type: 'string' },
  'authorization-config': { type: 'string' },
  'authorization-mode': { type: 'string', multiple: true },
  'authorization-webhook-config-file': { type: 'string' },
  'authorization-webhook-version': { type: 'string' },
  'authorization-webhook-cache-authorized-ttl': { type: 'string' },
  'authorization-webhook-cache-unauthorized-ttl': { type: 'string' },
} as const

const text = z.optional(z.string())
const texts = z.optional(z.array(z.string()))

const version = z.enum(['v1', 'v1beta1'], { error: 'wants v1 or v1beta1.' })
/** Seconds of `2m0s`. */
const ttl = z.pipe(
  z.string().check(
    z.refine((text) => secondsOf(text) !== undefined, {
      error: ({ input }) => `wants a duration as 2m0s, not "${String(input)}".`,
    }),
  ),
  z.transform((text) => secondsOf(text) ?? 0),
)

/** Undefined where the text is no duration in whole seconds. */
export function secondsOf(text: string): number | undefined {
  const [whole, hours = 0, minutes = 0, seconds = 0] =
    /^(?:(\d{1,6})h)?(?:(\d{1,8})m)?(?:(\d{1,9})s)?$/.exec(text) ?? []
  if (text === '0') return 0
  return whole ? Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) : undefined
}

export const identitySchema = {
  'authentication-config': fileName,
  'anonymous-auth': z.optional(z.enum(['true', 'false'], { error: 'wants true or false.' })),
  'token-auth-file': fileName,
  'oidc-issuer-url': text,
  'oidc-client-id': text,
  'oidc-ca-file': fileName,
  'oidc-username-claim': text,
  'oidc-username-prefix': text,
  'oidc-groups-claim': text,
  'oidc-groups-prefix': text,
  'oidc-signing-algs': texts,
  'oidc-required-claim': texts,
  'authentication-token-webhook-config-file': fileName,
  'authentication-token-webhook-version': z.optional(version),
  'authentication-token-webhook-cache-ttl': z.optional(ttl),
  'authorization-config': fileName,
  'authorization-mode': texts,
  'authorization-webhook-config-file': fileName,
  'authorization-webhook-version': z.optional(version),
  'authorization-webhook-cache-authorized-ttl': z.optional(ttl),
  'authorization-webhook-cache-unauthorized-ttl': z.optional(ttl),
} satisfies Record<keyof typeof identityFlags, z.ZodMiniType>

type Flags = { readonly [Name in keyof typeof identitySchema]?: z.output<(typeof identitySchema)[Name]> }

/**
 * Undefined where none of the flags is given.
 * @throws CannotStart
 */
export function identityOptions(flags: Flags): IdentityOptions | undefined {
  const settings = {
    ...authenticationSettings(flags),
    ...anonymousSetting(flags),
    ...tokenSetting(flags),
    ...tokenWebhookSetting(flags),
    ...authorizationSettings(flags),
  }
  if (Object.keys(settings).length === 0) return undefined
  const [authentication, authorization] = [flags['authentication-config'], flags['authorization-config']]
  return {
    settings,
    files: {
      ...(authentication === undefined ? {} : { authentication: resolve(authentication) }),
      ...(authorization === undefined ? {} : { authorization: resolve(authorization) }),
    },
  }
}

export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CannotStart(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** With AlwaysAllow, anonymous requests are refused, unless an authentication configuration says more of them. */
const anonymousSetting = ({ 'anonymous-auth': allowed, ...flags }: Flags): Record<string, string> =>
  modesIn(flags).includes('AlwaysAllow')
    ? { KEDGE_ANONYMOUS_AUTH: allowed === undefined ? 'default-0' : '0' }
    : allowed === undefined
      ? {}
      : { KEDGE_ANONYMOUS_AUTH: allowed === 'true' ? '1' : '0' }

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

/** Makes a configuration from the --oidc-* flags. */
function oidcConfiguration(flags: Flags, url: string, client: string) {
  const { 'oidc-username-claim': claim = 'sub', 'oidc-username-prefix': prefix = '' } = flags
  const { 'oidc-groups-claim': groups = '', 'oidc-groups-prefix': groupsPrefix = '' } = flags
  const authorities = flags['oidc-ca-file']
  // unless the flags say otherwise, names get the issuer as prefix, so that names of two issuers differ
  const usual = claim === 'email' ? '' : `${url}#`
  return {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: {
          url,
          audiences: [client],
          ...(authorities === undefined ? {} : { certificateAuthority: authoritiesIn(authorities) }),
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

/** An empty text would mean the authorities that browsers trust. */
function authoritiesIn(file: string): string {
  const text = readText(file)
  if (text.trim() === '') throw new CannotStart(`${file} is empty: it must have the issuer's authorities in PEM`)
  return text
}

function requiredClaim(text: string): { claim: string; requiredValue: string } {
  const at = text.indexOf('=')
  if (at < 1) throw new CannotStart(`--oidc-required-claim wants KEY=VALUE, not "${text}".`)
  return { claim: text.slice(0, at).trim(), requiredValue: text.slice(at + 1).trim() }
}

function tokenWebhookSetting(flags: Flags): Record<string, string> {
  const file = flags['authentication-token-webhook-config-file']
  if (file === undefined) return {}
  return {
    KEDGE_AUTHENTICATION_TOKEN_WEBHOOK: JSON.stringify({
      connection: connectionOfKubeconfig(readText(file), file),
      version: flags['authentication-token-webhook-version'],
      cacheSeconds: flags['authentication-token-webhook-cache-ttl'],
    }),
  }
}

const modesIn = ({ 'authorization-mode': lists = [] }: Flags): string[] => lists.flatMap((list) => list.split(','))

const MODES = ['AlwaysAllow', 'AlwaysDeny', 'Webhook', 'RBAC', 'Node']

function authorizationSettings(flags: Flags): Record<string, string> {
  const file = flags['authorization-config']
  const modes = modesIn(flags)
  const hasWebhookFlags = Object.entries(flags).some(
    ([name, value]) => name.startsWith('authorization-webhook-') && value !== undefined,
  )
  if (file !== undefined) {
    if (modes.length > 0 || hasWebhookFlags)
      throw new CannotStart(
        '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined',
      )
    return { KEDGE_AUTHORIZATION_CONFIG: readText(file) }
  }
  const webhook = flags['authorization-webhook-config-file']
  if (modes.length === 0 && !hasWebhookFlags) return {}
  for (const mode of modes)
    if (!MODES.includes(mode)) throw new CannotStart(`authorization-mode "${mode}" is not a valid mode`)
  if (new Set(modes).size < modes.length)
    throw new CannotStart(
      `authorization-mode [${modes.map((mode) => `"${mode}"`).join(' ')}] has mode specified more than once`,
    )
  if (modes.includes('Webhook') && webhook === undefined)
    throw new CannotStart("authorization-mode Webhook's authorization config file not passed")
  if (!modes.includes('Webhook') && hasWebhookFlags)
    throw new CannotStart('cannot specify --authorization-webhook-config-file without mode Webhook')
  return { KEDGE_AUTHORIZATION_CONFIG: JSON.stringify(modesConfiguration(flags, modes, webhook)) }
}

/** Makes a configuration from --authorization-mode and its flags. */
function modesConfiguration(flags: Flags, modes: readonly string[], webhook: string | undefined) {
  const authorized = flags['authorization-webhook-cache-authorized-ttl']
  const unauthorized = flags['authorization-webhook-cache-unauthorized-ttl']
  const kept = (name: string, seconds: number | undefined) =>
    seconds === undefined
      ? {}
      : seconds === 0
        ? { [`cache${name}Requests`]: false }
        : { [`${name.toLowerCase()}TTL`]: `${seconds}s` }
  const authorizers = modes.map((type) =>
    type === 'Webhook'
      ? {
          type,
          name: 'default',
          webhook: {
            ...kept('Authorized', authorized),
            ...kept('Unauthorized', unauthorized),
            timeout: '30s',
            failurePolicy: 'NoOpinion',
            subjectAccessReviewVersion: flags['authorization-webhook-version'] ?? 'v1beta1',
            connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: resolve(webhook ?? '') },
          },
        }
      : { type, name: type.toLowerCase() },
  )
  return { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers }
}
