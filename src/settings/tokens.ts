/** Settings of bearer tokens: their lifetime, their signer and the webhook that reviews them. */
import * as z from 'zod/mini'
import { setting } from './setting.ts'

export interface TokenWebhookSetting {
  /** A WebhookConnection (webhooks/connection.ts), checked where it is used. */
  readonly connection: unknown
  readonly version: 'v1' | 'v1beta1'
  readonly cacheSeconds: number
}

const LEAST_TOKEN_SECONDS = 3600
const MOST_TOKEN_SECONDS = 2 ** 32

export const tokenSeconds = setting('must be seconds, between 1 hour and 2^32 seconds', (text) => {
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : 0
  return seconds >= LEAST_TOKEN_SECONDS && seconds <= MOST_TOKEN_SECONDS ? seconds : undefined
})

export const audiences = setting('must be names without blanks, with commas between, each once', (text) => {
  const names = text.split(',')
  return names.every((name) => /^\S+$/.test(name)) && new Set(names).size === names.length ? names : undefined
})

export const signer = setting('must be JSON: {"url": "https://…", …}', (text) =>
  z.looseObject({}).parse(JSON.parse(text)),
)

export const signingAlgorithms = setting(
  'must be of RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512',
  (text) => {
    const names = text.split(',').map((name) => name.trim())
    return names.every((name) => /^(?:RS|ES|PS)(?:256|384|512)$/.test(name)) ? names : undefined
  },
)

const tokenWebhookShape = z.strictObject({
  connection: z.unknown(),
  version: z._default(z.enum(['v1', 'v1beta1']), 'v1beta1'),
  cacheSeconds: z._default(z.number().check(z.nonnegative()), 120),
})

export const tokenWebhook = setting(
  'must be JSON: {"connection": …, "version": "v1" or "v1beta1", "cacheSeconds": …}, of which connection is needed',
  (text) => tokenWebhookShape.parse(JSON.parse(text)),
)
