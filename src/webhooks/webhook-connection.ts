/** The address of a server that reviews tokens or access, and this server's credentials for it, as in a kubeconfig. */
import * as z from 'zod/mini'
import { forbiddenHost } from './forbidden-hosts.ts'

const text = z.optional(z.string())

const protocolOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).protocol : undefined)

const isSecure = (url: string): boolean => protocolOf(url) === 'https:'

/**
 * Whether the server is called without TLS, and then without credentials, as in client-go. It must be on this machine:
 * nobody between could read a review, which may have a token, or answer it.
 */
export const isPlain = ({ url }: { readonly url: string }): boolean =>
  protocolOf(url) === 'http:' && forbiddenHost(new URL(url).hostname) === 'loopback address'

export const webhookConnection = z.strictObject({
  url: z
    .string()
    .check(z.refine((url) => isSecure(url) || isPlain({ url }), 'must be https://…, or http://… of this machine')),
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
