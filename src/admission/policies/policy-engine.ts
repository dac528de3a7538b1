/** All that policies need of expressions, loaded with the first request that meets one. */
export { compiledConditions, compiledPolicy } from './compiled-policy.ts'
export { Decisions } from './decisions.ts'
export { authorizerOf } from './evaluation.ts'
export { conditionsMatch } from './match-conditions.ts'
export { MutationProblem, mutated } from './mutate-by-policy.ts'
export { validateByPolicy } from './validate-by-policy.ts'
