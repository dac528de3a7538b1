/**
 * Step 3 of a request: may this user do this? Members of system:masters may everything, then the node authorizer and
 * RBAC are asked; the first that allows decides.
 */
import type { UserInfo } from '../request/user-info.ts'
import { SYSTEM_MASTERS } from '../request/user-info.ts'
import type { ApiRequest } from '../request/context.ts'
import type { ControlPlane, ControlSnapshot } from '../tenancy/control-snapshot.ts'
import { controlSnapshot, freshControlSnapshot } from '../tenancy/control-snapshot.ts'
import type { AuthorizationAttributes } from './attributes.ts'
import type { Authorized } from './authorized.ts'
import { forbiddenBy } from './forbidden.ts'
import { nodeAuthorizer } from './node.ts'
import { isPrivilegedPath } from './privileged-paths.ts'
import { rbac } from './rbac.ts'
import type { Verdict } from './verdict.ts'
import { ALLOWED, noOpinion } from './verdict.ts'

/** @throws StatusError 403 */
export async function authorize(
  plane: ControlPlane & Partial<Pick<ApiRequest, 'record'>>,
  asked: AuthorizationAttributes,
): Promise<Authorized> {
  const { record } = plane
  const { allowed, reason } = mayEverything(asked.user) ? ALLOWED : await verdictOn(plane, asked)
  record?.annotate('authorization.k8s.io/decision', allowed ? 'allow' : 'forbid')
  record?.annotate('authorization.k8s.io/reason', reason)
  if (!allowed) throw forbiddenBy(asked, reason)
  return asked as Authorized // the one place where the proof is made
}

/** Questions in the middle of a request: reviews, impersonation, admission, `authorizer` in expressions. */
export async function verdictOn(plane: ControlPlane, asked: AuthorizationAttributes): Promise<Verdict> {
  const snapshot = await controlSnapshot(plane)
  const verdict = await ask(plane, snapshot, asked)
  if (verdict.allowed) return verdict
  // before a refusal: perhaps it was granted a moment ago
  const fresh = await freshControlSnapshot(plane)
  return fresh === snapshot ? verdict : ask(plane, fresh, asked)
}

const mayEverything = ({ groups }: UserInfo): boolean => groups.includes(SYSTEM_MASTERS)

async function ask(plane: ControlPlane, snapshot: ControlSnapshot, asked: AuthorizationAttributes): Promise<Verdict> {
  if (mayEverything(asked.user)) return ALLOWED
  if (!asked.isResourceRequest && isPrivilegedPath(asked.path)) return noOpinion('')
  const node = await nodeAuthorizer(plane, asked)
  if (node.allowed) return node
  const byRoles = rbac(snapshot, asked)
  if (byRoles.allowed) return byRoles
  return noOpinion([node.reason, byRoles.reason].filter((reason) => reason !== '').join('\n'))
}
