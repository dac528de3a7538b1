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

/** Whether this isolate has looked. After a restore it looks again. */
const starts = perTenant('forgotten', () => ({ isChecked: false }))

/** All of the control plane is being written or put right. */
export function skipStartCheck({ tenant }: NewControlPlane): void {
  starts(tenant).isChecked = true
}

/** @param order asks for the repairs */
export function checkAfterStart(plane: NewControlPlane, snapshot: ControlSnapshot, order: () => Promise<void>): void {
  if (!settingsOf(plane.env).repairsAtStart) return
  const start = starts(plane.tenant)
  if (start.isChecked) return
  start.isChecked = true
  plane.waitUntil?.(
    repairsOf(plane, snapshot)
      .then((repairs) => (repairs.length > 0 ? order() : undefined))
      .catch((error: unknown) => {
        start.isChecked = false
        logError('the default roles and APIServices could not be checked', { error })
      }),
  )
}
