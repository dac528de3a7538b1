/**
 * Type-checks a policy's expressions against the known types of the kinds that it matches (apiserver's TypeChecker).
 * The results are only warnings: the policy takes effect in any case.
 */
import type { ValidatingAdmissionPolicySpec } from '../api/admissionregistration/v1.ts'
import type { GroupVersionKind } from '../api/group-version.ts'
import type { Steps } from '../base/slices.ts'
import { byteLength } from '../base/utf8.ts'
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

/** The most bytes of expressions that are checked. Each expression counts once for every kind. */
const MAX_CHECKED = 1024 * 1024
/** The most bytes of a policy's warnings. The policy's status stores them. */
const MAX_WARNINGS = 256 * 1024

/**
 * @param kinds the kinds that the policy matches, in order
 * @param params undefined if the policy has no paramKind; without a type if the type of the kind is not known
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

/** The expressions that are checked. Match conditions, variables and audit annotations get no warnings of their own. */
const expressionsOf = ({ validations = [] }: ValidatingAdmissionPolicySpec) =>
  validations.flatMap(({ expression = '', messageExpression = '' }, index) => [
    { fieldRef: `spec.validations[${index}].expression`, text: expression },
    ...(messageExpression === ''
      ? []
      : [{ fieldRef: `spec.validations[${index}].messageExpression`, text: messageExpression }]),
  ])

/** The declared type of a kind. In messages its name is the kind and a number without meaning, as in kube-apiserver. */
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
