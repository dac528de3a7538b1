/** A server that reviews tokens or access: where it is, and how this server shows who asks, as a kubeconfig says it. */
import * as z from 'zod/mini'

const text = z.optional(z.string())

export const webhookConnection = z.strictObject({
  url: z
    .string()
    .check(z.refine((url) => URL.canParse(url) && new URL(url).protocol === 'https:', 'must be https://…')),
  /** PEM. */
  certificateAuthority: text,
  tlsServerName: text,
  token: text,
  username: text,
  password: text,
  /** PEM. */
  clientCertificate: text,
  clientKey: text,
})

export type WebhookConnection = z.infer<typeof webhookConnection>
