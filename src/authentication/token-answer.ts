/** The input and the result of the token authenticators. */
import type { ApiRequest } from '../request/context.ts'
import type { UsedSecret } from '../request/used-secret.ts'
import type { UserInfo } from '../request/user-info.ts'

export type TokenContext = Pick<ApiRequest, 'env' | 'tenant' | 'now' | 'clock' | 'waitUntil' | 'gone'>

export interface TokenAnswer {
  readonly user: UserInfo
  /** The requested audiences that the token has. */
  readonly audiences: readonly string[]
  /** Texts for `Warning` headers of the answers to requests with the token. */
  readonly warnings?: readonly string[]
  /** Annotations for the audit events of requests with the token. */
  readonly annotations?: Readonly<Record<string, string>>
  /** The token's Secret, where its label does not say that it was used today. */
  readonly usedSecret?: UsedSecret
}

/** The token is refused. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'

  /** The reasons of all authenticators; none where no authenticator knows the token. */
  constructor(
    readonly reasons: readonly string[],
    /** The Secret of a token that is marked invalid, where its label does not say that the token came today. */
    readonly usedSecret?: UsedSecret,
  ) {
    super(reasons.length === 0 ? INVALID : `[${[INVALID, ...reasons].join(', ')}]`)
  }
}

const INVALID = 'invalid bearer token'
