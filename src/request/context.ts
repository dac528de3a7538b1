import type { Clock } from '../api/clock.ts'
import type { Env } from '../env.ts'
import type { UserInfo } from './user-info.ts'
import type { Tenant } from '../storage/tenant.ts'
import type { RequestInfo } from './request-info.ts'
import type { RequestHeaders } from './request-headers.ts'
import type { RequestRecord } from './record.ts'
import type { QueryParameters } from './query-parameters.ts'

/** One request on its way through the chain: what the steps before found out, and what they want to say besides. */
export interface ApiRequest {
  readonly request: Request
  readonly headers: RequestHeaders
  readonly method: string
  /** The query, first values winning; decoded leniently as Go's net/url does. */
  readonly query: QueryParameters
  readonly info: RequestInfo
  readonly tenant: Tenant
  readonly env: Env
  readonly user: UserInfo
  /** Taken once at the start: every time of one request is the same. */
  readonly now: Date
  /** For what is measured, and for what happens after the answer began. */
  readonly clock: Clock
  /** Headers of the answer that say something of the request; more come as more is known of it. */
  readonly answerHeaders: Record<string, string>
  /** Texts for `Warning: 299 - "…"` headers, in order. Repeats are dropped when rendered. */
  readonly warnings: string[]
  /** For the audit log and the access log; undefined where neither is on. */
  readonly record: RequestRecord | undefined
  /** A Durable Object makes it for itself. */
  readonly isObject?: boolean
  /** As in ControlPlane: it asks for a built-in resource. */
  readonly definitionsMayLag?: boolean
  /** Its body, or what it changes, is LARGE: others have a turn between the steps of its verb (`if`, so that the rest awaits nothing). */
  isLarge?: boolean
  /** Work that may go on after the answer (ExecutionContext.waitUntil). */
  waitUntil(work: Promise<unknown>): void
}
