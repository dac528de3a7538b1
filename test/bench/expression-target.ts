/** The CEL compiler as one module for the bundler. */
export { checkInSteps } from '../../src/cel/checker.ts'
export { estimateInSteps } from '../../src/cel/estimate.ts'
export { parseInSteps } from '../../src/cel/parse.ts'
export { programInSteps } from '../../src/cel/program.ts'
export { validateInSteps } from '../../src/cel/validators.ts'
export { admissionEnvironment } from '../../src/expressions/environments.ts'
