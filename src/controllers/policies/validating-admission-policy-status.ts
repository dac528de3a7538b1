/**
 * Type-checks the expressions of a ValidatingAdmissionPolicy for the kinds that it matches, and writes the warnings
 * into its status. Key: the policy's name.
 */
import type { ValidatingAdmissionPolicy } from '../../api/admissionregistration/v1.ts'
import type { GroupVersionKind } from '../../api/group-version.ts'
import { parseApiVersion } from '../../api/group-version.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { inTurns } from '../../base/slices.ts'
import { readyResource, resourceOf } from '../../registry/resource-of.ts'
import type { ServedResources } from '../../registry/served/resources.ts'
import { typeOfKind } from '../../schema/built-in.ts'
import type { StructType } from '../../schema/structural.ts'
import { managerClients } from '../client/clientset.ts'
import { controllerCall } from '../client/controller-call.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { unlessGone } from '../work/unless-gone.ts'
import { matchedKinds } from './matched-kinds.ts'

const POLICIES = { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies' }
const MANAGER = 'validatingadmissionpolicy-status'

type Policy = ValidatingAdmissionPolicy & KubeObject

export const validatingAdmissionPolicyStatus: Controller = {
  async reconcile(name, context) {
    const client = managerClients(context).resource(POLICIES)
    const policy = (await client.get(name)) as Policy | undefined
    if (policy === undefined || !isNews(policy)) return undefined
    const { apiVersion, kind, metadata } = policy
    const expressionWarnings = await warningsOf(policy, context)
    const typeChecking: JsonObject = expressionWarnings.length === 0 ? {} : { expressionWarnings }
    const status = { observedGeneration: metadata.generation ?? 0, typeChecking }
    await client
      .apply(policy, { apiVersion, kind, status }, { fieldManager: MANAGER, subresource: 'status' })
      .catch((error: unknown) => unlessGone(client, policy, error))
    return undefined
  },
}

const isNews = ({ metadata, status }: Policy): boolean => (metadata.generation ?? 0) > (status?.observedGeneration ?? 0)

async function warningsOf({ spec = {} }: Policy, context: ControllerContext): Promise<JsonObject[]> {
  const { expressionWarnings } = await import('../../expressions/policy-type-checking.ts')
  const served = await context.freshServed()
  const kinds: { readonly gvk: GroupVersionKind; readonly type: StructType }[] = []
  for (const gvk of matchedKinds(spec.matchConstraints?.resourceRules ?? [], served)) {
    const type = await typeOf(gvk, served, context)
    if (type !== undefined) kinds.push({ gvk, type })
  }
  const { apiVersion = '', kind = '' } = spec.paramKind ?? {}
  const version = spec.paramKind && parseApiVersion(apiVersion)
  const paramsKind = version && { ...version, kind }
  const params = paramsKind && { gvk: paramsKind, type: await typeOf(paramsKind, served, context) }
  const warnings = await inTurns(expressionWarnings(spec, kinds, params))
  return warnings.map(({ fieldRef, warning }) => ({ fieldRef, warning }))
}

/** Undefined where the type of the kind is unknown: an extension server serves the kind, or no server does. */
async function typeOf(
  gvk: GroupVersionKind,
  served: ServedResources,
  context: ControllerContext,
): Promise<StructType | undefined> {
  const entry = served.findKind(gvk)
  if (entry === undefined) return typeOfKind(gvk)
  const call = controllerCall(context, context.user)
  await readyResource(call, entry)
  return resourceOf(call, entry).type
}
