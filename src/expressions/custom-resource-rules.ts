/**
 * The CEL code that CustomResourceDefinitions and custom resources need. It loads with the first definition that has
 * rules.
 */
export { definitionRules } from './definition-rules.ts'
export { ruleTreeOf } from './rule-tree.ts'
export { validateAtOnce, validateByRules } from './validate-rules.ts'
