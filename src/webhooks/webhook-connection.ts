/** The address of a server that reviews tokens or access, and this server's credentials for it, as in a kubeconfig. */
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
