/**
 * The issuers of the current configuration, which comes from the setting, or from its file after a change. A change
 * keeps the fetched keys of unchanged issuers.
 */
import type { FieldError } from '../../api/field.ts'
import { forbiddenField, messageOf, path } from '../../api/field.ts'
import { goQuote } from '../../go/quote.ts'
import type { Env } from '../../env.ts'
import type { UserInfo } from '../../request/user-info.ts'
import { settingsOf } from '../../settings.ts'
import { Reloaded } from '../reloaded.ts'
import { BadConfiguration } from '../configuration-text.ts'
import type { CompileExpression } from '../expression.ts'
import { expressionCompiler } from '../expression.ts'
import type { TokenContext } from '../token-answer.ts'
import type { AnonymousConfiguration } from './configuration.ts'
import { readAuthenticationConfiguration } from './configuration.ts'
import { untrustedIssuer } from './id-token.ts'
import { JwtIssuer, SIGNING_ALGORITHMS } from './jwt-authenticator.ts'
import { validateAuthenticationConfiguration } from './validate.ts'

export interface Issuers {
  /** By URL. */
  readonly byUrl: ReadonlyMap<string, JwtIssuer>
  readonly anonymous: AnonymousConfiguration | undefined
}

export interface IssuersOptions {
  /** This server's own issuers, whose tokens have another authenticator. */
  readonly ownIssuers: readonly string[]
  readonly algorithms: readonly string[]
  /** The value of --anonymous-auth; undefined where it is not set. */
  readonly anonymousAuth?: boolean | undefined
}

/**
 * @param before the previous issuers, of which unchanged ones are kept
 * @throws BadConfiguration
 */
export async function issuersOf(
  text: string,
  { ownIssuers, algorithms, anonymousAuth }: IssuersOptions,
  compile: CompileExpression,
  before?: Issuers,
): Promise<Issuers> {
  const configuration = await readAuthenticationConfiguration(text)
  const { errors, mappers } = validateAuthenticationConfiguration(configuration, ownIssuers, compile)
  const anonymous = configuration.anonymous ?? undefined
  if (anonymous !== undefined && anonymousAuth !== undefined)
    throw new BadConfiguration(
      'anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file',
    )
  const changed: FieldError[] =
    before !== undefined && JSON.stringify(before.anonymous) !== JSON.stringify(anonymous)
      ? [forbiddenField(path('anonymous'), 'changed from initial configuration file')]
      : []
  const all = [...errors, ...changed]
  if (all.length > 0) throw new BadConfiguration(`invalid authentication configuration: ${messageOf(all)}`)
  const byUrl = new Map<string, JwtIssuer>()
  for (const [index, authenticator] of configuration.jwt.entries()) {
    const { url, egressSelectorType } = authenticator.issuer
    if (egressSelectorType !== '')
      throw new BadConfiguration(
        `oidc: egress lookup required with egress selector type ${goQuote(egressSelectorType)}`,
      )
    const known = before?.byUrl.get(url)
    const isSame = known !== undefined && JSON.stringify(known.configuration) === JSON.stringify(authenticator)
    byUrl.set(url, isSame ? known : new JwtIssuer(authenticator, mappers[index]!, algorithms))
  }
  return { byUrl, anonymous }
}

const reloaded = new WeakMap<Env, Reloaded<Issuers>>()

/** The result of loading the configuration, and how often it changed; undefined where there is none. */
export function issuersReloads(env: Env): Reloaded<Issuers> | undefined {
  const settings = settingsOf(env)
  const { authenticationConfig: text, oidcSigningAlgorithms, issuers: ownIssuers } = settings
  if (text === undefined) return undefined
  let issuers = reloaded.get(env)
  if (issuers === undefined) {
    const anonymousAuth = settings.anonymousAuthIsDefault ? undefined : settings.anonymousAuth
    const options = { ownIssuers, algorithms: oidcSigningAlgorithms ?? SIGNING_ALGORITHMS, anonymousAuth }
    issuers = new Reloaded('authentication', text, async (configuration, before) =>
      issuersOf(configuration, options, await expressionCompiler(), before),
    )
    reloaded.set(env, issuers)
  }
  return issuers
}

/**
 * Undefined where no known issuer made the token.
 * @throws TokenRefused
 */
export async function authenticateIssuedToken(context: TokenContext, token: string): Promise<UserInfo | undefined> {
  const reloads = issuersReloads(context.env)
  if (reloads === undefined) return undefined
  const issuer = untrustedIssuer(token)
  if (issuer === undefined) return undefined
  const { byUrl } = await reloads.current(context)
  return byUrl.get(issuer)?.authenticate(context, token)
}

/**
 * Whether a request without credentials is anonymous; else it is refused.
 * @param info undefined where the credentials belong to no path
 * @throws BadConfiguration
 */
export async function mayBeAnonymous({ env, info }: { env: Env; info?: { readonly path: string } }): Promise<boolean> {
  const anonymous = (await issuersReloads(env)?.start())?.anonymous
  if (anonymous === undefined) return settingsOf(env).anonymousAuth ?? true
  const { enabled, conditions } = anonymous
  return enabled && (conditions.length === 0 || conditions.some(({ path }) => path === info?.path))
}
