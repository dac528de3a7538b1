import type { BuiltInDefinition } from '../built-in-definition.ts'

/** What is answered to them is in registry/review.ts. */
const review: BuiltInDefinition = { withoutTable: [''], exemptFrom: ['policies'] }

export const authenticationDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'selfsubjectreviews.authentication.k8s.io': review,
  'tokenreviews.authentication.k8s.io': review,
}
