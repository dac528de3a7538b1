/**
 * The rights that a policy's parameters need. Expressions read the parameters, and their messages may show them, so
 * only who may read them may name them.
 */
import type { ParamKind, ParamRef } from '../../api/admissionregistration/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { forbiddenField, path } from '../../api/field.ts'
import { parseApiVersion } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { resourceAttributes } from '../../authorization/attributes.ts'
import { verdictOn } from '../../authorization/authorize.ts'
import { sortedKeys } from '../../base/name-order.ts'
import type { UserInfo } from '../../request/user-info.ts'
import { freshControlSnapshot } from '../../tenancy/control-snapshot.ts'
import { freshServedResources } from '../served/served.ts'
import type { StrategyContext } from '../strategy.ts'

type Policies = 'validatingadmissionpolicies' | 'mutatingadmissionpolicies'

interface Target {
  readonly apiGroup: string
  readonly apiVersion: string
  readonly resource: string
}

const EVERYTHING: Target = { apiGroup: '*', apiVersion: '*', resource: '*' }

/** What a policy's parameters are. A part that is not known stands for all. */
async function targetOf({ apiVersion = '', kind = '' }: ParamKind, context: StrategyContext): Promise<Target> {
  const parsed = parseApiVersion(apiVersion)
  if (parsed === undefined) return EVERYTHING
  const { group: apiGroup, version } = parsed
  const served = await freshServedResources(context)
  await served.reading(apiGroup)
  const resource = served.findKind({ group: apiGroup, version, kind })?.resource ?? '*'
  return { apiGroup, apiVersion: version, resource }
}

/**
 * Errors of a policy whose author may not get all objects of its kind of parameters. The server's own writes need no
 * rights.
 */
export async function kindRightErrors(
  kind: ParamKind | undefined,
  old: ParamKind | undefined,
  context: StrategyContext,
): Promise<FieldError[]> {
  if (context.verb === undefined || kind === undefined) return []
  if (old !== undefined && old.apiVersion === kind.apiVersion && old.kind === kind.kind) return []
  const asked = { ...(await targetOf(kind, context)), namespace: '*', name: '*' }
  const { user } = context
  const { allowed, error } = await verdictOn(context, resourceAttributes(user, 'get', asked))
  if (allowed) return []
  const why = `user ${userText(user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind.kind}, apiVersion=${kind.apiVersion})`
  return [forbiddenField(path('spec', 'paramKind'), error === undefined ? why : NOT_ASKED)]
}

const NOT_ASKED = 'an authorizer could not be asked'

interface BindingSpec {
  readonly policyName?: string
  readonly paramRef?: ParamRef
}

/**
 * Errors of a binding whose author may not read the parameters. Every update with parameters is asked about, also one
 * that does not change them.
 */
export async function referenceRightErrors(
  { policyName = '', paramRef }: BindingSpec,
  policies: Policies,
  context: StrategyContext,
): Promise<FieldError[]> {
  if (context.verb === undefined || paramRef === undefined) return []
  const { user } = context
  const snapshot = await freshControlSnapshot(context)
  const of = { group: 'admissionregistration.k8s.io', resource: policies }
  const policy = snapshot.get<KubeObject & { readonly spec?: { readonly paramKind?: ParamKind } }>(of, policyName)
  const kind = policy?.spec?.paramKind
  const target = kind === undefined ? EVERYTHING : await targetOf(kind, context)
  const { name = '', namespace = '' } = paramRef
  const verb = name === '' ? 'list' : 'get'
  const { allowed, error } = await verdictOn(context, resourceAttributes(user, verb, { ...target, name, namespace }))
  if (allowed) return []
  const refuse = (why: string) => [forbiddenField(path('spec', 'paramRef'), why)]
  if (error !== undefined) return refuse(NOT_ASKED)
  const least = `to determine minimum required permissions and user ${userText(user)} does not have "${verb}" permission for all groups, versions and resources`
  if (policy === undefined) return refuse(`unable to get policy ${policyName} ${least}`)
  if (kind !== undefined && target.resource === '*')
    return refuse(`unable to resolve paramKind &{${kind.apiVersion} ${kind.kind}} ${least}`)
  // kube-apiserver confuses the two in a MutatingAdmissionPolicyBinding
  const [who, what] = policies === 'validatingadmissionpolicies' ? [userText(user), verb] : [verb, userText(user)]
  return refuse(`user ${who} does not have "${what}" permission on the object referenced by paramRef`)
}

/** As Go prints a `*user.DefaultInfo`. */
function userText({ name, uid, groups, extra }: UserInfo): string {
  const more = sortedKeys(extra).map((key) => `${key}:[${ownValue(extra, key)!.join(' ')}]`)
  return `&{${name} ${uid} [${groups.join(' ')}] map[${more.join(' ')}]}`
}
