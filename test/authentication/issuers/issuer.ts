/** An OIDC issuer whose documents the server requests through its front. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { CryptoKey, JWK } from 'jose'
import { STATUS_HEADER, TYPE_HEADER } from '../../../src/webhooks/by-front.ts'
import type { OutgoingCall } from '../../../src/webhooks/outgoing-call.ts'

export interface SigningKey {
  readonly keyId: string
  readonly algorithm: string
  readonly sign: CryptoKey
  readonly jwk: JWK
}

export async function signingKey(keyId: string, algorithm = 'RS256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true })
  return { keyId, algorithm, sign: privateKey, jwk: { ...(await exportJWK(publicKey)), kid: keyId, use: 'sig' } }
}

export class Issuer {
  /** The keys that the issuer publishes. */
  keys: readonly JWK[] = []
  /** Replaces answers, or is awaited before them. */
  instead: (path: string) => Response | undefined | Promise<Response | undefined> = () => undefined
  readonly asked: OutgoingCall[] = []

  constructor(readonly url: string) {}

  answer(path: string): Response | undefined {
    if (path === '/.well-known/openid-configuration')
      return Response.json({ issuer: this.url, jwks_uri: `${this.url}/keys`, response_types_supported: ['id_token'] })
    return path === '/keys' ? Response.json({ keys: this.keys }) : undefined
  }
}

/** The binding of a process in front that reaches these issuers. */
export function frontReaching(...issuers: readonly Issuer[]): Fetcher {
  const fetch = async (_url: string, init: RequestInit): Promise<Response> => {
    // by-front.ts writes it
    const call = JSON.parse(String(init.body).split('\n')[0]!) as OutgoingCall
    const issuer = issuers.find(({ url }) => call.url.startsWith(`${url}/`))
    const pathname = call.url.slice(issuer?.url.length ?? 0)
    issuer?.asked.push(call)
    const answer = (await issuer?.instead(pathname)) ?? issuer?.answer(pathname) ?? new Response('', { status: 404 })
    return new Response(answer.body, {
      headers: { [STATUS_HEADER]: String(answer.status), [TYPE_HEADER]: answer.headers.get('Content-Type') ?? '' },
    })
  }
  return { fetch } as unknown as Fetcher // no more of it is used
}

export interface TokenParts {
  readonly key: SigningKey
  readonly header?: object
  readonly claims: object
}

export const signed = ({ key, header = {}, claims }: TokenParts): Promise<string> =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg: key.algorithm, kid: key.keyId, ...header }).sign(key.sign)
