/**
 * The most that one namespace may have in the control shard. Every isolate has a copy of all of it, and who administers a
 * namespace may write Roles and RoleBindings there.
 */
import { groupResourceText } from '../../api/group-version.ts'
import { forbidden } from '../../api/status.ts'
import { goQuote } from '../../go/quote.ts'
import { isControlResource } from '../../storage/collections.ts'
import { controlSnapshot } from '../../tenancy/control-snapshot.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { storedAs } from '../resource-scope.ts'

/** Characters of JSON. Isolates do not know of each other, so more may come within a second. */
export const MOST_OF_NAMESPACE = 1024 * 1024

const group = 'rbac.authorization.k8s.io'
const ofNamespaces = [
  { group, resource: 'roles' },
  { group, resource: 'rolebindings' },
]
const counted: ReadonlySet<string> = new Set(ofNamespaces.map(groupResourceText))

/**
 * @param length characters of the object as it would be stored
 * @param before those of the stored object
 * @throws StatusError 403
 */
export function checkRoom(
  scope: ResourceScope,
  name: string | undefined,
  length: number,
  before = 0,
): void | Promise<void> {
  const stored = storedAs(scope)
  if (length > before && isControlResource(stored) && counted.has(groupResourceText(stored)))
    return checkGrowth(scope, name, length - before)
}

async function checkGrowth(scope: ResourceScope, name = '', growth: number): Promise<void> {
  const { request, place, resource } = scope
  const snapshot = await controlSnapshot(request)
  const used = ofNamespaces.reduce((sum, one) => sum + snapshot.sizeInNamespace(one, place.namespace), 0)
  if (used + growth <= MOST_OF_NAMESPACE) return
  const why = `the Roles and RoleBindings of namespace ${goQuote(place.namespace)} would have more than ${MOST_OF_NAMESPACE} characters`
  throw forbidden(resource.gvr, name, why)
}
