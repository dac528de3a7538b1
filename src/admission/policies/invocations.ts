/** The policies that match a request, with their bindings and parameters (plugin/policy/generic's dispatcher). */
import { StatusError } from '../../api/status.ts'
import { ConversionError } from '../../registry/custom-resources/conversion-webhook.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Attributes } from '../attributes.ts'
import type { ResourceKind } from '../equivalent-resources.ts'
import type { BoundPolicy, Policies, PolicyType } from './configured-policies.ts'
import { matchedBy } from './match.ts'
import type { Param } from './params.ts'
import { ConfigurationError } from './params.ts'
import type { PolicyRequest } from './policy-request.ts'

/** A policy and a binding with the objects that they match, or the reason why they cannot be used. */
export type Invocation<Type extends PolicyType> =
  | {
      readonly policy: Policies[Type]['policy']
      readonly binding: Policies[Type]['binding']
      readonly matched: ResourceKind
      readonly params: readonly Param[]
      readonly problem?: undefined
    }
  | {
      readonly policy: Policies[Type]['policy']
      /** Absent where the policy itself cannot be used. */
      readonly binding?: Policies[Type]['binding']
      readonly problem: string
    }

/** In the order of the policies, then of their bindings. */
export async function invocationsOf<Type extends PolicyType>(
  policies: readonly BoundPolicy<Type>[],
  request: PolicyRequest,
): Promise<readonly Invocation<Type>[]> {
  const invocations: Invocation<Type>[] = []
  for (const { policy, bindings } of policies) {
    const found = await orProblem('policy', async () => {
      const { matchConstraints, paramKind } = policy.spec ?? {}
      if (matchConstraints === undefined)
        throw new ConfigurationError('policy contained no match constraints, a required field')
      const matched = await matchedBy(matchConstraints, request.attributes, request.equivalents)
      if (matched === undefined) return undefined
      return { matched, paramEntry: paramKind && (await request.paramResource(paramKind)) }
    })
    if (found === undefined) continue
    if ('problem' in found) {
      invocations.push({ policy, ...found })
      continue
    }
    for (const binding of bindings) {
      const bound = await orProblem('binding', async () => {
        const { matchResources, paramRef } = binding.spec ?? {}
        const isMet =
          matchResources === undefined ||
          (await matchedBy(matchResources, request.attributes, request.equivalents)) !== undefined
        return isMet
          ? { matched: found.matched, params: await request.paramsOf(found.paramEntry, paramRef) }
          : undefined
      })
      if (bound !== undefined) invocations.push({ policy, binding, ...bound })
    }
  }
  return invocations
}

async function orProblem<Found>(
  what: 'policy' | 'binding',
  find: () => Promise<Found>,
): Promise<Found | { readonly problem: string }> {
  try {
    return await find()
  } catch (error) {
    return { problem: `failed to configure ${what}: ${configurationProblem(error)}` }
  }
}

/**
 * The text of a configuration error. It throws other errors again: a shard that does not answer is no configuration
 * error.
 */
export function configurationProblem(error: unknown): string {
  if (
    error instanceof ConfigurationError ||
    (error instanceof StatusError && (error.code === 404 || error instanceof ConversionError))
  )
    return error.message
  throw error
}

/** The metric labels of a policy's match conditions. */
export const conditionsOwner = ({ request, operation }: Attributes, { metadata: { name = '' } }: KubeObject) =>
  ({ request, labels: { name, kind: 'policy', type: 'validate', operation } }) as const
