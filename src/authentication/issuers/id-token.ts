/**
 * ID tokens in compact form and their claims, as go-oidc reads them (OpenID Connect Core §2, §3.1.3.7). The errors
 * have the texts that kube-apiserver logs.
 */
import type { JsonLike } from '../../cel/values/json-value.ts'
import { ownValue } from '../../base/own.ts'
import { goQuote } from '../../go/quote.ts'
import { TokenRefused } from '../token-answer.ts'
import type { JoseHeader } from '../token-claims.ts'
import { WrongClaims, isBase64Url, readJoseHeader } from '../token-claims.ts'

export type Claims = Readonly<Record<string, JsonLike | undefined>>

const refused = (why: string): TokenRefused => new TokenRefused([`oidc: verify token: ${why}`])

/** A byte order mark is not valid JSON (RFC 8259 §8.1). */
const utf8 = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

function decoded(part: string): Claims | undefined {
  if (!isBase64Url(part)) return undefined
  try {
    const bytes = atob(part.replaceAll('-', '+').replaceAll('_', '/'))
    const json: unknown = JSON.parse(utf8.decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0))))
    // what JSON.parse gives for an object
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Claims) : undefined
  } catch {
    return undefined
  }
}

/** The issuer that the token claims, unverified. Undefined where it is no ID token. */
export function untrustedIssuer(token: string): string | undefined {
  const parts = token.split('.', 4)
  if (parts.length !== 3) return undefined
  const issuer = ownValue(decoded(parts[1]!), 'iss') ?? ''
  if (typeof issuer !== 'string') return undefined
  return issuer === 'accounts.google.com' ? 'https://accounts.google.com' : issuer
}

/** @throws TokenRefused */
export function headerOf(token: string, algorithms: readonly string[]): JoseHeader {
  const part = token.slice(0, token.indexOf('.'))
  if (!isBase64Url(part)) throw refused('oidc: malformed jwt')
  let header: JoseHeader
  try {
    header = readJoseHeader(part)
  } catch (error) {
    if (!(error instanceof WrongClaims)) throw error
    throw refused(`oidc: malformed jwt: ${error.message}`)
  }
  const { algorithm } = header
  if (!algorithms.includes(algorithm))
    throw refused(
      `oidc: id token signed with unsupported algorithm, expected [${algorithms.map(goQuote).join(' ')}] got ${goQuote(algorithm)}`,
    )
  return header
}

export const SIGNATURE_REFUSED = refused('failed to verify signature: failed to verify id token signature')

/** Seconds by which clocks may differ for `nbf`. The end of a token is exact. */
const LEEWAY = 60

interface Expected {
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly now: Date
}

/** The claims of a token whose signature is valid. @throws TokenRefused */
export function checkedClaims(payload: Uint8Array, { issuer, audiences, now }: Expected): Claims {
  const claims = claimsIn(payload)
  const claimed = textClaim(claims, 'iss')
  for (const name of ['sub', 'nonce', 'at_hash']) textClaim(claims, name)
  checkSources(claims)
  const isGoogle = issuer === 'https://accounts.google.com' && claimed === 'accounts.google.com'
  if (claimed !== issuer && !isGoogle)
    throw refused(`oidc: id token issued by a different provider, expected ${goQuote(issuer)} got ${goQuote(claimed)}`)
  const meantFor = audiencesOf(claims)
  // few: the operator names them
  if (!meantFor.some((audience) => audiences.includes(audience))) {
    const expected = audiences.length === 1 ? `${goQuote(audiences[0]!)}` : `in ${goList([...audiences].sort())}`
    throw refused(`oidc: expected audience ${expected} got ${goList(meantFor)}`)
  }
  const seconds = now.getTime() / 1000
  timeClaim(claims, 'iat') // kube-apiserver only checks that it is a time
  const expiry = timeClaim(claims, 'exp')
  if (expiry === undefined || expiry < seconds)
    throw refused(`oidc: token is expired (Token Expiry: ${goTime(expiry)})`)
  const notBefore = timeClaim(claims, 'nbf', true)
  if (notBefore !== undefined && seconds + LEEWAY < notBefore)
    throw refused(`oidc: current time ${goTime(seconds)} before the nbf (not before) time: ${goTime(notBefore)}`)
  return claims
}

const unreadable = (why: string): TokenRefused => refused(`oidc: failed to unmarshal claims: ${why}`)

function claimsIn(payload: Uint8Array): Claims {
  let json: unknown
  try {
    json = JSON.parse(utf8.decode(payload))
  } catch (error) {
    throw unreadable(String(error))
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw unreadable('json: no object')
  return json as Claims // what JSON.parse gives for an object
}

function textClaim(claims: Claims, name: string): string {
  const value = ownValue(claims, name) ?? ''
  if (typeof value !== 'string') throw unreadable(ofField(name, wrongType(value, 'string')))
  return value
}

/** Distributed claims (OpenID Connect Core §5.6.2): each name has a source. */
function checkSources(claims: Claims): void {
  const mapOf = (name: string): Readonly<Record<string, JsonLike | undefined>> => {
    const value = ownValue(claims, name) ?? {}
    if (typeof value !== 'object' || Array.isArray(value))
      throw unreadable(ofField(name, wrongType(value, 'map[string]string')))
    return value as Readonly<Record<string, JsonLike | undefined>> // neither a list nor null
  }
  const sources = mapOf('_claim_sources')
  for (const [, source] of Object.entries(mapOf('_claim_names'))) {
    if (typeof (source ?? '') !== 'string')
      throw unreadable(ofField('_claim_names', wrongType(source ?? null, 'string')))
    if ((source ?? '') === '') throw refused('oidc: failed to obtain source from claim name')
    if (!Object.hasOwn(sources, String(source))) throw refused('oidc: source does not exist')
  }
}

const ofField = (name: string, text: string): string => text.replace('Go value', `Go struct field idToken.${name}`)

function audiencesOf(claims: Claims): readonly string[] {
  const value = ownValue(claims, 'aud') ?? []
  const list = typeof value === 'string' ? [value] : value
  const isText = (one: JsonLike): one is string => typeof one === 'string'
  // Array.isArray does not narrow readonly arrays
  if (!Array.isArray(list) || !list.every(isText)) throw unreadable(ofField('aud', wrongType(value, '[]string')))
  return list
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
/** The range of an int64. A larger number is refused, because Go would read it as another time. */
const MOST_SECONDS = 2 ** 63

/**
 * Whole seconds since 1970, from a number or a text. Undefined where the claim is absent.
 * @param isOptional null counts as absent
 */
function timeClaim(claims: Claims, name: string, isOptional = false): number | undefined {
  const value = Object.hasOwn(claims, name) ? ownValue(claims, name) : undefined
  if (value === undefined || (value === null && isOptional)) return undefined
  if (value === null) throw unreadable('strconv.ParseFloat: parsing "": invalid syntax')
  if (typeof value === 'string' && !NUMBER.test(value))
    throw unreadable(`json: invalid number literal, trying to unmarshal ${goQuote(JSON.stringify(value))} into Number`)
  if (typeof value !== 'number' && typeof value !== 'string')
    throw unreadable(ofField(name, wrongType(value, 'json.Number')))
  const seconds = Math.trunc(Number(value))
  if (Math.abs(seconds) >= MOST_SECONDS) throw unreadable(`${name} is beyond all times`)
  return seconds
}

export const wrongType = (value: JsonLike, wanted: string): string =>
  `json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value} into Go value of type ${wanted}`

/** `2026-01-02 03:04:05 +0000 UTC` */
function goTime(seconds: number | undefined): string {
  if (seconds === undefined) return '0001-01-01 00:00:00 +0000 UTC'
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime())) return String(seconds)
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`
}

const goList = (texts: readonly string[]): string => `[${texts.map(goQuote).join(' ')}]`
