/** Answers objects that the server does not store (reviews). */
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import type { ApiRequest } from '../request/context.ts'
import { selfSubjectReview } from './authentication/self-subject-review.ts'
import { tokenReview } from './authentication/token-review.ts'
import { selfSubjectRulesReview } from './authorization/self-subject-rules-review.ts'
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  subjectAccessReview,
} from './authorization/subject-access-review.ts'

/**
 * @param object the review as the client sent it, after mutating admission
 * @param admitted runs validating admission, at the point where kube-apiserver does
 * @throws StatusError
 */
export type Review = (request: ApiRequest, object: KubeObject, admitted: () => Promise<void>) => Promise<KubeObject>

const reviews: Readonly<Record<string, Review>> = {
  'selfsubjectreviews.authentication.k8s.io': selfSubjectReview,
  'tokenreviews.authentication.k8s.io': tokenReview,
  'localsubjectaccessreviews.authorization.k8s.io': localSubjectAccessReview,
  'selfsubjectaccessreviews.authorization.k8s.io': selfSubjectAccessReview,
  'selfsubjectrulesreviews.authorization.k8s.io': selfSubjectRulesReview,
  'subjectaccessreviews.authorization.k8s.io': subjectAccessReview,
}

export const reviewOf = (resource: GroupResource): Review | undefined => ownValue(reviews, groupResourceText(resource))
