/**
 * ServiceAccount tokens: JWTs of this server, which stop working when the account, or the object that they are bound
 * to, is deleted (KEP 1205; kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin).
 */
import type { JWTPayload } from 'jose'
import { bytesToBase64 } from '../base/base64.ts'
import type { ServiceAccount } from '../api/core/v1.ts'
import type { KubeObject } from '../api/object.ts'
import { goQuote } from '../go/quote.ts'
import { internalError, notFound } from '../api/status.ts'
import type { Env } from '../env.ts'
import { storedObject } from '../tenancy/stored-object.ts'
import type { Tenant } from '../storage/tenant.ts'
import type { SigningContext } from './external-signer.ts'
import { SignerFailed, externalSigner } from './external-signer.ts'
import type { VerificationKey } from './service-account-key.ts'
import {
  isOwnIssuer,
  jwt,
  serverAudiences,
  serviceAccountKey,
  tokenIssuer,
  verificationKeys,
} from './service-account-key.ts'
import { parseServiceAccountUser, serviceAccountGroups, serviceAccountUser } from './service-account-name.ts'
import type { TokenAnswer } from './token-answer.ts'
import { TokenRefused } from './token-answer.ts'
import type { ObjectIdentity, ServiceAccountClaims, TokenClaims } from './token-claims.ts'
import { WrongClaims, compactForm, readClaims, readHeader } from './token-claims.ts'
import { LAST_USED, UsedSecret } from '../request/used-secret.ts'
import type { UserInfo } from '../request/user-info.ts'
import { CREDENTIAL_ID, authenticated } from '../request/user-info.ts'

export type { ObjectIdentity, ServiceAccountClaims } from './token-claims.ts'

export interface TokenOrder extends SigningContext {
  /** Absent: a new one. */
  readonly id?: string
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  readonly claims: ServiceAccountClaims
}

/** Seconds by which clocks may differ. */
const LEEWAY = 60
const LEGACY_ISSUER = 'kubernetes/serviceaccount'

/** @throws StatusError 500 where the server has no key, or its signer does not sign; 429 */
export async function issueToken(order: TokenOrder): Promise<string> {
  const { env, now, id, audiences, expirationSeconds, claims } = order
  const issued = Math.floor(now.getTime() / 1000)
  const { namespace, serviceaccount } = claims
  return signedToken(order, {
    aud: [...audiences],
    exp: issued + expirationSeconds,
    iat: issued,
    iss: tokenIssuer(env),
    jti: id ?? crypto.randomUUID(),
    'kubernetes.io': withoutEmpty(claims),
    nbf: issued,
    sub: serviceAccountUser({ namespace, name: serviceaccount.name }),
  })
}

async function signedToken(context: SigningContext, claims: JWTPayload): Promise<string> {
  const signer = externalSigner(context.env)
  if (signer === undefined) {
    const key = await serviceAccountKey(context.env)
    if (key === undefined) throw internalError('failed to generate token: no signing key')
    const { SignJWT } = await jwt()
    return new SignJWT(claims).setProtectedHeader({ alg: key.algorithm, kid: key.keyId }).sign(key.sign)
  }
  try {
    return await signer.sign(context, base64Url(new TextEncoder().encode(JSON.stringify(claims))))
  } catch (error) {
    if (!(error instanceof SignerFailed)) throw error
    throw internalError(`failed to generate token: ${error.message}`)
  }
}

const base64Url = (bytes: Uint8Array): string =>
  bytesToBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/**
 * The token in a Secret of type kubernetes.io/service-account-token. It does not expire, and is valid as long as the
 * Secret exists.
 */
export async function issueSecretToken(
  env: Env,
  account: { readonly namespace: string } & ObjectIdentity,
  secretName: string,
): Promise<string> {
  const key = await serviceAccountKey(env)
  if (key === undefined) throw internalError('failed to generate token: no signing key')
  const claim = 'kubernetes.io/serviceaccount'
  const { SignJWT } = await jwt()
  return new SignJWT({
    iss: LEGACY_ISSUER,
    [`${claim}/namespace`]: account.namespace,
    [`${claim}/secret.name`]: secretName,
    [`${claim}/service-account.name`]: account.name,
    [`${claim}/service-account.uid`]: account.uid,
    sub: serviceAccountUser(account),
  })
    .setProtectedHeader({ alg: key.algorithm, kid: key.keyId })
    .sign(key.sign)
}

export interface ServiceAccountTokenContext extends SigningContext {
  readonly tenant: Tenant
}

/**
 * Undefined where the token is no JWT of this server's issuers.
 * @throws TokenRefused
 */
export async function authenticateServiceAccountToken(
  context: ServiceAccountTokenContext,
  token: string,
  audiences: readonly string[],
): Promise<TokenAnswer | undefined> {
  const compact = compactForm(token)
  const issuer = compact === undefined ? undefined : await unverifiedIssuer(compact)
  const isLegacy = issuer === LEGACY_ISSUER
  if (compact === undefined || issuer === undefined || !(isLegacy || isOwnIssuer(context.env, issuer))) return undefined
  const claims = await verifiedClaims(context, compact, isLegacy)
  if (claims === undefined) return undefined
  const meantFor = claims.aud.length > 0 ? claims.aud : serverAudiences(context.env)
  // few: of the server's own setting, or of a review that is read once
  const matching = meantFor.filter((audience) => audiences.includes(audience))
  if (matching.length === 0)
    throw new TokenRefused([
      `token audiences ${goList(meantFor)} is invalid for the target audiences ${goList(audiences)}`,
    ])
  const found = isLegacy
    ? await legacyUser(context, token, claims)
    : { user: await boundUser(context, claims), ...staleness(claims, context.now) }
  return { ...found, audiences: matching }
}

async function unverifiedIssuer(token: string): Promise<string | undefined> {
  const { decodeJwt } = await jwt()
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

/**
 * Undefined where the header is invalid.
 * @throws TokenRefused
 */
async function verifiedClaims(
  context: SigningContext,
  token: string,
  isLegacy: boolean,
): Promise<TokenClaims | undefined> {
  const { compactVerify, errors } = await jwt()
  const header = readHeader(token)
  if (header === undefined) return undefined
  const keys = await keysFor(context, header.keyId)
  if (keys.length === 0) throw new TokenRefused(['invalid signature, no keys found'])
  for (const { verify, algorithm } of keys) {
    try {
      const { payload } = await compactVerify(token, verify, { algorithms: [algorithm] })
      return readClaims(payload, isLegacy)
    } catch (error) {
      if (error instanceof WrongClaims) throw new TokenRefused([error.message])
      if (!(error instanceof errors.JOSEError)) throw error
    }
  }
  throw new TokenRefused(['go-jose/go-jose: error in cryptographic primitive'])
}

async function keysFor(context: SigningContext, keyId: string): Promise<readonly VerificationKey[]> {
  const signer = externalSigner(context.env)
  if (signer !== undefined) return signer.keysFor(context, keyId)
  return (await verificationKeys(context.env)).filter((key) => keyId === '' || keyId === key.keyId)
}

/**
 * The user of a token, whose account and bound object must exist.
 * @throws TokenRefused
 */
async function boundUser(context: ServiceAccountTokenContext, claims: TokenClaims): Promise<UserInfo> {
  checkTimes(claims, context.now)
  const { namespace, serviceaccount, pod, secret, node } = claims.kubernetes
  await checkAccount(context, namespace, serviceaccount)
  if (secret !== undefined) await checkBound(context, 'secrets', 'secret', `${namespace}/${secret.name}`, secret)
  if (pod !== undefined) await checkBound(context, 'pods', 'pod', `${namespace}/${pod.name}`, pod)
  else if (node !== undefined) await checkBound(context, 'nodes', 'node', node.name, node)
  return authenticated({
    name: serviceAccountUser({ namespace, name: serviceaccount.name }),
    uid: serviceaccount.uid,
    groups: serviceAccountGroups(namespace),
    extra: {
      ...(claims.jti === '' ? {} : { [CREDENTIAL_ID]: [`JTI=${claims.jti}`] }),
      ...extraOf('node', node),
      ...extraOf('pod', pod),
    },
  })
}

/** A kubelet's token that lives longer than it was asked for should have been renewed by its reader. */
function staleness({ sub, kubernetes: { warnafter = 0 } }: TokenClaims, now: Date): Pick<TokenAnswer, 'annotations'> {
  if (warnafter === 0 || now.getTime() <= warnafter * 1000) return {}
  const seconds = Math.floor(now.getTime() / 1000) - Math.floor(warnafter)
  const annotation = `subject: ${sub}, seconds after warning threshold: ${seconds}`
  return { annotations: { 'authentication.k8s.io/stale-token': annotation } }
}

function extraOf(what: 'pod' | 'node', identity: ObjectIdentity | undefined): Record<string, string[]> {
  if (identity === undefined) return {}
  return {
    [`authentication.kubernetes.io/${what}-name`]: [identity.name],
    ...(identity.uid ? { [`authentication.kubernetes.io/${what}-uid`]: [identity.uid] } : {}),
  }
}

/** Marks a Secret whose token is not accepted any more (KEP 2799). */
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since'
const AUTO_GENERATED =
  'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.'

type LegacyUser = Omit<TokenAnswer, 'audiences'>

async function legacyUser(
  context: ServiceAccountTokenContext,
  token: string,
  claims: TokenClaims,
): Promise<LegacyUser> {
  const namespace = claims.legacy('namespace')
  const secretName = claims.legacy('secret.name')
  const account = { name: claims.legacy('service-account.name'), uid: claims.legacy('service-account.uid') }
  const present = {
    sub: claims.sub,
    namespace,
    secretName,
    serviceAccountName: account.name,
    serviceAccountUID: account.uid,
  }
  for (const [claim, value] of Object.entries(present))
    if (value === '') throw new TokenRefused([`${claim} claim is missing`])
  const named = parseServiceAccountUser(claims.sub)
  if (named?.namespace !== namespace || named.name !== account.name) throw new TokenRefused(['sub claim is invalid'])
  const secret = await readObject(context, 'secrets', `${namespace}/${secretName}`)
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined)
    throw new TokenRefused(['Token has been invalidated'])
  if (tokenOf(secret) !== token) throw new TokenRefused([`Token does not match server's copy`])
  const { secrets = [] } = await legacyAccount(context, namespace, account)
  const usedSecret = unmarkedSecret(secret, context.now)
  if ((secret.metadata.labels?.[INVALID_SINCE] ?? '') !== '') {
    const marked = `the token in secret ${namespace}/${secretName} for service account ${namespace}/${account.name} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${INVALID_SINCE}' label from the secret to temporarily allow use of this token`
    throw new TokenRefused([marked], usedSecret)
  }
  const user = authenticated({
    name: serviceAccountUser({ namespace, name: account.name }),
    uid: account.uid,
    groups: serviceAccountGroups(namespace),
  })
  const isGenerated = secrets.some(({ name }) => name === secretName)
  const annotation = `authentication.k8s.io/legacy-token-${isGenerated ? 'autogenerated' : 'manual'}-secret`
  return {
    user,
    annotations: { 'authentication.k8s.io/legacy-token': user.name, [annotation]: secretName },
    ...(isGenerated ? { warnings: [AUTO_GENERATED] } : {}),
    ...(usedSecret === undefined ? {} : { usedSecret }),
  }
}

/** Clocks differ, so the label may say tomorrow. */
function unmarkedSecret({ metadata }: KubeObject, now: Date): UsedSecret | undefined {
  const { namespace = '', name = '', uid = '', labels } = metadata
  const day = (after: number): string => new Date(now.getTime() + after * DAY).toISOString().slice(0, 10)
  const lastUsed = labels?.[LAST_USED]
  return lastUsed === day(0) || lastUsed === day(1) ? undefined : new UsedSecret(namespace, name, uid, day(0))
}

const DAY = 86_400_000

async function legacyAccount(
  context: ServiceAccountTokenContext,
  namespace: string,
  claimed: ObjectIdentity,
): Promise<ServiceAccount> {
  const account = await readObject<ServiceAccount>(context, 'serviceaccounts', `${namespace}/${claimed.name}`)
  if (account === undefined)
    throw new TokenRefused([notFound({ group: '', resource: 'serviceaccounts' }, claimed.name).message])
  if (account.metadata.deletionTimestamp !== undefined)
    throw new TokenRefused([`ServiceAccount ${namespace}/${claimed.name} has been deleted`])
  if (account.metadata.uid !== claimed.uid)
    throw new TokenRefused([`ServiceAccount UID (${account.metadata.uid ?? ''}) does not match claim (${claimed.uid})`])
  return account
}

function tokenOf(secret: KubeObject & { data?: Record<string, string> }): string {
  return atob(secret.data?.['token'] ?? '')
}

function checkTimes({ exp, nbf, iat }: TokenClaims, now: Date): void {
  const seconds = now.getTime() / 1000
  if (nbf !== undefined && seconds + LEEWAY < nbf) throw new TokenRefused(['service account token is not valid yet'])
  if (exp !== undefined && seconds - LEEWAY > exp) throw new TokenRefused(['service account token has expired'])
  if (iat !== undefined && seconds + LEEWAY < iat)
    throw new TokenRefused(['service account token is issued in the future'])
}

async function checkAccount(context: ServiceAccountTokenContext, namespace: string, claimed: ObjectIdentity) {
  const account = await readObject(context, 'serviceaccounts', `${namespace}/${claimed.name}`)
  if (account === undefined)
    throw new TokenRefused([notFound({ group: '', resource: 'serviceaccounts' }, claimed.name).message])
  if (account.metadata.uid !== claimed.uid)
    throw new TokenRefused([
      `service account UID (${account.metadata.uid ?? ''}) does not match claim (${claimed.uid})`,
    ])
  if (wasDeleted(account, context.now))
    throw new TokenRefused([`service account ${namespace}/${claimed.name} has been deleted`])
}

async function checkBound(
  context: ServiceAccountTokenContext,
  resource: string,
  what: 'pod' | 'secret' | 'node',
  key: string,
  claimed: ObjectIdentity,
) {
  const object = await readObject(context, resource, key)
  if (object === undefined) throw new TokenRefused(['service account token has been invalidated'])
  if (object.metadata.uid !== claimed.uid)
    throw new TokenRefused([
      `${what} UID (${object.metadata.uid ?? ''}) does not match service account ${what} ref claim (${claimed.uid})`,
    ])
  if (wasDeleted(object, context.now)) throw new TokenRefused(['service account token has been invalidated'])
}

/** Whether the object was deleted longer ago than clocks may differ. */
function wasDeleted({ metadata }: KubeObject, now: Date): boolean {
  const { deletionTimestamp } = metadata
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < now.getTime() - LEEWAY * 1000
}

const readObject = <O = object>(context: ServiceAccountTokenContext, resource: string, key: string) =>
  storedObject<O>(context, { group: '', resource }, key)

const goList = (texts: readonly string[]): string => `[${texts.map(goQuote).join(' ')}]`

function withoutEmpty(claims: ServiceAccountClaims): Record<string, unknown> {
  const identity = (one: ObjectIdentity | undefined) =>
    one === undefined ? undefined : { name: one.name, ...(one.uid === '' ? {} : { uid: one.uid }) }
  const { namespace, node, pod, secret, serviceaccount, warnafter } = claims
  const all = {
    namespace,
    node: identity(node),
    pod: identity(pod),
    secret: identity(secret),
    serviceaccount: identity(serviceaccount),
    warnafter,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}
