/** The code that policies need for expressions, loaded for the first request that a policy matches. */
export { compiledConditions, compiledPolicy } from './compiled-policy.ts'
export { Decisions } from './decisions.ts'
export { authorizerOf } from './evaluation.ts'
export { conditionsMatch } from './match-conditions.ts'
export { MutationProblem, mutated } from './mutate-by-policy.ts'
export { validateByPolicy } from './validate-by-policy.ts'
