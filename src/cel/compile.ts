/** Text to a checked expression: parse, check, then the rules that look at the whole. */
import type { Steps } from '../api/slices.ts'
import { atOnce } from '../api/slices.ts'
import type { CheckedExpression } from './checker.ts'
import { check } from './checker.ts'
import type { Environment } from './environment.ts'
import type { Issue } from './issues.ts'
import { issuesText } from './issues.ts'
import { parse } from './parser.ts'
import { validate } from './validators.ts'

export type Compiled =
  | { readonly expression: CheckedExpression; readonly issues?: undefined }
  /** Text of all that is wrong, in the order of places. */
  | { readonly expression?: undefined; readonly issues: string }

export const compile = (text: string, environment: Environment): Compiled => atOnce(compileInSteps(text, environment))

/** A long text takes tenths of a second: others may have their turn between its passes. */
export function* compileInSteps(text: string, environment: Environment): Steps<Compiled> {
  const refused = (issues: readonly Issue[]): Compiled => ({ issues: issuesText(text, issues) })
  const { tree, issues } = parse(text, { macros: environment.macros, optionalSyntax: environment.optionalSyntax })
  if (tree === undefined) return refused(issues)
  yield
  const checked = check(tree, environment)
  if (checked.expression === undefined) return refused(checked.issues)
  yield
  const problems = validate(checked.expression, environment)
  return problems.length > 0 ? refused(problems) : { expression: checked.expression }
}
