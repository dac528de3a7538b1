// Why a server cannot start is said in the words of the Worker's settings and of files. Who started it has typed flags.
import * as z from 'zod/mini'
import { ownValue } from '../../base/own.ts'
import { CannotStart } from '../start/options.ts'
import { settingOfFlag } from './passed-on.ts'

/** The setting of the Worker that a flag makes. */
const settings: Readonly<Record<string, string>> = {
  ...settingOfFlag,
  'admission-control-config-file': 'KEDGE_ADMISSION_CONFIG',
  'anonymous-auth': 'KEDGE_ANONYMOUS_AUTH',
  'audit-log-mode': 'KEDGE_AUDIT_LOG_MODE',
  'audit-policy-file': 'KEDGE_AUDIT_POLICY',
  'audit-webhook-config-file': 'KEDGE_AUDIT_WEBHOOK',
  'audit-webhook-mode': 'KEDGE_AUDIT_WEBHOOK',
  'authentication-config': 'KEDGE_AUTHENTICATION_CONFIG',
  'authentication-token-webhook-config-file': 'KEDGE_AUTHENTICATION_TOKEN_WEBHOOK',
  'authorization-config': 'KEDGE_AUTHORIZATION_CONFIG',
  'authorization-mode': 'KEDGE_AUTHORIZATION_CONFIG',
  'authorization-webhook-config-file': 'KEDGE_AUTHORIZATION_CONFIG',
  'client-ca-file': 'KEDGE_CLIENT_CA',
  'disable-admission-plugins': 'KEDGE_DISABLE_ADMISSION_PLUGINS',
  'enable-admission-plugins': 'KEDGE_ENABLE_ADMISSION_PLUGINS',
  'encryption-keys': 'KEDGE_ENCRYPTION_KEYS',
  'kubelet-certificate-authority': 'KEDGE_KUBELET_CA',
  'oidc-ca-file': 'KEDGE_AUTHENTICATION_CONFIG',
  'oidc-issuer-url': 'KEDGE_AUTHENTICATION_CONFIG',
  'oidc-signing-algs': 'KEDGE_OIDC_SIGNING_ALGS',
  'scheduler-config': 'KEDGE_SCHEDULER_CONFIG',
  'service-account-extend-token-expiration': 'KEDGE_SA_EXTEND_TOKENS',
  'service-account-issuer': 'KEDGE_ISSUER',
  'service-account-max-token-expiration': 'KEDGE_SA_MAX_TOKEN_SECONDS',
  'service-account-signing-endpoint': 'KEDGE_SA_SIGNER',
  'token-auth-file': 'KEDGE_TOKEN_AUTH_FILE',
  'tls-cert-file': 'KEDGE_ROOT_CA',
  workloads: 'KEDGE_WORKLOADS',
}

/** What a flag that names a file is checked with. From a script, an empty name is a variable that is not set. */
export const fileName = z.optional(
  z.string().check(z.refine((name) => name !== '', { error: 'wants the name of a file, not "".' })),
)

/**
 * The flags that name files.
 * @param shape what each flag is checked with
 */
export const fileFlagsIn = <Flag extends string>(shape: Readonly<Record<Flag, unknown>>): Flag[] =>
  Object.entries(shape).flatMap(([flag, check]) => (check === fileName ? [flag as Flag] : [])) // its own keys

/** @returns the error, with the flags that were given for the settings and the files that it names */
export function namingFlags(
  error: unknown,
  given: Readonly<Record<string, unknown>>,
  fileFlags: readonly string[],
): unknown {
  if (!(error instanceof Error)) return error
  const { message } = error
  const paths: readonly string[] = [...fileFlags, 'data-dir']
  const made = Object.entries(given).flatMap(([flag, value]) => {
    const all = Array.isArray(value) ? value.join(',') : value
    if (typeof all !== 'string' || message.includes(`--${flag}`)) return []
    const setting = ownValue(settings, flag)
    const isNamed = setting !== undefined && message.split(/\W+/).includes(setting)
    return isNamed || (paths.includes(flag) && message.includes(all)) ? [`--${flag} ${all}`] : []
  })
  return made.length === 0 ? error : new CannotStart(`${message} (${made.join(', ')})`)
}
