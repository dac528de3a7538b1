/**
 * JSON Web Tokens in compact form and their claims, as strict as go-jose: a text that is not base64url is no token,
 * and a claim of a wrong type refuses the token (RFC 7515 §2, RFC 7519 §4.1).
 */
import type { JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { base64ToBytes } from '../base/base64.ts'
import { ownValue } from '../base/own.ts'
import { decodeUnstructured } from '../codec/decode/decode-untyped.ts'
import { DecodeError } from '../codec/decode/decode-problems.ts'
import { parseJson } from '../json/parse-json.ts'
import { JsonSyntaxError } from '../json/scanner.ts'
import { readCertificate } from '../x509/certificate.ts'

export interface ObjectIdentity {
  readonly name: string
  /** '' where the pod names a node that is not registered. */
  readonly uid: string
}

/** The claim `kubernetes.io`. */
export interface ServiceAccountClaims {
  readonly namespace: string
  readonly serviceaccount: ObjectIdentity
  readonly pod?: ObjectIdentity
  readonly secret?: ObjectIdentity
  readonly node?: ObjectIdentity
  /** Seconds since 1970 after which each use of the token is recorded. */
  readonly warnafter?: number
}

export interface TokenClaims {
  readonly sub: string
  readonly jti: string
  readonly aud: readonly string[]
  /** Whole seconds since 1970. */
  readonly exp: number | undefined
  readonly nbf: number | undefined
  readonly iat: number | undefined
  readonly kubernetes: ServiceAccountClaims
  /** A claim in the token of a Secret: `kubernetes.io/serviceaccount/NAME`. */
  legacy(name: 'namespace' | 'secret.name' | 'service-account.name' | 'service-account.uid'): string
}

/** A claim has the wrong type. */
export class WrongClaims extends Error {
  override readonly name = 'WrongClaims'
}

/** Without padding (RFC 7515 §2). A single leftover character encodes less than a byte. */
export const isBase64Url = (text: string): boolean => /^[A-Za-z0-9_-]*$/.test(text) && text.length % 4 !== 1

/**
 * The three parts without white space, which go-jose removes. In the middle part only line breaks are allowed.
 * Undefined where it is no token in compact form.
 */
export function compactForm(token: string): string | undefined {
  const parts = token.split('.')
  if (parts.length !== 3 || !isBase64Url(parts[1]!.replace(/[\r\n]/g, ''))) return undefined
  const compact = parts.map((part) => part.replace(/[\s\u0085]/g, ''))
  return compact.every(isBase64Url) ? compact.join('.') : undefined
}

/** The header of a token in compact form; undefined where it is invalid. */
export function readHeader(compact: string): JoseHeader | undefined {
  try {
    return readJoseHeader(compact.slice(0, compact.indexOf('.')))
  } catch (error) {
    if (error instanceof WrongClaims) return undefined
    throw error
  }
}

export interface JoseHeader {
  readonly algorithm: string
  readonly keyId: string
}

/**
 * As in go-jose repeated members are invalid, because readers may choose different ones, and so are members of a known
 * name and another form. A payload that is no base64url (RFC 7797) is not supported.
 * @param base64Url well-formed
 * @throws WrongClaims
 */
export function readJoseHeader(base64Url: string): JoseHeader {
  const { object, strict } = readJson(bytesOf(base64Url))
  const [problem] = strict
  if (problem !== undefined) throw new WrongClaims(repeatedText(problem))
  const header = object as JsonObject
  for (const name of ['enc', 'nonce']) text(header, name)
  if ((ownValue(header, 'b64') ?? true) !== true) throw new WrongClaims('a payload that is no base64url')
  const chain = ownValue(header, 'x5c') ?? []
  if (!Array.isArray(chain) || !chain.every(isCertificate)) throw new WrongClaims('failed to unmarshal x5c header')
  if (!isPublicKey(ownValue(header, 'jwk') ?? undefined)) throw new WrongClaims('failed to unmarshal JWK')
  return { algorithm: text(header, 'alg'), keyId: text(header, 'kid') }
}

function isCertificate(base64: unknown): boolean {
  try {
    return typeof base64 === 'string' && readCertificate(new Uint8Array(base64ToBytes(base64))).notBefore > 0
  } catch {
    return false
  }
}

/** Members of keys in a header, by the type of the key. No key in a header is used. */
const keyMembers: Readonly<Record<string, readonly string[]>> = {
  RSA: ['n', 'e'],
  EC: ['crv', 'x', 'y'],
  OKP: ['crv', 'x'],
}

function isPublicKey(jwk: unknown): boolean {
  if (jwk === undefined) return true
  if (!isJsonObject(jwk)) return false
  const members = ownValue(keyMembers, text(jwk, 'kty')) ?? []
  return members.length > 0 && !Object.hasOwn(jwk, 'd') && members.every((name) => text(jwk, name) !== '')
}

const SIGNED_HEADER: ReadonlySet<string> = new Set(['alg', 'kid', 'typ'])
const SIGNING = new Set<unknown>(['RS256', 'ES256', 'ES384', 'ES512'])
const MAX_KEY_ID = 1024

/**
 * The header that an external signer made, or an error with kube-apiserver's text.
 * @param header base64url
 */
export function readSignedHeader(header: string): { readonly keyId: string; readonly problem?: string } {
  const wrong = (problem: string) => ({ keyId: '', problem })
  if (header === '' || !isBase64Url(header)) return wrong('while unwrapping header: illegal base64 data')
  try {
    const { object, strict } = readJson(bytesOf(header))
    const unknown = Object.keys(object).find((name) => !SIGNED_HEADER.has(name))
    if (unknown !== undefined) return wrong(`while parsing header JSON: json: unknown field "${unknown}"`)
    if (strict.length > 0) return wrong(`while parsing header JSON: ${strict[0]}`)
    if (text(object, 'typ') !== 'JWT') return wrong('bad type')
    const keyId = text(object, 'kid')
    if (keyId === '') return wrong('key id missing')
    if (keyId.length > MAX_KEY_ID) return wrong('key id longer than 1 kb')
    const algorithm = text(object, 'alg')
    return SIGNING.has(algorithm) ? { keyId } : wrong(`bad signing algorithm "${algorithm}"`)
  } catch (error) {
    if (error instanceof WrongClaims) return wrong(`while parsing header JSON: ${error.message}`)
    throw error
  }
}

const bytesOf = (base64Url: string): Uint8Array => base64ToBytes(base64Url.replaceAll('-', '+').replaceAll('_', '/'))

const DUPLICATE = 'duplicate field "'

/** go-jose's text for a repeated member. */
function repeatedText(problem: string): string {
  const name = problem.slice(DUPLICATE.length, -1)
  return `json: duplicate key '${name.slice(name.lastIndexOf('.') + 1)}' in object`
}

/**
 * @param payload of a token whose signature was verified
 * @throws WrongClaims with go-jose's text
 */
export function readClaims(payload: Uint8Array, isLegacy: boolean): TokenClaims {
  const { object, strict } = readJson(payload)
  const [problem = ''] = strict
  if (problem.startsWith(DUPLICATE)) throw new WrongClaims(repeatedText(problem))
  const claims = object as JsonObject
  const legacyText = (name: string) => (isLegacy ? text(claims, `kubernetes.io/serviceaccount/${name}`) : '')
  const legacy = {
    namespace: legacyText('namespace'),
    'secret.name': legacyText('secret.name'),
    'service-account.name': legacyText('service-account.name'),
    'service-account.uid': legacyText('service-account.uid'),
  }
  return {
    sub: text(claims, 'sub'),
    jti: text(claims, 'jti'),
    aud: audiences(claims),
    exp: seconds(claims, 'exp'),
    nbf: seconds(claims, 'nbf'),
    iat: seconds(claims, 'iat'),
    kubernetes: kubernetesClaims(isLegacy ? undefined : struct(claims, 'kubernetes.io', 'serviceaccount.kubernetes')),
    legacy: (name) => legacy[name],
  }
}

/** A byte order mark is not valid JSON (RFC 8259 §8.1). */
const utf8 = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

function readJson(payload: Uint8Array) {
  try {
    return decodeUnstructured(parseJson(utf8.decode(payload)))
  } catch (error) {
    if (error instanceof DecodeError || error instanceof JsonSyntaxError) throw new WrongClaims(error.message)
    throw error
  }
}

function kubernetesClaims(claims: JsonObject = {}): ServiceAccountClaims {
  const identity = (name: string): ObjectIdentity | undefined => {
    const of = struct(claims, name, 'serviceaccount.ref')
    return of && { name: text(of, 'name'), uid: text(of, 'uid') }
  }
  const all = { pod: identity('pod'), secret: identity('secret'), node: identity('node') }
  const warnafter = seconds(claims, 'warnafter')
  return {
    namespace: text(claims, 'namespace'),
    serviceaccount: identity('serviceaccount') ?? { name: '', uid: '' },
    ...(all.pod && { pod: all.pod }),
    ...(all.secret && { secret: all.secret }),
    ...(all.node && { node: all.node }),
    ...(warnafter !== undefined && { warnafter }),
  }
}

/** An absent member or null is ''. */
function text(of: JsonObject, name: string): string {
  const value = ownValue(of, name) ?? ''
  if (typeof value !== 'string')
    throw new WrongClaims(`json: cannot unmarshal ${kindOf(value)} into Go value of type string`)
  return value
}

/** Undefined for an absent member or null. */
function seconds(of: JsonObject, name: string): number | undefined {
  const value = ownValue(of, name) ?? undefined
  if (value === undefined) return undefined
  const isNumber = typeof value === 'number' || typeof value === 'bigint'
  // beyond int64, where Go's time would wrap around
  if (!isNumber || !(Math.abs(Number(value)) < 2 ** 63))
    throw new WrongClaims('go-jose/go-jose/jwt: expected number value to unmarshal NumericDate')
  return Math.trunc(Number(value))
}

function audiences(claims: JsonObject): readonly string[] {
  const value = ownValue(claims, 'aud')
  if (value === undefined) return []
  const list = Array.isArray(value) ? value : [value]
  const isText = (one: unknown): one is string => typeof one === 'string'
  if (!list.every(isText))
    throw new WrongClaims('go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience')
  return list
}

function struct(of: JsonObject, name: string, goType: string): JsonObject | undefined {
  const value = ownValue(of, name) ?? undefined
  if (value === undefined || isJsonObject(value)) return value
  throw new WrongClaims(`json: cannot unmarshal ${kindOf(value)} into Go value of type ${goType}`)
}

const kindOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'number'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
