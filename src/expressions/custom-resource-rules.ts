/** All that definitions and their objects need of expressions, loaded with the first definition that has rules. */
export { definitionRules } from './definition-rules.ts'
export { ruleTreeOf } from './rule-tree.ts'
export { validateAtOnce, validateByRules } from './validate-rules.ts'
