/**
 * Prevents privilege escalation: users cannot grant rights that they do not have. To write a role a user needs all
 * its rules, or the verb `escalate` on it. To write a binding a user needs all rules of the role, or the verb `bind`
 * on it. The check runs after mutating admission and before validation.
 */
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { goQuote } from '../../go/quote.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ClusterRole, ClusterRoleBinding, PolicyRule, RoleBinding } from '../../api/rbac/v1.ts'
import { inTurns } from '../../base/slices.ts'
import { badRequest, forbidden, notFound, plainError } from '../../api/status.ts'
import { SYSTEM_MASTERS } from '../../request/user-info.ts'
import { resourceAttributes } from '../../authorization/attributes.ts'
import { verdictOn } from '../../authorization/authorize.ts'
import { RBAC_GROUP, rulesFor, rulesOfRole } from '../../authorization/rbac.ts'
import { aggregate } from '../../authorization/verdict.ts'
import { checkKeyName } from '../../registry/key-name.ts'
import { missingRules } from '../../authorization/rule-coverage.ts'
import { stringifySorted } from '../../json/write-json.ts'
import type { Json } from '../../api/object.ts'
import { freshControlSnapshot } from '../../tenancy/control-snapshot.ts'

const ROLES = new Set(['roles', 'clusterroles'])
const BINDINGS = new Set(['rolebindings', 'clusterrolebindings'])

/** All rights: an aggregated ClusterRole may gain any rule. */
const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

export const rbacEscalation: AdmissionPlugin = {
  name: 'RBACEscalation',
  handles: ({ operation, resource }) =>
    resource.group === RBAC_GROUP && (operation === 'CREATE' || operation === 'UPDATE'),
  async admit(attributes) {
    if (attributes.user.groups.includes(SYSTEM_MASTERS)) return
    if (attributes.oldObject !== undefined && changesOwnershipOnly(attributes)) return
    if (ROLES.has(attributes.resource.resource)) await checkRole(attributes)
    if (BINDINGS.has(attributes.resource.resource)) await checkBinding(attributes)
  },
}

async function checkRole(attributes: Attributes): Promise<void> {
  const { user, resource, request, namespace } = attributes
  // the path of a create has no name
  const name = request.info?.name ?? ''
  const asked = { apiGroup: RBAC_GROUP, apiVersion: '*', resource: resource.resource, name, namespace }
  if ((await verdictOn(request, resourceAttributes(user, 'escalate', asked))).allowed) return
  // only these kinds are decoded at these paths
  const role = attributes.object as (KubeObject & ClusterRole) | undefined
  const old = attributes.oldObject as (KubeObject & ClusterRole) | undefined
  await mustHold(attributes, role?.rules ?? [])
  if (aggregates(role) || aggregates(old))
    await mustHold(attributes, EVERYTHING, 'must have cluster-admin privileges to use the aggregationRule')
}

const aggregates = (role: ClusterRole | undefined): boolean =>
  (role?.aggregationRule?.clusterRoleSelectors ?? []).length > 0

async function checkBinding(attributes: Attributes): Promise<void> {
  const { user, request, namespace, resource } = attributes
  const binding = attributes.object as (KubeObject & (RoleBinding | ClusterRoleBinding)) | undefined
  const { kind = '', name = '', apiGroup = '' } = binding?.roleRef ?? {}
  if (kind === 'Role' || kind === 'ClusterRole') {
    const role = { apiGroup, apiVersion: '*', resource: kind === 'Role' ? 'roles' : 'clusterroles', name, namespace }
    if ((await verdictOn(request, resourceAttributes(user, 'bind', role))).allowed) return
  }
  // a ClusterRoleBinding has no namespace, so it cannot refer to a Role
  if (kind === 'Role' && namespace === '') throw badRequest('Namespace parameter required.')
  if (kind === 'Role' || kind === 'ClusterRole') checkKeyName(name)
  const found = rulesOfRole(await freshControlSnapshot(request), { kind, name }, namespace)
  if ('error' in found)
    throw kind === 'Role' || kind === 'ClusterRole' ? notFound(resource, name) : plainError(found.error)
  await mustHold(attributes, found.rules)
}

async function mustHold(
  { user, request, namespace, resource, object }: Attributes,
  rules: readonly PolicyRule[],
  otherwise?: string,
): Promise<void> {
  // kube-apiserver reads the user's roles as part of this request, so its errors name the request's resource
  const missingRole = (_kind: string, name: string): string => notFound(resource, name).message
  const { rules: held, errors } = rulesFor(await freshControlSnapshot(request), user, namespace, {
    missing: missingRole,
  })
  const missing = await inTurns(missingRules(held, rules))
  if (missing.length === 0) return
  const groups = user.groups.map(goQuote).join(' ')
  const unresolved = errors.length === 0 ? '' : `; resolution errors: [${aggregate(errors)}]`
  const why = `user ${goQuote(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n${missing.join('\n')}${unresolved}`
  throw forbidden(resource, object?.metadata.name ?? '', otherwise ?? why)
}

/** The garbage collector changes finalizers and owners of roles and bindings, whatever these grant. */
function changesOwnershipOnly({ object, oldObject }: Attributes): boolean {
  const rest = (one: KubeObject | undefined): string => {
    const { ownerReferences: _o, finalizers: _f, managedFields: _m, ...metadata } = one?.metadata ?? {}
    return stringifySorted({ ...one, metadata } as unknown as Json)
  }
  return rest(object) === rest(oldObject)
}
