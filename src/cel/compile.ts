/** Text to a checked expression: parse, check, then the rules that look at the whole. */
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

export function compile(text: string, environment: Environment): Compiled {
  const refused = (issues: readonly Issue[]): Compiled => ({ issues: issuesText(text, issues) })
  const { tree, issues } = parse(text, { macros: environment.macros, optionalSyntax: environment.optionalSyntax })
  if (tree === undefined) return refused(issues)
  const checked = check(tree, environment)
  if (checked.expression === undefined) return refused(checked.issues)
  const problems = validate(checked.expression, environment)
  return problems.length > 0 ? refused(problems) : { expression: checked.expression }
}
