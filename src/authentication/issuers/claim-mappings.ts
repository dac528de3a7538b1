/**
 * Makes a user from the claims of a token, with the mappings and rules of a JWT authenticator, in kube-apiserver's
 * order.
 */
import { ownValue } from '../../base/own.ts'
import type { JsonLike } from '../../cel/values/json-value.ts'
import type { Value } from '../../cel/values/value.ts'
import { ListValue } from '../../cel/values/value.ts'
import type { UserInfo } from '../../request/user-info.ts'
import { CREDENTIAL_ID } from '../../request/user-info.ts'
import type { Expression } from '../expression.ts'
import { ExpressionFailed } from '../expression.ts'
import { TokenRefused } from '../token-answer.ts'
import type { JwtAuthenticator } from './configuration.ts'
import type { Claims } from './id-token.ts'
import { wrongType } from './id-token.ts'
import type { Mapper, Rule } from './validate.ts'

const refused = (why: string): TokenRefused => new TokenRefused([`oidc: ${why}`])

/** @throws TokenRefused */
export function userOf(
  { claimMappings, claimValidationRules }: JwtAuthenticator,
  mapper: Mapper,
  claims: Claims,
): UserInfo {
  refuseDistributed(claimMappings.groups.claim, claims)
  const name = username(claimMappings.username, mapper, claims)
  const groups = groupsOf(claimMappings.groups, mapper, claims)
  const uid = uidOf(claimMappings.uid.claim, mapper, claims)
  const user = { name, uid, groups, extra: extraOf(mapper, claims) }
  for (const { claim, requiredValue } of claimValidationRules) {
    if (claim === '') continue
    if (!Object.hasOwn(claims, claim)) throw refused(`required claim ${claim} not present in ID token`)
    const value = textClaim(claims, claim, (why) => `parse claim ${claim}: ${why}`)
    if (value !== requiredValue)
      throw refused(`required claim ${claim} value does not match. Got = ${value}, want = ${requiredValue}`)
  }
  checkRules(mapper.claimRules, claimsJson(claims), 'error evaluating claim validation expression')
  const { extra } = user
  const subject = { username: name, uid, groups, extra: Object.keys(extra).length === 0 ? {} : extra }
  checkRules(mapper.userRules, subject, 'error evaluating user info validation rule')
  return user
}

// JSON.parse makes no undefined members
const claimsJson = (claims: Claims): JsonLike => claims

/** OpenID Connect Core §5.6.2. This server does not fetch distributed claims, and refuses tokens that need them. */
function refuseDistributed(claim: string, claims: Claims): void {
  if (claim === '' || Object.hasOwn(claims, claim)) return
  if (!Object.hasOwn(claims, '_claim_names')) return
  if (!Object.hasOwn(claims, '_claim_sources'))
    throw refused('could not expand distributed claims: oidc: no claim sources')
  const names = ownValue(claims, '_claim_names') ?? {}
  if (typeof names === 'object' && Object.hasOwn(names, claim))
    throw refused('could not expand distributed claims: this server fetches none')
}

function username(
  { claim, prefix }: JwtAuthenticator['claimMappings']['username'],
  mapper: Mapper,
  claims: Claims,
): string {
  if (mapper.username !== undefined) {
    const value = evaluated(mapper.username, claims, 'error evaluating username claim expression')
    if (typeof value !== 'string')
      throw refused('error evaluating username claim expression: username claim expression must return a string')
    if (value === '') throw refused('empty username via CEL expression is not allowed')
    return value
  }
  const name = textClaim(claims, claim, (why) => `parse username claims "${claim}": ${why}`)
  if (claim === 'email' && Object.hasOwn(claims, 'email_verified')) {
    const verified = ownValue(claims, 'email_verified')
    if (typeof verified !== 'boolean')
      throw refused(`parse 'email_verified' claim: ${wrongType(verified ?? null, 'bool')}`)
    if (!verified) throw refused('email not verified')
  }
  return `${prefix ?? ''}${name}`
}

function groupsOf(
  { claim, prefix }: JwtAuthenticator['claimMappings']['groups'],
  mapper: Mapper,
  claims: Claims,
): readonly string[] {
  if (claim !== '' && Object.hasOwn(claims, claim)) {
    const value = ownValue(claims, claim) ?? []
    const list: unknown = typeof value === 'string' ? [value] : value
    const isTexts = Array.isArray(list) && list.every((one) => typeof one === 'string')
    if (!isTexts) throw refused(`parse groups claim "${claim}": ${wrongType(value, 'string')}`)
    return list.map((group) => `${prefix ?? ''}${group}`)
  }
  if (mapper.groups === undefined) return []
  const what = 'error evaluating group claim expression'
  return textList(evaluated(mapper.groups, claims, what), what)
}

function uidOf(claim: string, mapper: Mapper, claims: Claims): string {
  if (claim !== '') return textClaim(claims, claim, (why) => `parse uid claim "${claim}": ${why}`)
  if (mapper.uid === undefined) return ''
  const value = evaluated(mapper.uid, claims, 'error evaluating uid claim expression')
  if (typeof value === 'string') return value
  throw refused('error evaluating uid claim expression: uid claim expression must return a string')
}

function extraOf(mapper: Mapper, claims: Claims): UserInfo['extra'] {
  const id = ownValue(claims, 'jti')
  const extra: [string, readonly string[]][] =
    typeof id === 'string' && id !== '' ? [[CREDENTIAL_ID, [`JTI=${id}`]]] : []
  for (const { key, expression } of mapper.extra) {
    const values = textList(
      evaluated(expression, claims, ''),
      `error evaluating extra claim expression: ${expression.text}`,
    )
    if (values.length > 0) extra.push([key, values])
  }
  return Object.fromEntries(extra)
}

/** null is '', as in Go. */
function textClaim(claims: Claims, claim: string, words: (why: string) => string): string {
  if (!Object.hasOwn(claims, claim)) throw refused(words('claim not present'))
  const value = ownValue(claims, claim) ?? ''
  if (typeof value !== 'string') throw refused(words(wrongType(value, 'string')))
  return value
}

function evaluated(expression: Expression, claims: Claims, what: string): Value {
  try {
    return expression.evaluate(claimsJson(claims))
  } catch (error) {
    if (!(error instanceof ExpressionFailed)) throw error
    throw what === '' ? new TokenRefused([error.message]) : refused(`${what}: ${error.message}`)
  }
}

/** A text or a list of texts. Empty texts count as absent. */
function textList(value: Value, what: string): readonly string[] {
  if (value === null || value === '') return []
  if (typeof value === 'string') return [value]
  const items = value instanceof ListValue ? Array.from({ length: value.size }, (_, index) => value.at(index)) : [0]
  const texts = items.filter((item) => typeof item === 'string')
  if (texts.length < items.length) throw refused(`${what}: expression must return a string or a list of strings`)
  return texts.filter((text) => text !== '')
}

function checkRules(rules: readonly Rule[], subject: JsonLike, what: string): void {
  for (const { expression, message } of rules) {
    let value: Value
    try {
      value = expression.evaluate(subject)
    } catch (error) {
      throw error instanceof ExpressionFailed ? refused(`${what}: ${error.message}`) : error
    }
    if (typeof value !== 'boolean') throw refused(`${what}: validation expression must return a boolean`)
    if (!value) throw refused(`${what}: validation expression '${expression.text}' failed: ${message}`)
  }
}
