/**
 * The quotas of a namespace. They are read from storage, because their usage changes with each write. Kedge does not
 * read them in a control plane without any, and for a second in a namespace without any.
 */
import type { ResourceQuota } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { BoundedMap } from '../../api/bounded-map.ts'
import { mayHaveObjects } from '../../registry/written-types.ts'
import type { ApiCall } from '../../request/context.ts'
import { storedObjects } from '../../tenancy/stored-objects.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'

export const RESOURCE_QUOTAS = { group: '', resource: 'resourcequotas' }

/** Milliseconds: what another isolate creates is seen that late, as with the control snapshot. */
const REMEMBERED = 1000

const stateOf = perTenant(() => ({
  /** This isolate created one: that is known before the control snapshot says so. */
  hasSome: false,
  /** When a namespace was found without quotas. */
  emptyAt: new BoundedMap<string, number>({ entries: 10_000 }),
  /** Until when a namespace is not remembered as empty, because this isolate is creating a quota in it. */
  expectedUntil: new BoundedMap<string, number>({ entries: 10_000 }),
}))

/** In the order of their names. */
export async function quotasOf(request: ApiCall, namespace: string): Promise<(ResourceQuota & KubeObject)[]> {
  const { hasSome, emptyAt, expectedUntil } = stateOf(request.tenant)
  if (!hasSome && !(await mayHaveObjects(request, RESOURCE_QUOTAS))) return []
  const now = request.now.getTime()
  const isExpected = now < (expectedUntil.get(namespace) ?? 0)
  if (!isExpected && now - (emptyAt.get(namespace) ?? -Infinity) < REMEMBERED) return []
  const quotas = await storedObjects<ResourceQuota>(request, RESOURCE_QUOTAS, namespace)
  if (quotas.length === 0 && !isExpected) emptyAt.set(namespace, now)
  return quotas
}

/** This isolate is about to create a quota: a read that runs beside it must not remember the namespace as empty. */
export function expectQuota(request: ApiCall, namespace: string): void {
  const state = stateOf(request.tenant)
  state.hasSome = true
  state.emptyAt.delete(namespace)
  state.expectedUntil.set(namespace, request.now.getTime() + REMEMBERED)
}
