/** Compiled policies and match conditions, compiled once for each generation of their object. */
import type { MatchCondition, Variable } from '../../api/admissionregistration/v1.ts'
import { BoundedMap } from '../../base/bounded-map.ts'
import type { Steps } from '../../base/slices.ts'
import { inTurns } from '../../base/slices.ts'
import type { Environment } from '../../cel/environment.ts'
import type { AdmissionExpression, CompiledVariable } from '../../expressions/admission-expressions.ts'
import { compileVariables, compilingAdmissionExpression } from '../../expressions/admission-expressions.ts'
import { CompilationPace } from '../../expressions/compilation-pace.ts'
import { admissionEnvironment } from '../../expressions/environments.ts'
import type { Tenant } from '../../storage/tenant.ts'
import type { Policies, PolicyType } from './configured-policies.ts'

export interface CompiledCondition {
  readonly name: string
  readonly expression: AdmissionExpression
}

export interface CompiledValidation {
  readonly expression: AdmissionExpression
  readonly messageExpression: AdmissionExpression | undefined
}

export interface CompiledMutation {
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch'
  readonly expression: AdmissionExpression
}

export interface CompiledPolicy {
  readonly variables: readonly CompiledVariable[]
  readonly matchConditions: readonly CompiledCondition[]
  readonly validations: readonly CompiledValidation[]
  readonly auditAnnotations: readonly { readonly key: string; readonly expression: AdmissionExpression }[]
  readonly mutations: readonly CompiledMutation[]
}

/** Limit of the kept expressions in characters. A compiled expression takes about 50 times as much memory. */
const MAX_KEPT = 512 * 1024

type Kept = CompiledPolicy | readonly CompiledCondition[]

const kept = new BoundedMap<string, { readonly compiled: Kept; readonly size: number }>({
  entries: 10_000,
  size: MAX_KEPT,
  sizeOf: (_, { size }) => size,
})

/** Two requests may compile the same object at once: a request never awaits another's promise. */
async function remembered<Compiled extends Kept>(
  key: string,
  source: unknown,
  compile: () => Steps<Compiled>,
): Promise<Compiled> {
  const known = kept.get(key)
  // the key begins with the type of the compiled object
  if (known !== undefined) return known.compiled as Compiled
  const compiled = await inTurns(compile())
  kept.set(key, { compiled, size: JSON.stringify(source ?? null).length })
  return compiled
}

export function compiledPolicy(
  { uid }: Tenant,
  type: PolicyType,
  policy: Policies[PolicyType]['policy'],
): Promise<CompiledPolicy> {
  const { metadata, spec } = policy
  // after a restore the same generation may have other expressions, but never the same revision
  const key = JSON.stringify([type, uid, metadata.uid, metadata.generation, metadata.resourceVersion])
  return remembered(key, spec, () => (type === 'validating' ? compileValidating(spec) : compileMutating(spec)))
}

/** The conditions of a webhook, which have no variables or parameters. */
export const compiledConditions = (conditions: readonly MatchCondition[]): Promise<readonly CompiledCondition[]> =>
  remembered(`webhook/${JSON.stringify(conditions)}`, conditions, () =>
    compileConditions(conditions, admissionEnvironment({ authorizer: true })),
  )

function* compileConditions(
  conditions: readonly MatchCondition[],
  environment: Environment,
): Steps<CompiledCondition[]> {
  const compiled: CompiledCondition[] = []
  const pace = new CompilationPace()
  for (const { name = '', expression = '' } of conditions) {
    compiled.push({ name, expression: yield* compilingAdmissionExpression(expression, environment, 'matchCondition') })
    if (pace.isOver(expression)) yield
  }
  return compiled
}

interface Uses {
  readonly variables: readonly CompiledVariable[]
  /** @param asked names that expressions may use besides variables and parameters */
  environment(asked: { readonly authorizer: boolean; readonly mutation?: boolean }): Environment
}

function* usesOf(variables: readonly Variable[], params: boolean): Steps<Uses> {
  const compiled = yield* compileVariables(variables, { params, authorizer: true })
  return {
    variables: compiled.variables,
    environment: (asked) => admissionEnvironment({ ...asked, params, variables: compiled.declarations }),
  }
}

function* compileValidating(spec: Policies['validating']['policy']['spec'] = {}): Steps<CompiledPolicy> {
  const { variables, environment } = yield* usesOf(spec.variables ?? [], spec.paramKind !== undefined)
  const whole = environment({ authorizer: true })
  const ofMessages = environment({ authorizer: false })
  const matchConditions = yield* compileConditions(spec.matchConditions ?? [], whole)
  const pace = new CompilationPace()
  const validations: CompiledValidation[] = []
  for (const { expression = '', messageExpression = '' } of spec.validations ?? []) {
    validations.push({
      expression: yield* compilingAdmissionExpression(expression, whole, 'validation'),
      messageExpression:
        messageExpression === ''
          ? undefined
          : yield* compilingAdmissionExpression(messageExpression, ofMessages, 'message'),
    })
    if (pace.isOver(expression, messageExpression)) yield
  }
  const auditAnnotations: CompiledPolicy['auditAnnotations'][number][] = []
  for (const { key = '', valueExpression = '' } of spec.auditAnnotations ?? []) {
    const expression = yield* compilingAdmissionExpression(valueExpression, whole, 'auditAnnotation')
    auditAnnotations.push({ key, expression })
    if (pace.isOver(valueExpression)) yield
  }
  return { variables, matchConditions, validations, auditAnnotations, mutations: [] }
}

function* compileMutating(spec: Policies['mutating']['policy']['spec'] = {}): Steps<CompiledPolicy> {
  const { variables, environment } = yield* usesOf(spec.variables ?? [], spec.paramKind !== undefined)
  const patches = environment({ authorizer: true, mutation: true })
  const matchConditions = yield* compileConditions(spec.matchConditions ?? [], environment({ authorizer: true }))
  const pace = new CompilationPace()
  const mutations: CompiledMutation[] = []
  for (const { patchType, jsonPatch, applyConfiguration } of spec.mutations ?? []) {
    const use = patchType === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration'
    const { expression = '' } = (use === 'jsonPatch' ? jsonPatch : applyConfiguration) ?? {}
    mutations.push({
      patchType: use === 'jsonPatch' ? 'JSONPatch' : 'ApplyConfiguration',
      expression: yield* compilingAdmissionExpression(expression, patches, use),
    })
    if (pace.isOver(expression)) yield
  }
  return { variables, matchConditions, validations: [], auditAnnotations: [], mutations }
}
