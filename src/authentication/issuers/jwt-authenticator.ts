/** Authenticates tokens of one issuer that the operator named: JWTs with a valid signature, audience and time. */
import type { UserInfo } from '../../request/user-info.ts'
import { authenticated } from '../../request/user-info.ts'
import { authenticationCounts } from '../authentication-counts.ts'
import { jwt } from '../service-account-key.ts'
import type { TokenContext } from '../token-answer.ts'
import { TokenRefused } from '../token-answer.ts'
import type { JoseHeader } from '../token-claims.ts'
import { userOf } from './claim-mappings.ts'
import type { JwtAuthenticator } from './configuration.ts'
import { SIGNATURE_REFUSED, checkedClaims, headerOf } from './id-token.ts'
import { IssuerKeys } from './issuer-keys.ts'
import type { Mapper } from './validate.ts'

/** No symmetric algorithms, because an issuer's public key is not secret. */
export const SIGNING_ALGORITHMS: readonly string[] = 'ES256 ES384 ES512 PS256 PS384 PS512 RS256 RS384 RS512'.split(' ')

export class JwtIssuer {
  private readonly keys: IssuerKeys

  constructor(
    readonly configuration: JwtAuthenticator,
    private readonly mapper: Mapper,
    private readonly algorithms: readonly string[],
  ) {
    this.keys = new IssuerKeys(configuration.issuer)
  }

  /**
   * @param token that claims to be of this issuer
   * @throws TokenRefused
   */
  async authenticate(context: TokenContext, token: string): Promise<UserInfo> {
    const began = context.clock()
    const { url } = this.configuration.issuer
    let result = 'failure'
    try {
      const user = await this.userOf(context, token)
      result = 'success'
      return user
    } finally {
      const { issued } = authenticationCounts(context.tenant)
      issued.observe(`${result} ${url}`, (context.clock() - began) / 1000, () => ({ result, url }))
    }
  }

  /** When its keys were fetched. */
  get keyFetches(): IssuerKeys['fetches'] {
    return this.keys.fetches
  }

  private async userOf(context: TokenContext, token: string): Promise<UserInfo> {
    const { url: issuer, audiences } = this.configuration.issuer
    const header = headerOf(token, this.algorithms)
    const payload = await this.verified(context, token, header)
    const claims = checkedClaims(payload, { issuer, audiences, now: context.now })
    return authenticated(userOf(this.configuration, this.mapper, claims))
  }

  private async verified(context: TokenContext, token: string, header: JoseHeader): Promise<Uint8Array> {
    const look = () => this.withKnownKeys(context, token, header)
    const payload = (await look()) ?? (await this.keys.findWithNew(context, header.keyId, look))
    if (payload !== undefined) return payload
    throw this.keys.areKnown ? SIGNATURE_REFUSED : new TokenRefused(['oidc: authenticator not initialized'])
  }

  private async withKnownKeys(
    context: TokenContext,
    token: string,
    { algorithm, keyId }: JoseHeader,
  ): Promise<Uint8Array | undefined> {
    const { compactVerify, errors } = await jwt()
    for (const one of this.keys.known(context, keyId)) {
      const key = await one.for(algorithm)
      if (key === undefined) continue
      try {
        return (await compactVerify(token, key, { algorithms: [algorithm] })).payload
      } catch (error) {
        // TypeError: the key is too short, or of another kind
        if (!(error instanceof errors.JOSEError || error instanceof TypeError)) throw error
      }
    }
    return undefined
  }
}
