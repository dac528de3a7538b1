import type { Clock } from '../api/clock.ts'
import type { Maker } from '../api/status.ts'
import type { Env } from '../env.ts'
import type { UserInfo } from './user-info.ts'
import type { Storage, StoredValue } from '../storage/storage.ts'
import type { Tenant } from '../storage/tenant.ts'
import type { RequestInfo } from './request-info.ts'
import type { RequestHeaders } from './request-headers.ts'
import type { RequestRecord } from './record.ts'
import type { QueryParameters } from './query-parameters.ts'

/** One call of the API, by a client's request or a controller: of which control plane, by whom, and what it has to say besides. */
export interface ApiCall {
  readonly tenant: Tenant
  readonly env: Env
  readonly user: UserInfo
  /** What audit and the log call it. */
  readonly auditId: string
  /** Taken once at the start: every time of one call is the same. */
  readonly now: Date
  /** For what is measured, and for what happens after the answer began. */
  readonly clock: Clock
  /** Texts for `Warning: 299 - "…"` headers, in order. Repeats are dropped when rendered. */
  readonly warnings: string[]
  /** For the audit log and the access log; undefined where neither is on. */
  readonly record: RequestRecord | undefined
  /** A Durable Object makes it for itself. */
  readonly isObject?: boolean
  /** That of the object that makes it; absent: that of the environment. */
  readonly storage?: Storage
  /** As in ControlPlane: it asks for a built-in resource. */
  readonly definitionsMayLag?: boolean
  /** Its body, or what it changes, is LARGE: others have a turn between the steps of its verb (`if`, so that the rest awaits nothing). */
  isLarge?: boolean
  /** Of a request alone. */
  readonly method?: string
  readonly info?: RequestInfo
  readonly query?: QueryParameters
  /** Work that may go on after the answer (ExecutionContext.waitUntil). */
  waitUntil(work: Promise<unknown>): void
  /** Of a request: is aborted when its client has hung up. What was asked of other servers ends then. */
  readonly gone?: () => AbortSignal
}

/** The object that the path names: a read that began early. */
export interface FirstRead {
  /** Of storage: `SHARD PREFIX/KEY`. */
  readonly place: string
  /** Settles: it is of one request, which awaits it. */
  readonly stored: Promise<StoredValue | undefined>
}

/** A client's request on its way through the chain, with what the steps before found out. */
export interface ApiRequest extends ApiCall {
  readonly request: Request
  /** What who ends TLS says of it; undefined: nothing (receive.ts). */
  readonly cf: Request['cf']
  readonly headers: RequestHeaders
  readonly method: string
  /** The query, first values winning; decoded leniently as Go's net/url does. */
  readonly query: QueryParameters
  readonly info: RequestInfo
  /** Who has it now, and makes its errors. */
  readonly stage: { maker: Maker }
  /** Headers of the answer that say something of the request; more come as more is known of it. */
  readonly answerHeaders: Record<string, string>
  /** What was read before the request was authorized, for its verb to take. */
  firstRead?: FirstRead
  /** Another server has it now: it needs no seat of this one any more. */
  delegate?(): void
}
