/** Compiles the text of an expression: parses it, checks its types, then validates literals and aggregates. */
import type { Steps } from '../base/slices.ts'
import { atOnce } from '../base/slices.ts'
import type { CheckedExpression } from './checker/checker.ts'
import { checkInSteps } from './checker/checker.ts'
import type { Environment } from './environment.ts'
import type { Issue } from './syntax/issues.ts'
import { issuesText } from './syntax/issues.ts'
import { parseInSteps } from './syntax/parse.ts'
import { validateInSteps } from './checker/validators.ts'

export type Compiled =
  | { readonly expression: CheckedExpression; readonly issues?: undefined }
  /** All errors as one text, ordered by line and column. */
  | { readonly expression?: undefined; readonly issues: string }

export const compile = (text: string, environment: Environment): Compiled => atOnce(compileInSteps(text, environment))

/** Like compile, but yields to other requests. A long expression takes tenths of a second. */
export function* compileInSteps(text: string, environment: Environment): Steps<Compiled> {
  const refused = (issues: readonly Issue[]): Compiled => ({ issues: issuesText(text, issues) })
  const { tree, issues } = yield* parseInSteps(text, {
    macros: environment.macros,
    optionalSyntax: environment.optionalSyntax,
  })
  if (tree === undefined) return refused(issues)
  yield
  const checked = yield* checkInSteps(tree, environment)
  if (checked.expression === undefined) return refused(checked.issues)
  yield
  const problems = yield* validateInSteps(checked.expression, environment)
  return problems.length > 0 ? refused(problems) : { expression: checked.expression }
}
