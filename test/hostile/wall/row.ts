// A row is one attempt to get in: the rule, the identity that tries, the request, and the answer of kube-apiserver.
import type { World } from './world.ts'

/** Identities that `world.ts` prepares. "admin" is in system:masters; "node" is system:node:n1, by impersonation. */
export const IDENTITIES = [
  'admin',
  'anonymous',
  'nobody',
  'reader',
  'watcher',
  'owner',
  'main',
  'granter',
  'binder',
  'escalator',
  'impersonator',
  'scraper',
  'signer',
  'approver',
  'issuer',
  'node',
] as const
export type Who = (typeof IDENTITIES)[number]

export type Headers = Readonly<Record<string, string | readonly string[]>>

export interface Sent {
  readonly headers?: Headers
  /** An object goes out as JSON; text and bytes go out as they are. */
  readonly body?: unknown
  /** The part of the query that is known only when the test runs; it follows the path. */
  readonly query?: string
}

export interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export interface Row {
  readonly rule: string
  readonly who: Who
  /** METHOD and path; the path goes out byte for byte. */
  readonly request: string
  /** The HTTP status and, if the answer is a failed Status, its reason. Several where several are right. */
  readonly answer: string
  readonly sent?: Sent | ((world: World) => Sent | Promise<Sent>)
  /** The answer of Kedge where it refuses a request that kube-apiserver accepts. */
  readonly own?: string
  /** Throws if the answer is wrong in another respect. */
  readonly check?: (received: Received) => void
}

export const row = (
  rule: string,
  who: Who,
  request: string,
  answer: string,
  sent?: Row['sent'],
  check?: Row['check'],
): Row => ({ rule, who, request, answer, ...(sent ? { sent } : {}), ...(check ? { check } : {}) })

/** Marks a request that Kedge refuses because it is ambiguous; kube-apiserver chooses one reading. */
export const stricter = (own: string, one: Row): Row => ({ ...one, own })

/** Status and reason of an answer, as rows state it. */
export function answerOf({ status, text }: Received): string {
  if (status < 400) return String(status)
  let reason: unknown
  try {
    reason = (JSON.parse(text) as { reason?: unknown } | null)?.reason // any JSON value
  } catch {
    // An answer in plain text has no reason.
  }
  return typeof reason === 'string' ? `${status} ${reason}` : String(status)
}
