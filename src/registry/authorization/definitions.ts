import type { BuiltInDefinition } from '../built-in-definition.ts'

/** registry/review.ts computes the answers to reviews. */
const review: BuiltInDefinition = { withoutTable: [''], exemptFrom: ['policies'], quota: 'uncounted' }

export const authorizationDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'localsubjectaccessreviews.authorization.k8s.io': review,
  'selfsubjectaccessreviews.authorization.k8s.io': review,
  'selfsubjectrulesreviews.authorization.k8s.io': review,
  'subjectaccessreviews.authorization.k8s.io': review,
}
