import type { BuiltInDefinition } from '../built-in-definition.ts'

/** registry/review.ts computes the answers to reviews. */
const review: BuiltInDefinition = { withoutTable: [''], exemptFrom: ['policies'], quota: 'uncounted' }

export const authenticationDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'selfsubjectreviews.authentication.k8s.io': review,
  'tokenreviews.authentication.k8s.io': review,
}
