/**
 * Compiles the expressions of admission policies and match conditions (apiserver's pkg/admission/plugin/cel). The error
 * messages are kube-apiserver's.
 */
import type { Steps } from '../base/slices.ts'
import { atOnce } from '../base/slices.ts'
import type { VariableDeclaration } from '../cel/declarations.ts'
import type { Environment } from '../cel/environment.ts'
import { compileInSteps } from '../cel/compile.ts'
import type { Program } from '../cel/evaluation/program.ts'
import { ProgramError, programInSteps } from '../cel/evaluation/program.ts'
import { runtimeTypeName } from '../cel/values/runtime-types.ts'
import { parametersOf, sameType } from '../cel/checker/type-relations.ts'
import type { Type } from '../cel/checker/type.ts'
import { BOOL, DYN, listOf, mapOf, NULL, STRING } from '../cel/checker/type.ts'
import { CompilationPace, isLong } from './compilation-pace.ts'
import type { AdmissionVariables } from './environments.ts'
import { admissionEnvironment } from './environments.ts'
import { JSON_PATCH, OBJECT } from './mutation-types.ts'

export interface ExpressionProblem {
  readonly problem: string
  /** The expression compiles, but no program can be made of it. kube-apiserver reports this as an internal error. */
  readonly isInternal?: true
}

export type AdmissionExpression = { readonly text: string } & (
  { readonly program: Program; readonly type: Type } | ({ readonly program?: undefined } & ExpressionProblem)
)

/** The result types that each use of an expression allows. */
export const RESULTS = {
  validation: [BOOL],
  matchCondition: [BOOL],
  message: [STRING],
  auditAnnotation: [STRING, NULL],
  applyConfiguration: [OBJECT],
  jsonPatch: [listOf(JSON_PATCH)],
  variable: 'anything',
} satisfies Record<string, readonly Type[] | 'anything'>

export type ExpressionUse = keyof typeof RESULTS

export const compileAdmissionExpression = (
  text: string,
  environment: Environment,
  use: ExpressionUse,
): AdmissionExpression => atOnce(compilingInSteps(text, environment, use))

/** Like compileAdmissionExpression, but yields to other requests if the expression is long. */
export function* compilingAdmissionExpression(
  text: string,
  environment: Environment,
  use: ExpressionUse,
): Steps<AdmissionExpression> {
  return isLong(text)
    ? yield* compilingInSteps(text, environment, use)
    : compileAdmissionExpression(text, environment, use)
}

function* compilingInSteps(text: string, environment: Environment, use: ExpressionUse): Steps<AdmissionExpression> {
  const { expression, issues } = yield* compileInSteps(text, environment)
  if (expression === undefined) return { text, problem: `compilation failed: ${issues}` }
  const { type } = expression
  const wrong = wrongResult(type, RESULTS[use])
  if (wrong !== undefined) return { text, problem: wrong }
  yield
  try {
    return { text, program: yield* programInSteps(expression, environment), type }
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error
    return { text, problem: `program instantiation failed: ${error.message}`, isInternal: true }
  }
}

function wrongResult(type: Type, allowed: readonly Type[] | 'anything'): string | undefined {
  if (allowed === 'anything' || allowed.some((one) => sameType(one, type))) return undefined
  const names = allowed.map(resultTypeText)
  const wanted = names.length === 1 ? names[0] : `one of [${names.join(' ')}]`
  return `must evaluate to ${wanted} but got ${resultTypeText(type)}`
}

/** The type as cel-go writes it outside of the checker's messages. */
export function resultTypeText(type: Type): string {
  if (type.kind === 'wrapper') return `wrapper(${runtimeTypeName(type.of)})`
  const parameters = parametersOf(type)
  const name = runtimeTypeName(type)
  return parameters.length === 0 ? name : `${name}(${parameters.map(resultTypeText).join(', ')})`
}

export interface CompiledVariable {
  readonly name: string
  readonly expression: AdmissionExpression
}

export interface CompiledVariables {
  readonly variables: readonly CompiledVariable[]
  /** The declarations of the variables, for the environment of expressions that may use them. */
  readonly declarations: readonly VariableDeclaration[]
}

/** Compiles variables in order. Each may use the variables before it. */
export function* compileVariables(
  sources: readonly { readonly name?: string; readonly expression?: string }[],
  asked: Omit<AdmissionVariables, 'variables'>,
): Steps<CompiledVariables> {
  const declarations: VariableDeclaration[] = []
  const environment = admissionEnvironment({ ...asked, variables: declarations })
  const variables: CompiledVariable[] = []
  const pace = new CompilationPace()
  for (const { name = '', expression = '' } of sources) {
    variables.push({ name, expression: yield* compilingVariable(name, expression, environment, declarations) })
    if (pace.isOver(expression)) yield
  }
  return { variables, declarations }
}

/** Compiles a variable and declares it, even if it does not compile. Then the expressions that use it fail. */
export const compileVariable = (
  name: string,
  text: string,
  environment: Environment,
  declarations: VariableDeclaration[],
): AdmissionExpression => atOnce(compilingVariable(name, text, environment, declarations))

function* compilingVariable(
  name: string,
  text: string,
  environment: Environment,
  declarations: VariableDeclaration[],
): Steps<AdmissionExpression> {
  const compiled = yield* compilingAdmissionExpression(text, environment, 'variable')
  declarations.push({ name, type: compiled.program === undefined ? DYN : declaredType(compiled.type) })
  return compiled
}

/** The type with which a variable is declared. Scalars, lists and maps keep their type, all others become dyn. */
function declaredType(type: Type): Type {
  switch (type.kind) {
    case 'list':
      return listOf(declaredType(type.element))
    case 'map':
      return mapOf(declaredType(type.key), declaredType(type.value))
    case 'struct':
    case 'opaque':
    case 'wrapper':
    case 'type':
    case 'parameter':
    case 'error':
      return DYN
    default:
      return type
  }
}
