/**
 * The public keys of an issuer, found by OpenID Connect Discovery. They are kept, and fetched again when a token
 * names an unknown key. Known keys stay valid while the issuer does not answer. A key that it has dropped goes with
 * its next answer.
 */
import type { CryptoKey, JWK } from 'jose'
import * as z from 'zod/mini'
import type { Env } from '../../env.ts'
import { goQuote } from '../../go/quote.ts'
import { logError } from '../../log/log.ts'
import type { OutgoingAnswer } from '../../webhooks/outgoing-call.ts'
import { CallFailed } from '../../webhooks/outgoing-call.ts'
import { outgoingOf } from '../../webhooks/way-out.ts'
import { KeyQuestions } from '../key-questions.ts'
import { jwt } from '../service-account-key.ts'
import type { TokenContext } from '../token-answer.ts'
import type { JwtAuthenticator } from './configuration.ts'

/**
 * Milliseconds after which the keys are fetched again although all tokens name known keys, because the issuer may
 * have dropped some.
 */
const REFRESHED_AFTER = 600_000
/** Milliseconds for one call; a fetch makes at most two. */
const TIMEOUT = 5_000
/** The most keys of one issuer. */
const MAX_KEYS = 256
/** Bytes of an answer. The keys that are used have a quarter of it. */
const MAX_DOCUMENT = 1 << 20
/** Characters of an invalid answer that an error shows. */
const MAX_SHOWN = 256

const discovery = z.object({ issuer: z._default(z.string(), ''), jwks_uri: z._default(z.string(), '') })
const keySet = z.object({
  keys: z.pipe(
    z.pipe(
      z.array(z.unknown()),
      z.transform((keys) => keys.slice(0, MAX_KEYS)),
    ),
    z.array(z.looseObject({ kty: z.string(), kid: z.optional(z.string()) })),
  ),
})

class IssuerKey {
  /** Bound: the allowed algorithms. */
  private readonly imported = new Map<string, CryptoKey | undefined>()

  constructor(private readonly jwk: JWK) {}

  get keyId(): string {
    return this.jwk.kid ?? ''
  }

  /** Undefined where the key does not fit this algorithm. */
  async for(algorithm: string): Promise<CryptoKey | undefined> {
    if (this.imported.has(algorithm)) return this.imported.get(algorithm)
    const key = await publicKey(this.jwk, algorithm)
    this.imported.set(algorithm, key)
    return key
  }
}

async function publicKey(jwk: JWK, algorithm: string): Promise<CryptoKey | undefined> {
  // RFC 7517 §4.2 and §4.4: a key may be used only as it declares
  if (jwk.use !== undefined && jwk.use !== 'sig') return undefined
  if (jwk.alg !== undefined && jwk.alg !== algorithm) return undefined
  if (jwk.kty !== (algorithm.startsWith('ES') ? 'EC' : 'RSA')) return undefined
  const { kty, crv, x, y, n, e } = jwk
  try {
    const key = await (await jwt()).importJWK(kty === 'EC' ? { kty, crv, x, y } : { kty, n, e }, algorithm)
    return key instanceof Uint8Array ? undefined : key
  } catch {
    return undefined // another curve, or no key
  }
}

export class IssuerKeys {
  private keys: readonly IssuerKey[] | undefined
  private keysAt: string | undefined
  /** When the keys were last received, in milliseconds since 1970. */
  private came = -Infinity
  /** When a fetch last succeeded and last failed, in seconds since 1970, and the last answer. Bound: one answer. */
  fetches: { readonly success?: number; readonly failure?: number; readonly text?: string } = {}
  private readonly questions = new KeyQuestions<TokenContext>(({ env }, time) => this.fetchKeys(env, time), 2 * TIMEOUT)

  constructor(private readonly issuer: JwtAuthenticator['issuer']) {}

  /** Whether the issuer ever answered. */
  get areKnown(): boolean {
    return this.keys !== undefined
  }

  /** The keys with this id; all keys for ''. Old keys are fetched again in the background. */
  known(context: TokenContext, keyId: string): readonly IssuerKey[] {
    // by either sign: the clock may have been set back
    if (this.keys !== undefined && Math.abs(context.now.getTime() - this.came) > REFRESHED_AFTER)
      this.questions.askBeside(context)
    return (this.keys ?? []).filter((key) => keyId === '' || key.keyId === keyId)
  }

  /**
   * Fetches the keys again, and searches in them.
   * @throws StatusError 429
   */
  findWithNew<Found>(
    context: TokenContext,
    keyId: string,
    look: () => Promise<Found | undefined>,
  ): Promise<Found | undefined> {
    return this.questions.find(context, keyId, look)
  }

  /** A failure is logged. Tokens are then refused, or checked against the known keys. */
  private async fetchKeys(env: Env, time: number): Promise<boolean> {
    try {
      this.keysAt ??= await this.discover(env)
    } catch (error) {
      this.fetches = { ...this.fetches, failure: time / 1000 }
      logError(`oidc authenticator: initializing plugin: ${reasonOf(error)}`)
      return false
    }
    try {
      const answer = await this.get(env, this.keysAt)
      const { keys } = read(keySet, answer, 'failed to decode keys')
      // kty is a text; importing the key checks the rest
      this.keys = keys.map((key) => new IssuerKey(key as JWK))
      this.came = time
      this.fetches = { ...this.fetches, success: time / 1000, text: new TextDecoder().decode(answer.body) }
      return true
    } catch (error) {
      this.keysAt = undefined // the URL of the keys may have changed
      this.fetches = { ...this.fetches, failure: time / 1000 }
      logError(`oidc authenticator: fetching keys of issuer ${goQuote(this.issuer.url)}: ${reasonOf(error)}`)
      return false
    }
  }

  private async discover(env: Env): Promise<string> {
    const { url, discoveryURL } = this.issuer
    const place = discoveryURL === '' ? `${url.replace(/\/$/, '')}/.well-known/openid-configuration` : discoveryURL
    const found = read(discovery, await this.get(env, place), 'failed to decode provider discovery object')
    if (found.issuer !== url)
      throw new CallFailed(
        `oidc: issuer did not match the issuer returned by provider, expected ${goQuote(url)} got ${goQuote(found.issuer)}`,
      )
    if (found.jwks_uri === '') throw new CallFailed('provider did not return JWKS URL')
    return found.jwks_uri
  }

  private async get(env: Env, url: string): Promise<OutgoingAnswer> {
    if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
      throw new CallFailed(`Get ${goQuote(url)}: only https is called`)
    const { certificateAuthority } = this.issuer
    let answer: OutgoingAnswer
    try {
      answer = await outgoingOf(env)(
        {
          method: 'GET',
          url,
          headers: { Accept: 'application/json', 'User-Agent': 'kedge' },
          timeoutMs: TIMEOUT,
          ...(certificateAuthority === '' ? {} : { caBundle: certificateAuthority }),
        },
        '',
      )
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error
      throw new CallFailed(`Get ${goQuote(url)}: ${error.message}`)
    }
    if (answer.body.length > MAX_DOCUMENT)
      throw new CallFailed(`Get ${goQuote(url)}: the answer is longer than ${MAX_DOCUMENT} bytes`)
    if (answer.status !== 200) throw new CallFailed(`Get ${goQuote(url)}: ${answer.status}: ${shown(answer)}`)
    return answer
  }
}

const shown = ({ body }: OutgoingAnswer): string => new TextDecoder().decode(body.subarray(0, MAX_SHOWN)).trim()

/** @throws CallFailed */
function read<Schema extends z.core.$ZodType>(schema: Schema, answer: OutgoingAnswer, what: string) {
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder().decode(answer.body))
  } catch {
    throw new CallFailed(`oidc: ${what}: expected Content-Type = application/json, got ${goQuote(answer.contentType)}`)
  }
  const result = z.safeParse(schema, json)
  if (!result.success)
    throw new CallFailed(`oidc: ${what}: ${result.error.issues.map(({ message }) => message).join(', ')}`)
  return result.data
}

function reasonOf(error: unknown): string {
  if (error instanceof CallFailed) return error.message
  throw error
}
