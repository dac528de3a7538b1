/**
 * Compiles the expressions of one policy or webhook when validation reaches them.
 *
 * kube-apiserver has one environment for new expressions and one for stored expressions. In 1.36 both have the same
 * libraries, so here one environment serves both.
 */
import { forAsLong, goesInParts, kept, PART } from '../base/parts.ts'
import type { VariableDeclaration } from '../cel/declarations.ts'
import type { Environment } from '../cel/environment.ts'
import type { AdmissionExpression, ExpressionUse } from './admission-expressions.ts'
import { compileAdmissionExpression, compileVariable, compilingAdmissionExpression } from './admission-expressions.ts'
import { isLong } from './compilation-pace.ts'
import { admissionEnvironment } from './environments.ts'

export interface PolicyExpressionsOptions {
  /** Whether the policy has a paramKind. Webhooks and other policies have no `params`. */
  readonly hasParams: boolean
  /** Whether there is `variables`. Webhooks, and validating policies that declare no variables, do not have it. */
  readonly hasVariables: boolean
}

/** The uses of expressions that have environments of their own. */
type Scope = 'condition' | 'message' | 'mutation' | 'other'

const scopes: Readonly<Partial<Record<ExpressionUse, Scope>>> = {
  matchCondition: 'condition',
  message: 'message',
  applyConfiguration: 'mutation',
  jsonPatch: 'mutation',
}

export class PolicyExpressions {
  private readonly declarations: VariableDeclaration[] = []
  private readonly environments = new Map<Scope, Environment>()

  constructor(private readonly options: PolicyExpressionsOptions) {}

  declare(name: string, text: string): AdmissionExpression {
    return compileVariable(name, text, this.environmentOf('variable'), this.declarations)
  }

  compile(text: string, use: ExpressionUse): AdmissionExpression {
    const environment = this.environmentOf(use)
    if (!goesInParts() || !isLong(text)) return compileAdmissionExpression(text, environment, use)
    const compiling = kept(this, () => ({
      steps: compilingAdmissionExpression(text, environment, use),
      made: undefined as AdmissionExpression | undefined,
    }))
    forAsLong(() => {
      if (compiling.made !== undefined) return false
      const { done, value } = compiling.steps.next(true)
      if (done === true) compiling.made = value
      return PART
    })
    return compiling.made! // the loop ends when it is set
  }

  private environmentOf(use: ExpressionUse): Environment {
    const scope = scopes[use] ?? 'other'
    const known = this.environments.get(scope)
    if (known !== undefined) return known
    const { hasParams, hasVariables } = this.options
    const made = admissionEnvironment({
      params: hasParams,
      // message expressions have no authorizer
      authorizer: scope !== 'message',
      mutation: scope === 'mutation',
      // match conditions are compiled before the variables are declared
      ...(hasVariables && scope !== 'condition' ? { variables: this.declarations } : {}),
    })
    this.environments.set(scope, made)
    return made
  }
}
