/**
 * A signer of ServiceAccounts' tokens outside of this server, which alone has the private keys (KEP 740): the service
 * v1.ExternalJWTSigner, with the methods Sign, FetchKeys and Metadata. kube-apiserver calls it by gRPC on a socket; here
 * a call is a POST of JSON to /v1.ExternalJWTSigner/METHOD (connectrpc.com), which a bound Worker can answer as well.
 */
import * as z from 'zod/mini'
import { tooManyRequests } from '../api/status.ts'
import type { Env } from '../env.ts'
import { goQuote } from '../go/quote.ts'
import { logError } from '../log/log.ts'
import { settingsOf } from '../settings.ts'
import { SharedCall } from '../tenancy/shared-call.ts'
import { callConnection } from '../webhooks/connection.ts'
import { CallFailed } from '../webhooks/outgoing-call.ts'
import type { WebhookConnection } from '../webhooks/webhook-connection.ts'
import { webhookConnection } from '../webhooks/webhook-connection.ts'
import { BadConfiguration } from './configuration-text.ts'
import type { VerificationKey } from './service-account-key.ts'
import { keyOfSpki } from './service-account-key.ts'
import { readSignedHeader } from './token-claims.ts'

/** What the signer is called for: now, and what may go on beside the answer. */
export interface SigningContext {
  readonly env: Env
  readonly now: Date
  readonly waitUntil?: (work: Promise<unknown>) => void
}

/** The signer cannot be reached, or does not answer what it must. */
export class SignerFailed extends Error {
  override readonly name = 'SignerFailed'
}

export interface PublishedKey extends VerificationKey {
  /** Checks tokens of former days, and is not published. */
  readonly isHidden: boolean
}

/** Of one call. Milliseconds. */
const TIMEOUT = 5_000
/** Milliseconds after a question, answered or not, before the next: unknown keys are made up by anybody. */
const ASKS_AGAIN_AFTER = 5_000
/** Requests that wait for an answer; the others come back. */
const MAX_WAITING = 60
/** As many as an issuer's. */
const MAX_KEYS = 256
const MAX_KEY_ID = 1024
/** What kube-apiserver accepts: a signer that allows less is none. Seconds. */
const MIN_SECONDS = 600

/** An int64, as the JSON of protocol buffers writes it, or as a number. */
const int64 = z.pipe(
  z.union([z.int(), z.string().check(z.regex(/^-?\d{1,18}$/))]),
  z.transform((value: number | string) => Number(value)),
)
const signed = z.object({ header: z._default(z.string(), ''), signature: z._default(z.string(), '') })
const metadata = z.object({ maxTokenExpirationSeconds: z._default(int64, 0) })
const fetched = z.object({
  keys: z._default(
    z
      .array(
        z.object({
          keyId: z._default(z.string(), ''),
          key: z._default(z.string(), ''),
          excludeFromOidcDiscovery: z._default(z.boolean(), false),
        }),
      )
      .check(z.maxLength(MAX_KEYS)),
    [],
  ),
  refreshHintSeconds: z._default(int64, 0),
})

/** @throws BadConfiguration */
export function checkSigner(connection: unknown): void {
  const result = webhookConnection.safeParse(connection)
  if (!result.success)
    throw new BadConfiguration(
      result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join(', '),
    )
}

interface KeySet {
  readonly keys: readonly PublishedKey[]
  /** Milliseconds since 1970. */
  readonly refreshAt: number
}

export class ExternalSigner {
  private keySet: KeySet | undefined
  private seconds: number | undefined
  /** Milliseconds since 1970: when keys were last asked for. */
  private asked = -Infinity
  private time = 0
  private waiting = 0
  private readonly call = new SharedCall<void>(() => this.time, TIMEOUT + 1_000)

  constructor(private readonly connection: WebhookConnection) {}

  /** @param payload base64url of the claims @returns the whole token @throws SignerFailed, StatusError 429 */
  async sign(context: SigningContext, payload: string): Promise<string> {
    const { header, signature } = await this.ask(context, 'Sign', { claims: payload }, signed)
    const { problem, keyId } = readSignedHeader(header)
    if (problem !== undefined) throw new SignerFailed(`while validating header: ${problem}`)
    const hidden = (await this.keysFor(context, keyId)).find(({ isHidden }) => isHidden)
    if (hidden !== undefined)
      throw new SignerFailed(
        `while validating header: key used for signing JWT (kid: ${keyId}) is excluded from OIDC discovery docs`,
      )
    if (!/^[A-Za-z0-9_-]+$/.test(signature)) throw new SignerFailed('empty signature returned')
    return `${header}.${payload}.${signature}`
  }

  /** Those with this id, all for no id. One that is not known has the signer asked again. */
  async keysFor(context: SigningContext, keyId = ''): Promise<readonly PublishedKey[]> {
    const time = context.now.getTime()
    const known = this.known(keyId)
    if (known.length === 0) {
      await this.refresh(context)
      return this.known(keyId)
    }
    if (this.keySet !== undefined && time >= this.keySet.refreshAt && this.mayAsk(time))
      context.waitUntil?.(this.refresh(context).catch(() => {}))
    return known
  }

  /** For how long a client may keep the keys. Seconds. */
  secondsToRefresh(now: Date): number {
    return Math.max(0, Math.floor(((this.keySet?.refreshAt ?? 0) - now.getTime()) / 1000))
  }

  /** The longest time that a token may live. Seconds. @throws SignerFailed, StatusError 429 */
  async maxSeconds(context: SigningContext): Promise<number> {
    if (this.seconds !== undefined) return this.seconds
    const { maxTokenExpirationSeconds: seconds } = await this.ask(context, 'Metadata', {}, metadata)
    if (seconds < MIN_SECONDS)
      throw new SignerFailed(
        `max token life supported by external-jwt-signer (${seconds}s) is less than acceptable (min ${MIN_SECONDS}s)`,
      )
    return (this.seconds = seconds)
  }

  private known(keyId: string): readonly PublishedKey[] {
    return (this.keySet?.keys ?? []).filter((key) => keyId === '' || key.keyId === keyId)
  }

  private mayAsk(time: number): boolean {
    return time - this.asked >= ASKS_AGAIN_AFTER
  }

  private async refresh(context: SigningContext): Promise<void> {
    this.time = Math.max(this.time, context.now.getTime())
    const underWay = this.call.underWay(TIMEOUT)
    if (underWay === undefined && !this.mayAsk(this.time)) return
    await this.call.answer(underWay ?? this.call.next, () => {
      this.asked = this.time
      const fetching = this.fetchKeys(context)
      context.waitUntil?.(fetching.catch(() => {}))
      return fetching
    })
  }

  /** What goes wrong is logged: the keys that are known stay. @throws StatusError 429 */
  private async fetchKeys(context: SigningContext): Promise<void> {
    try {
      const { keys, refreshHintSeconds } = await this.ask(context, 'FetchKeys', {}, fetched)
      if (refreshHintSeconds <= 0) throw new SignerFailed(`found invalid refresh hint (${refreshHintSeconds}s)`)
      if (keys.length === 0) throw new SignerFailed('found no keys')
      const read = await Promise.all(
        keys.map(async ({ keyId, key, excludeFromOidcDiscovery }) => {
          if (keyId === '' || keyId.length > MAX_KEY_ID)
            throw new SignerFailed(`found invalid public key id ${goQuote(keyId)}`)
          const found = await keyOfSpki(key, keyId)
          if (found === undefined) throw new SignerFailed('while parsing external public keys')
          return { ...found, isHidden: excludeFromOidcDiscovery }
        }),
      )
      this.keySet = { keys: read, refreshAt: this.time + refreshHintSeconds * 1000 }
    } catch (error) {
      if (!(error instanceof SignerFailed)) throw error
      logError('while fetching token verification keys', { error: error.message })
    }
  }

  private async ask<Schema extends z.core.$ZodType>(
    { env }: SigningContext,
    method: 'Sign' | 'FetchKeys' | 'Metadata',
    message: object,
    schema: Schema,
  ): Promise<z.output<Schema>> {
    if (this.waiting >= MAX_WAITING) throw tooManyRequests('Too many requests, please try again later.', 1)
    this.waiting++
    try {
      const url = `${this.connection.url.replace(/\/$/, '')}/v1.ExternalJWTSigner/${method}`
      const answer = await callConnection(env, this.connection, url, JSON.stringify(message), TIMEOUT)
      if (answer instanceof CallFailed) throw new SignerFailed(`${method}: ${answer.message}`)
      if (answer.status !== 200) throw new SignerFailed(`${method}: status ${answer.status}`)
      const result = z.safeParse(schema, jsonOf(answer.body))
      if (!result.success) throw new SignerFailed(`${method}: the answer is not of its form`)
      return result.data
    } finally {
      this.waiting--
    }
  }
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}

const signers = new WeakMap<Env, ExternalSigner>()

/** Undefined: this server signs itself, or not at all. */
export function externalSigner(env: Env): ExternalSigner | undefined {
  const { tokenSigner } = settingsOf(env)
  if (tokenSigner === undefined) return undefined
  let signer = signers.get(env)
  // checked when the settings were
  if (signer === undefined) signers.set(env, (signer = new ExternalSigner(webhookConnection.parse(tokenSigner))))
  return signer
}
