import type { TokenReview, TokenReviewStatus } from '../../api/authentication/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { badRequest } from '../../api/status.ts'
import type { TokenAnswer } from '../../authentication/token-answer.ts'
import { TokenRefused } from '../../authentication/token-answer.ts'
import { authenticateToken } from '../../authentication/token-authenticator.ts'
import { mayBeAnonymous } from '../../authentication/issuers/issuers.ts'
import { bearerToken } from '../../authentication/bearer-token.ts'
import { serverAudiences } from '../../authentication/service-account-key.ts'
import { ANONYMOUS } from '../../request/user-info.ts'
import type { ApiRequest } from '../../request/context.ts'
import type { Review } from '../review.ts'
import { userInfoStatus } from './user-info-status.ts'

/** Answers whose token it is. An invalid token is an answer, not an error. */
export const tokenReview: Review = async (request, object, admitted) => {
  // only a TokenReview has this path
  const review = object as KubeObject & TokenReview
  const { token = '', audiences } = review.spec ?? {}
  if (token === '') throw badRequest('token is required for TokenReview in authentication')
  await admitted()
  // fields that the client sent stay if the token does not set them
  const status = { ...review.status, authenticated: false, ...(await statusOf(request, token, audiences)) }
  return { ...review, status } as KubeObject & TokenReview
}

async function statusOf(
  request: ApiRequest,
  token: string,
  audiences: string[] | undefined,
): Promise<TokenReviewStatus> {
  // reads the token like that of a request: a token of blanks alone is none
  const carried = bearerToken(`Bearer ${token}`, [])
  if (carried === undefined) {
    if (!(await mayBeAnonymous({ env: request.env }))) return {}
    return {
      authenticated: true,
      user: userInfoStatus(ANONYMOUS),
      audiences: audiences !== undefined && audiences.length > 0 ? audiences : [...serverAudiences(request.env)],
    }
  }
  try {
    // the body may have come slowly, and the token counts as it is now
    const answer = await authenticateToken({ ...request, now: new Date(request.clock()) }, carried, audiences)
    noteUse(request, answer)
    return { authenticated: true, user: userInfoStatus(answer.user), audiences: [...answer.audiences] }
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error
    noteUse(request, error)
    return { error: error.message }
  }
}

function noteUse({ usedSecrets }: ApiRequest, { usedSecret }: TokenAnswer | TokenRefused): void {
  if (usedSecret !== undefined) usedSecrets.push(usedSecret)
}
