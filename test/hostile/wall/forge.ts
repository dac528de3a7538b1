// Makes tokens that a library would not make: each case chooses the header, the claims and the signature.
import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Sent } from './row.ts'
import type { World } from './world.ts'

export type Claims = Record<string, unknown>

export interface Forged {
  readonly header?: (header: Claims) => Claims | string
  readonly claims?: (claims: Claims) => Claims | string
  /** Signs the text. Default: RS256 with the server's own key. */
  readonly signature?: (text: string, key: KeyObject) => string
  /** Changes the finished token. */
  readonly finish?: (token: string) => string
}

const STRANGER = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey

export const bySomebodyElse = (text: string): string => rs256(text, STRANGER)
export const rs256 = (text: string, key: KeyObject): string =>
  sign('sha256', Buffer.from(text), key).toString('base64url')
export const withDigest =
  (digest: string) =>
  (text: string, key: KeyObject): string =>
    sign(digest, Buffer.from(text), key).toString('base64url')
/** Algorithm confusion: signs an HMAC with the public key, which everybody has, as its secret. */
export const hmacWithPublicKey =
  (type: 'spki' | 'pkcs1') =>
  (text: string, key: KeyObject): string =>
    createHmac('sha256', createPublicKey(key).export({ type, format: 'pem' }))
      .update(text)
      .digest('base64url')

/** The token of "reader" with these changes, signed again. */
export function forge(world: World, { header, claims, signature = rs256, finish }: Forged): string {
  const [oldHeader = '', oldClaims = ''] = world.tokenOf('reader').split('.')
  const part = (old: string, change: ((value: Claims) => Claims | string) | undefined): string => {
    const value = JSON.parse(Buffer.from(old, 'base64url').toString()) as Claims // a JWT's parts are objects
    const changed = change ? change(value) : value
    return Buffer.from(typeof changed === 'string' ? changed : JSON.stringify(changed)).toString('base64url')
  }
  const text = `${part(oldHeader, header)}.${part(oldClaims, claims)}`
  const token = `${text}.${signature(text, world.signingKey)}`
  return finish ? finish(token) : token
}

export const bearer = (token: string): Sent => ({ headers: { Authorization: `Bearer ${token}` } })
