/**
 * The quotas of a namespace. They are read from storage, because each write changes their usage. A control plane
 * without quotas is not read, and a namespace without quotas is not read again for a second. That second is one of the
 * clock: a request may have begun long before, as its body or a webhook takes its time.
 */
import type { ResourceQuota } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import { BoundedMap } from '../../../base/bounded-map.ts'
import { isRecent } from '../../../base/clock.ts'
import { mayHaveObjects } from '../../../registry/served/written-types.ts'
import type { ApiCall } from '../../../request/context.ts'
import { storedObjects } from '../../../tenancy/stored-objects.ts'
import { perTenant } from '../../../tenancy/tenant-state.ts'

export const RESOURCE_QUOTAS = { group: '', resource: 'resourcequotas' }

/**
 * Milliseconds. A quota that another isolate creates counts after this time at the latest, as with the control
 * snapshot.
 */
const REMEMBERED = 1000

const stateOf = perTenant('forgotten', () => ({
  /** This isolate has created a quota, which the control snapshot may not show yet. */
  hasSome: false,
  /** When a namespace was found to have no quotas. */
  emptyAt: new BoundedMap<string, number>({ entries: 10_000 }),
  /**
   * While this isolate creates a quota in a namespace, the namespace is not remembered as empty. The value is the end
   * of that time.
   */
  expectedUntil: new BoundedMap<string, number>({ entries: 10_000 }),
}))

/** Sorted by name. */
export async function quotasOf(request: ApiCall, namespace: string): Promise<(ResourceQuota & KubeObject)[]> {
  const { hasSome, emptyAt, expectedUntil } = stateOf(request.tenant)
  if (!hasSome && !(await mayHaveObjects(request, RESOURCE_QUOTAS))) return []
  const now = request.clock()
  const isExpected = now < (expectedUntil.get(namespace) ?? 0)
  if (!isExpected && isRecent(emptyAt.get(namespace) ?? -Infinity, now, REMEMBERED)) return []
  const quotas = await storedObjects<ResourceQuota>(request, RESOURCE_QUOTAS, namespace)
  if (quotas.length === 0 && !isExpected) emptyAt.set(namespace, now)
  return quotas
}

/** Called before this isolate creates a quota, so that a concurrent read does not remember the namespace as empty. */
export function expectQuota(request: ApiCall, namespace: string): void {
  const state = stateOf(request.tenant)
  state.hasSome = true
  state.emptyAt.delete(namespace)
  state.expectedUntil.set(namespace, request.clock() + REMEMBERED)
}
