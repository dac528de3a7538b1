/**
 * Type-checks a policy's expressions where the types of its objects are known (apiserver's TypeChecker). The results
 * are only warnings: the policy works in any case.
 */
import type { ValidatingAdmissionPolicySpec } from '../api/admissionregistration/v1.ts'
import type { GroupVersionKind } from '../api/group-version.ts'
import type { Steps } from '../api/slices.ts'
import { byteLength } from '../api/utf8.ts'
import { compile, compileInSteps } from '../cel/compile.ts'
import type { Environment } from '../cel/environment.ts'
import type { Structural } from '../schema/structural.ts'
import { compileVariables } from './admission-expressions.ts'
import { CompilationPace, isLong } from './compilation-pace.ts'
import { admissionEnvironment } from './environments.ts'
import type { DeclaredType } from './schema-types.ts'
import { declaredTypeOf } from './schema-types.ts'

export interface TypedKind {
  readonly gvk: GroupVersionKind
  readonly type: Structural
}

export interface ExpressionWarning {
  readonly fieldRef: string
  readonly warning: string
}

/** Bytes of expressions, each counted for every kind. Further ones are not checked. */
const MAX_CHECKED = 1024 * 1024
/** Bytes of all warnings of a policy, which its status holds. */
const MAX_WARNINGS = 256 * 1024

/**
 * @param kinds those that the policy matches, in order
 * @param params undefined where the policy has no paramKind; without a type where that is not known
 */
export function* expressionWarnings(
  spec: ValidatingAdmissionPolicySpec,
  kinds: readonly TypedKind[],
  params: { readonly gvk: GroupVersionKind; readonly type: Structural | undefined } | undefined,
): Steps<ExpressionWarning[]> {
  let toCheck = MAX_CHECKED - kinds.length * sizeOfVariables(spec)
  if (toCheck < 0) return []
  const paramsType = params?.type && declared(params.gvk, params.type, 2)
  const environments: { readonly gvk: GroupVersionKind; readonly environment: Environment }[] = []
  for (const { gvk, type } of kinds) {
    const environment = yield* environmentFor(spec, declared(gvk, type, 1), params !== undefined, paramsType)
    environments.push({ gvk, environment })
    yield
  }
  const pace = new CompilationPace()
  const warnings: ExpressionWarning[] = []
  let toTell = MAX_WARNINGS
  for (const { fieldRef, text } of expressionsOf(spec)) {
    toCheck -= byteLength(text) * kinds.length
    if (toCheck < 0) break
    const texts: string[] = []
    for (const { gvk, environment } of environments) {
      const { issues } = isLong(text) ? yield* compileInSteps(text, environment) : compile(text, environment)
      if (issues !== undefined) texts.push(`${gvk.group}/${gvk.version}, Kind=${gvk.kind}: ${issues}\n`)
      if (pace.isOver(text)) yield
    }
    if (texts.length === 0) continue
    const warning = texts.join('\n')
    toTell -= byteLength(warning)
    if (toTell < 0) break
    warnings.push({ fieldRef, warning })
  }
  return warnings
}

const sizeOfVariables = ({ variables = [] }: ValidatingAdmissionPolicySpec): number =>
  variables.reduce((sum, { expression = '' }) => sum + byteLength(expression), 0)

/** Conditions, variables and annotations are not checked on their own. */
const expressionsOf = ({ validations = [] }: ValidatingAdmissionPolicySpec) =>
  validations.flatMap(({ expression = '', messageExpression = '' }, index) => [
    { fieldRef: `spec.validations[${index}].expression`, text: expression },
    ...(messageExpression === ''
      ? []
      : [{ fieldRef: `spec.validations[${index}].messageExpression`, text: messageExpression }]),
  ])

/** Messages name types after the kind and a number that means nothing. */
const declared = ({ kind }: GroupVersionKind, type: Structural, number: number): DeclaredType | undefined =>
  declaredTypeOf(type, `${kind}${number}`, true)

function* environmentFor(
  { variables = [] }: ValidatingAdmissionPolicySpec,
  objectType: DeclaredType | undefined,
  params: boolean,
  paramsType: DeclaredType | undefined,
): Steps<Environment> {
  const asked = { objectType, params, paramsType, authorizer: 'without requestResource' } as const
  const { declarations } = yield* compileVariables(variables, asked)
  return admissionEnvironment({ ...asked, variables: declarations })
}
