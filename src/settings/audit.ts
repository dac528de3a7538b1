/** The settings of the audit log. */
import * as z from 'zod/mini'
import type { Policy } from '../configuration/audit-policy.ts'
import { setting } from './setting.ts'

const auditModes = ['batch', 'blocking', 'blocking-strict'] as const
/**
 * The values of kube-apiserver's --audit-log-mode. `blocking-strict` refuses a request whose event of stage
 * RequestReceived cannot be written.
 */
export type AuditMode = (typeof auditModes)[number]

export interface AuditSettings {
  readonly policy: Policy
  readonly logMode: AuditMode
  readonly webhook: { readonly url: string; readonly token?: string | undefined; readonly mode: AuditMode } | undefined
  readonly console: boolean
}

const webhook = z.strictObject({
  url: z.string().check(z.refine((url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))),
  token: z.optional(z.string().check(z.regex(/^[\x21-\x7e]+$/))),
  mode: z._default(z.enum(auditModes), 'batch'),
})

export const auditWebhook = setting('must be JSON: {"url": …, "token": …, "mode": …}, of which url is needed', (text) =>
  webhook.parse(JSON.parse(text)),
)

export const auditMode = setting(`must be one of ${auditModes.join(', ')}`, (text) =>
  auditModes.find((mode) => mode === text),
)
