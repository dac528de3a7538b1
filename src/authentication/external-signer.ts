/**
 * An external signer of ServiceAccount tokens, which alone has the private keys (KEP 740): the service
 * v1.ExternalJWTSigner with the methods Sign, FetchKeys and Metadata. kube-apiserver calls it by gRPC on a socket.
 * Here a call is a POST of JSON to /v1.ExternalJWTSigner/METHOD (connectrpc.com), which a bound Worker can answer
 * too.
 */
import * as z from 'zod/mini'
import type { Clock } from '../base/clock.ts'
import { ownValue } from '../base/own.ts'
import { WaitingPlaces } from '../base/waiting-places.ts'
import type { Env } from '../env.ts'
import { goQuote } from '../go/quote.ts'
import { logError } from '../log/log.ts'
import { settingsOf } from '../settings.ts'
import { callConnection } from '../webhooks/connection.ts'
import { Counters, Histograms } from '../metrics/series.ts'
import { DEADLINE, failureText } from '../webhooks/failure-text.ts'
import type { OutgoingAnswer } from '../webhooks/outgoing-call.ts'
import { CallFailed } from '../webhooks/outgoing-call.ts'
import type { WebhookConnection } from '../webhooks/webhook-connection.ts'
import { webhookConnection } from '../webhooks/webhook-connection.ts'
import { BadConfiguration } from './configuration-text.ts'
import { KeyQuestions } from './key-questions.ts'
import type { VerificationKey } from './service-account-key.ts'
import { keyOfSpki } from './service-account-key.ts'
import { readSignedHeader } from './token-claims.ts'

/** The request or the background work for which the signer is called. */
export interface SigningContext {
  readonly env: Env
  readonly now: Date
  readonly waitUntil?: (work: Promise<unknown>) => void
  /** Absent: the duration is not measured. */
  readonly clock?: Clock
}

/** The signer cannot be reached, or its answer is invalid. */
export class SignerFailed extends Error {
  override readonly name = 'SignerFailed'

  /** @param code the gRPC code; kube-apiserver's code for failures without a call */
  constructor(
    message: string,
    readonly code = 'unknown-non-grpc',
    /** The signer's answer is invalid. */
    readonly isRule = false,
  ) {
    super(message)
  }
}

/** Seconds. */
const CALL_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** This isolate's metrics of the signer. */
class SignerCounts {
  readonly fetches = new Counters()
  readonly signs = new Counters()
  readonly times = new Histograms(CALL_BUCKETS)
  /** Seconds since 1970: when keys were fetched, and when they were made. */
  keysFetched: number | undefined
  keysMade: number | undefined
}

const codeOf = (error: unknown): string => (error instanceof SignerFailed ? error.code : 'unknown-non-grpc')

export interface PublishedKey extends VerificationKey {
  /** Verifies tokens of earlier keys, and is not published. */
  readonly isHidden: boolean
}

/** Milliseconds for one call. */
const TIMEOUT = 5_000
/** The most requests that wait for an answer; others get 429. */
const MAX_WAITING = 60
/** The most keys, as for an issuer. */
const MAX_KEYS = 256
const MAX_KEY_ID = 1024
/** The shortest lifetime that kube-apiserver accepts from a signer, in seconds. */
const MIN_SECONDS = 600

/** An int64 as text, as in the JSON of protocol buffers, or as a number. */
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
  dataTimestamp: z.optional(z.iso.datetime({ offset: true })),
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
  /** When they came, in milliseconds since 1970. */
  readonly came: number
  /** Milliseconds after which they are fetched again. */
  readonly lastFor: number
}

/** By either sign: the clock may have been set back. */
const isOld = ({ came, lastFor }: KeySet, now: Date): boolean => Math.abs(now.getTime() - came) >= lastFor

export class ExternalSigner {
  private keySet: KeySet | undefined
  private seconds: number | undefined
  private readonly places = new WaitingPlaces(MAX_WAITING, 2 * TIMEOUT)
  readonly counts = new SignerCounts()
  private readonly questions = new KeyQuestions<SigningContext>(
    (context, time) => this.fetchKeys(context, time),
    TIMEOUT,
  )

  constructor(private readonly connection: WebhookConnection) {}

  /**
   * @param payload base64url of the claims
   * @returns the whole token
   * @throws SignerFailed, StatusError 429
   */
  async sign(context: SigningContext, payload: string): Promise<string> {
    try {
      const token = await this.signed(context, payload)
      this.counts.signs.add({ code: 'OK' })
      return token
    } catch (error) {
      this.counts.signs.add({ code: codeOf(error) })
      throw error
    }
  }

  private async signed(context: SigningContext, payload: string): Promise<string> {
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

  /**
   * The keys with this id; all keys for ''. For an unknown id the signer is asked again.
   * @throws StatusError 429
   */
  async keysFor(context: SigningContext, keyId = ''): Promise<readonly PublishedKey[]> {
    const look = () => this.known(keyId)
    const known = look()
    if (known === undefined) return (await this.questions.find(context, keyId, look)) ?? []
    if (this.keySet !== undefined && isOld(this.keySet, context.now)) this.questions.askBeside(context)
    return known
  }

  /** Seconds for which a client may keep the keys. */
  secondsToRefresh(now: Date): number {
    const { keySet } = this
    if (keySet === undefined || isOld(keySet, now)) return 0
    return Math.floor((keySet.came + keySet.lastFor - now.getTime()) / 1000)
  }

  /**
   * The longest lifetime of a token in seconds.
   * @throws SignerFailed, StatusError 429
   */
  async maxSeconds(context: Pick<SigningContext, 'env' | 'clock' | 'waitUntil'>): Promise<number> {
    if (this.seconds !== undefined) return this.seconds
    const { maxTokenExpirationSeconds: seconds } = await this.ask(context, 'Metadata', {}, metadata)
    if (seconds < MIN_SECONDS)
      throw new SignerFailed(
        `max token life supported by external-jwt-signer (${seconds}s) is less than acceptable (min ${MIN_SECONDS}s)`,
        undefined,
        true,
      )
    return (this.seconds = seconds)
  }

  private known(keyId: string): readonly PublishedKey[] | undefined {
    const known = this.keySet?.keys.filter((key) => keyId === '' || key.keyId === keyId)
    return known?.length === 0 ? undefined : known
  }

  /**
   * A failure is logged, and the known keys stay.
   * @throws StatusError 429
   */
  private async fetchKeys(context: SigningContext, time: number): Promise<boolean> {
    try {
      const { keys, refreshHintSeconds, dataTimestamp } = await this.ask(context, 'FetchKeys', {}, fetched)
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
      this.keySet = { keys: read, came: time, lastFor: refreshHintSeconds * 1000 }
      this.counts.fetches.add({ code: 'OK' })
      this.counts.keysFetched = time / 1000
      if (dataTimestamp !== undefined) this.counts.keysMade = Date.parse(dataTimestamp) / 1000
      return true
    } catch (error) {
      this.counts.fetches.add({ code: codeOf(error) })
      if (!(error instanceof SignerFailed)) throw error
      logError('while fetching token verification keys', { error: error.message })
      return false
    }
  }

  private async ask<Schema extends z.core.$ZodType>(
    context: Pick<SigningContext, 'env' | 'clock' | 'waitUntil'>,
    method: 'Sign' | 'FetchKeys' | 'Metadata',
    message: object,
    schema: Schema,
  ): Promise<z.output<Schema>> {
    const { env, clock } = context
    const path = `/v1.ExternalJWTSigner/${method}`
    const url = `${this.connection.url.replace(/\/$/, '')}${path}`
    const began = clock?.()
    const answer = await this.places.hold(context, () =>
      callConnection(env, this.connection, url, JSON.stringify(message), TIMEOUT),
    )
    const code = codeOfAnswer(answer)
    if (clock && began !== undefined)
      this.counts.times.observe(`${method} ${code}`, (clock() - began) / 1000, () => ({ code, method: path }))
    if (answer instanceof CallFailed) throw new SignerFailed(`${method}: ${answer.message}`, code)
    if (answer.status !== 200) throw new SignerFailed(`${method}: status ${answer.status}`, code)
    const result = z.safeParse(schema, jsonOf(answer.body))
    if (!result.success) throw new SignerFailed(`${method}: the answer is not of its form`)
    return result.data
  }
}

/** gRPC codes for answers that no method made, by HTTP status (connectrpc.com/docs/protocol). */
const codes: Readonly<Record<string, string>> = {
  200: 'OK',
  400: 'Internal',
  401: 'Unauthenticated',
  403: 'PermissionDenied',
  404: 'Unimplemented',
  429: 'Unavailable',
  502: 'Unavailable',
  503: 'Unavailable',
  504: 'Unavailable',
}

function codeOfAnswer(answer: OutgoingAnswer | CallFailed): string {
  if (!(answer instanceof CallFailed)) return ownValue(codes, String(answer.status)) ?? 'Unknown'
  return answer.message === failureText({ code: DEADLINE, message: '' }) ? 'DeadlineExceeded' : 'Unavailable'
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}

const signers = new WeakMap<Env, ExternalSigner>()

/** Undefined where this server signs itself, or does not sign. */
export function externalSigner(env: Env): ExternalSigner | undefined {
  const { tokenSigner } = settingsOf(env)
  if (tokenSigner === undefined) return undefined
  let signer = signers.get(env)
  // checked together with the settings
  if (signer === undefined) signers.set(env, (signer = new ExternalSigner(webhookConnection.parse(tokenSigner))))
  return signer
}
