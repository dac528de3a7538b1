/** The CEL compiler as one module for the bundler. */
export { checkInSteps } from '../../src/cel/checker/checker.ts'
export { estimateInSteps } from '../../src/cel/estimate.ts'
export { parseInSteps } from '../../src/cel/syntax/parse.ts'
export { programInSteps } from '../../src/cel/evaluation/program.ts'
export { validateInSteps } from '../../src/cel/checker/validators.ts'
export { admissionEnvironment } from '../../src/expressions/environments.ts'
