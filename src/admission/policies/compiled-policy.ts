/** Policies and match conditions as programs, compiled once for each generation of what they are written in. */
import type { MatchCondition, Variable } from '../../api/admissionregistration/v1.ts'
import { BoundedMap } from '../../api/bounded-map.ts'
import type { Environment } from '../../cel/environment.ts'
import type { AdmissionExpression, CompiledVariable } from '../../expressions/admission-expressions.ts'
import { compileAdmissionExpression, compileVariables } from '../../expressions/admission-expressions.ts'
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

/** Characters of expressions; a compiled one is about 50 times as large. */
const MAX_KEPT = 512 * 1024

type Kept = CompiledPolicy | readonly CompiledCondition[]

const kept = new BoundedMap<string, { readonly compiled: Kept; readonly size: number }>({
  entries: 10_000,
  size: MAX_KEPT,
  sizeOf: (_, { size }) => size,
})

function remembered<Compiled extends Kept>(key: string, source: unknown, compile: () => Compiled): Compiled {
  const made = kept.getOrMake(key, () => ({ compiled: compile(), size: JSON.stringify(source ?? null).length }))
  // a key begins with what is compiled
  return made.compiled as Compiled
}

export function compiledPolicy(
  { uid }: Tenant,
  type: PolicyType,
  policy: Policies[PolicyType]['policy'],
): CompiledPolicy {
  const { metadata, spec } = policy
  const key = `${type}/${uid}/${metadata.uid}/${metadata.generation}`
  return remembered(key, spec, () => (type === 'validating' ? compileValidating(spec) : compileMutating(spec)))
}

/** Those of a webhook: without variables and parameters. */
export const compiledConditions = (conditions: readonly MatchCondition[]): readonly CompiledCondition[] =>
  remembered(`webhook/${JSON.stringify(conditions)}`, conditions, () =>
    compileConditions(conditions, admissionEnvironment({ authorizer: true })),
  )

const compileConditions = (conditions: readonly MatchCondition[], environment: Environment): CompiledCondition[] =>
  conditions.map(({ name = '', expression = '' }) => ({
    name,
    expression: compileAdmissionExpression(expression, environment, 'matchCondition'),
  }))

interface Uses {
  readonly variables: readonly CompiledVariable[]
  /** @param asked what an expression may name beside variables and parameters */
  environment(asked: { readonly authorizer: boolean; readonly mutation?: boolean }): Environment
}

function usesOf(variables: readonly Variable[], params: boolean): Uses {
  const compiled = compileVariables(variables, { params, authorizer: true })
  return {
    variables: compiled.variables,
    environment: (asked) => admissionEnvironment({ ...asked, params, variables: compiled.declarations }),
  }
}

function compileValidating(spec: Policies['validating']['policy']['spec'] = {}): CompiledPolicy {
  const { variables, environment } = usesOf(spec.variables ?? [], spec.paramKind !== undefined)
  const whole = environment({ authorizer: true })
  const ofMessages = environment({ authorizer: false })
  return {
    variables,
    matchConditions: compileConditions(spec.matchConditions ?? [], whole),
    validations: (spec.validations ?? []).map(({ expression = '', messageExpression = '' }) => ({
      expression: compileAdmissionExpression(expression, whole, 'validation'),
      messageExpression:
        messageExpression === '' ? undefined : compileAdmissionExpression(messageExpression, ofMessages, 'message'),
    })),
    auditAnnotations: (spec.auditAnnotations ?? []).map(({ key = '', valueExpression = '' }) => ({
      key,
      expression: compileAdmissionExpression(valueExpression, whole, 'auditAnnotation'),
    })),
    mutations: [],
  }
}

function compileMutating(spec: Policies['mutating']['policy']['spec'] = {}): CompiledPolicy {
  const { variables, environment } = usesOf(spec.variables ?? [], spec.paramKind !== undefined)
  const patches = environment({ authorizer: true, mutation: true })
  return {
    variables,
    matchConditions: compileConditions(spec.matchConditions ?? [], environment({ authorizer: true })),
    validations: [],
    auditAnnotations: [],
    mutations: (spec.mutations ?? []).map(({ patchType, jsonPatch, applyConfiguration }) =>
      patchType === 'JSONPatch'
        ? { patchType, expression: compileAdmissionExpression(jsonPatch?.expression ?? '', patches, 'jsonPatch') }
        : {
            patchType: 'ApplyConfiguration',
            expression: compileAdmissionExpression(applyConfiguration?.expression ?? '', patches, 'applyConfiguration'),
          },
    ),
  }
}
