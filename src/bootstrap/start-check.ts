/**
 * Looks once after each start whether users changed what kube-apiserver puts right at its start (`repairsOf`). A look
 * writes nothing where all is as it should be, and no request waits for it. Where the platform has no starts that users
 * know of, it is off (KEDGE_REPAIR_AT_START).
 */
import { logError } from '../log/log.ts'
import { settingsOf } from '../settings.ts'
import type { ControlSnapshot, NewControlPlane } from '../tenancy/control-snapshot.ts'
import { perTenant } from '../tenancy/tenant-state.ts'
import { repairsOf } from './repairs.ts'

/** Milliseconds after which a look that failed is repeated: it takes time, and the disk may be full. */
const AGAIN_MS = 60_000

/** When this isolate looks, in milliseconds since 1970. After a restore it looks again. */
const starts = perTenant('forgotten', () => ({ looksAt: 0 }))

/** All of the control plane is being written or put right. */
export function skipStartCheck({ tenant }: NewControlPlane): void {
  starts(tenant).looksAt = Infinity
}

/** @param order asks for the repairs */
export function checkAfterStart(plane: NewControlPlane, snapshot: ControlSnapshot, order: () => Promise<void>): void {
  if (!settingsOf(plane.env).repairsAtStart) return
  const start = starts(plane.tenant)
  const now = plane.now.getTime()
  if (now < start.looksAt) return
  start.looksAt = Infinity
  plane.waitUntil?.(
    repairsOf(plane, snapshot)
      .then((repairs) => (repairs.length > 0 ? order() : undefined))
      .catch((error: unknown) => {
        start.looksAt = now + AGAIN_MS
        logError('the default roles and APIServices could not be checked', { error })
      }),
  )
}
