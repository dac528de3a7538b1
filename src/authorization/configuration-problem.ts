/**
 * Configurations of authentication and authorization are settings: with an invalid one the server serves nothing.
 * They are checked apart from other settings, because the compiler of expressions is loaded only where there are any;
 * so are the patterns of origins.
 */
import { BadConfiguration } from '../authentication/configuration-text.ts'
import { checkOrigins } from '../authentication/cross-origin.ts'
import { issuersReloads } from '../authentication/issuers/issuers.ts'
import { chainReloads } from './chain.ts'
import { checkSigner } from '../authentication/external-signer.ts'
import { checkSignersLifetime } from '../authentication/token-lifetime.ts'
import { checkTokenWebhook } from '../authentication/token-webhook.ts'
import { readTokenFile } from '../authentication/static-token.ts'
import type { Env } from '../env.ts'
import { settingsOf } from '../settings.ts'
import { SharedValue } from '../tenancy/shared-value.ts'

export interface ConfigurationProblem {
  /** For clients: names and rules, but no values. */
  readonly message: string
  /** For operators. */
  readonly details: string
}

/** Milliseconds; some checks ask other servers. */
const CHECKING = 10_000

const checked = new WeakMap<Env, SharedValue<ConfigurationProblem | undefined>>()

export function hasConfigurations(env: Env): boolean {
  const { authenticationConfig, authorizationConfig, tokenFile, tokenWebhook, tokenSigner, allowedOrigins } =
    settingsOf(env)
  return (
    (authenticationConfig ?? authorizationConfig ?? tokenFile ?? tokenWebhook ?? tokenSigner ?? allowedOrigins) !==
    undefined
  )
}

/** Undefined where all are valid. Where the check itself failed, the next request repeats it. */
export function configurationProblem(env: Env): Promise<ConfigurationProblem | undefined> {
  let problem = checked.get(env)
  if (problem === undefined) checked.set(env, (problem = new SharedValue(CHECKING)))
  return problem.get(() => problemIn(env))
}

async function problemIn(env: Env): Promise<ConfigurationProblem | undefined> {
  const { tokenFile, tokenWebhook, tokenSigner } = settingsOf(env)
  return (
    (await problemOf('KEDGE_CORS_ALLOWED_ORIGINS', () => checkOrigins(env))) ??
    (await problemOf('KEDGE_SA_SIGNER', () => tokenSigner !== undefined && checkSigner(tokenSigner))) ??
    // only in a local server: elsewhere isolates start at any time and cannot wait for a signer, so each token is
    // checked
    (await problemOf('KEDGE_SA_SIGNER', () => env.OUTGOING && checkSignersLifetime(env))) ??
    (await problemOf('KEDGE_AUTHENTICATION_TOKEN_WEBHOOK', () => tokenWebhook && checkTokenWebhook(tokenWebhook))) ??
    (await problemOf('KEDGE_AUTHORIZATION_CONFIG', () => chainReloads(env)?.start())) ??
    (await problemOf('KEDGE_TOKEN_AUTH_FILE', () =>
      tokenFile === undefined ? undefined : readTokenFile(tokenFile),
    )) ??
    (await problemOf('KEDGE_AUTHENTICATION_CONFIG', () => issuersReloads(env)?.start()))
  )
}

async function problemOf(name: string, check: () => unknown): Promise<ConfigurationProblem | undefined> {
  try {
    await check()
    return undefined
  } catch (error) {
    if (!(error instanceof BadConfiguration)) throw error
    return { message: `${name} cannot be used`, details: `${name}: ${error.message}` }
  }
}
