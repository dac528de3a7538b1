/**
 * The expressions of one policy or webhook, compiled one after the other as validation comes to them.
 *
 * kube-apiserver has an environment for new expressions and one for those that were stored before; in 1.36 both know the
 * same, so that here is one.
 */
import { forAsLong, goesInParts, kept, PART } from '../api/parts.ts'
import type { VariableDeclaration } from '../cel/declarations.ts'
import type { Environment } from '../cel/environment.ts'
import type { AdmissionExpression, ExpressionUse } from './admission-expressions.ts'
import { compileAdmissionExpression, compileVariable, compilingAdmissionExpression } from './admission-expressions.ts'
import { isLong } from './compilation-pace.ts'
import { admissionEnvironment } from './environments.ts'

export interface PolicyExpressionsOptions {
  /** The policy has a paramKind. Webhooks and other policies have no `params`. */
  readonly hasParams: boolean
  /** Whether there is a `variables`: not in webhooks, nor in validating policies that declare none. */
  readonly hasVariables: boolean
}

/** The inputs of an environment. */
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
    return compiling.made! // it has come to its end
  }

  private environmentOf(use: ExpressionUse): Environment {
    const scope = scopes[use] ?? 'other'
    const known = this.environments.get(scope)
    if (known !== undefined) return known
    const { hasParams, hasVariables } = this.options
    const made = admissionEnvironment({
      params: hasParams,
      // messages are made without it
      authorizer: scope !== 'message',
      mutation: scope === 'mutation',
      // conditions are compiled before there are variables
      ...(hasVariables && scope !== 'condition' ? { variables: this.declarations } : {}),
    })
    this.environments.set(scope, made)
    return made
  }
}
