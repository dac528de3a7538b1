import type { SelfSubjectReview } from '../../api/authentication/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { timeText } from '../../schema/time.ts'
import type { Review } from '../review.ts'
import { userInfoStatus } from './user-info-status.ts'

/** Answers with the user of the request. It ignores the sent object. */
export const selfSubjectReview: Review = async ({ user, now }, { kind, apiVersion }, admitted) => {
  await admitted()
  const answer: SelfSubjectReview & KubeObject = {
    kind,
    apiVersion,
    metadata: { creationTimestamp: timeText(now) },
    status: { userInfo: userInfoStatus(user) },
  }
  return answer
}
