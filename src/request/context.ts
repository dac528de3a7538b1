import type { Clock } from '../base/clock.ts'
import type { HeavyWork } from '../base/heavy-line.ts'
import type { Maker } from '../api/status.ts'
import type { Env } from '../env.ts'
import type { UserInfo } from './user-info.ts'
import type { Subrequests } from '../storage/shards/subrequests.ts'
import type { Storage, StoredValue } from '../storage/storage.ts'
import type { Tenant } from '../storage/tenant.ts'
import type { RequestInfo } from './request-info.ts'
import type { RequestHeaders } from './request-headers.ts'
import type { RequestRecord } from './record.ts'
import type { UsedSecret } from './used-secret.ts'
import type { QueryParameters } from './query-parameters.ts'

/**
 * One call of the API, from a client's request or from a controller. It says whose call it is and for which control
 * plane.
 */
export interface ApiCall {
  readonly tenant: Tenant
  readonly env: Env
  readonly user: UserInfo
  /** The audit log and the log use this id. */
  readonly auditId: string
  /** Taken once at the start. Every timestamp of one call has this value. */
  readonly now: Date
  /** The clock for measurements, and for work after the answer has begun. */
  readonly clock: Clock
  /** Texts for `Warning: 299 - "…"` headers, in order. Repeats are dropped when rendered. */
  readonly warnings: string[]
  /** Data for the audit log and the access log; undefined where both are off. */
  readonly record: RequestRecord | undefined
  /** A Durable Object made the call for itself. */
  readonly isObject?: boolean
  /** The storage of the Durable Object that made the call; absent: the storage of the environment. */
  readonly storage?: Storage
  /** Those of the Durable Object that made the call; absent: nothing counts them. */
  readonly subrequests?: Subrequests
  /** The call asks for a built-in resource, so definitions may lag (see ControlPlane). */
  readonly definitionsMayLag?: boolean
  /**
   * The body, or the object that the call changes, is LARGE: other requests have their turn between the steps of the
   * verb. Test it with `if`, so that small calls await nothing.
   */
  isLarge?: boolean
  /** Its place among those that have heavy steps (request/turns.ts). */
  heavyWork?: HeavyWork
  /** Waits until the memory has room for a value of this size (flowcontrol/large-values.ts). @throws 429 */
  takeRoom?(value: LargeValue, size: number): Promise<void>
  /** The epoch of the control plane in which the call was authorized (tenancy/same-epoch.ts). Present for requests only. */
  epoch?: number
  /** Its body takes as long as one that is so many times as long, for want of defaults. Absent: 1. */
  growth?: number
  /** Present for requests only. */
  readonly method?: string
  readonly info?: RequestInfo
  readonly query?: QueryParameters
  /** Registers work that may go on after the answer (ExecutionContext.waitUntil). */
  waitUntil(work: Promise<unknown>): void
  /** See request/hops.ts. Absent: the call began here. */
  readonly hops?: number
  /**
   * For requests: aborted when the client has hung up. Calls to other servers end then, and each one asks for this when
   * it begins, so that a request that waits for others has a limit (in-time.ts).
   */
  gone?: () => AbortSignal
}

/** A value of a request that takes room in the memory. */
export type LargeValue = 'body' | 'object' | 'others'

/** An early read of the object that the path names. */
export interface FirstRead {
  /** `SHARD PREFIX/KEY` in storage. */
  readonly place: string
  /** Settles: it belongs to one request, which awaits it. */
  readonly stored: Promise<StoredValue | undefined>
}

/** A client's request on its way through the chain, with the results of earlier steps. */
export interface ApiRequest extends ApiCall {
  readonly request: Request
  /** What the process that terminates TLS says about the request; undefined where it says nothing (receive.ts). */
  readonly cf: Request['cf']
  readonly headers: RequestHeaders
  readonly method: string
  /** The query, decoded as leniently as Go's net/url does. The first value of a name counts. */
  readonly query: QueryParameters
  readonly info: RequestInfo
  /**
   * The step that has the request now, and formats its errors; and the user as whom it acts, for the log. Copies of the
   * request share it.
   */
  readonly stage: { maker: Maker; user?: UserInfo }
  /** Headers for the answer. Steps add to them. */
  readonly answerHeaders: Record<string, string>
  /**
   * The Secrets whose label has to be written: of the token of the request, and of a token that it reviews. Copies of
   * the request share it.
   */
  readonly usedSecrets: UsedSecret[]
  /** A read that began before authorization. The verb uses its result. */
  firstRead?: FirstRead
  /** Another server now handles the request, so it gives back its seat here. */
  delegate?(): void
}
