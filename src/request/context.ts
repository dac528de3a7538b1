import type { Env } from '../env.ts'
import type { UserInfo } from '../authentication/user-info.ts'
import type { Tenant } from '../tenancy/tenant.ts'
import type { RequestInfo } from './request-info.ts'

/** One request on its way through the chain: what the steps before found out, and what they want to say besides. */
export interface ApiRequest {
  readonly request: Request
  readonly method: string
  /** The query, first values winning; decoded leniently as Go's net/url does. */
  readonly query: URLSearchParams
  readonly info: RequestInfo
  readonly tenant: Tenant
  readonly env: Env
  readonly user: UserInfo
  /** Taken once at the start: every time of one request is the same. */
  readonly now: Date
  readonly auditId: string
  /** Texts for `Warning: 299 - "…"` headers, in order. Repeats are dropped when rendered. */
  readonly warnings: string[]
  /** Work that may go on after the answer (ExecutionContext.waitUntil). */
  waitUntil(work: Promise<unknown>): void
}
