/** What authenticators of tokens are asked with, and what they answer. */
import type { ApiRequest } from '../request/context.ts'
import type { UserInfo } from '../request/user-info.ts'

export type TokenContext = Pick<ApiRequest, 'env' | 'tenant' | 'now' | 'clock' | 'waitUntil' | 'gone'>

export interface TokenAnswer {
  readonly user: UserInfo
  /** Those of the audiences asked for that the token is meant for. */
  readonly audiences: readonly string[]
}

/** The token is refused. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'

  /** What each authenticator had to say; none: it is no token that anybody knows. */
  constructor(readonly reasons: readonly string[]) {
    super(reasons.length === 0 ? INVALID : `[${[INVALID, ...reasons].join(', ')}]`)
  }
}

const INVALID = 'invalid bearer token'
