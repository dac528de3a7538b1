import type { ApiCall } from '../../request/context.ts'
import type { UserInfo } from '../../request/user-info.ts'
import type { ControllerContext } from '../controller.ts'

/** A call that a controller makes inside the server, without HTTP. It has its own time and audit id. */
export const controllerCall = (
  { env, storage, subrequests, tenant, now, waitUntil }: ControllerContext,
  user: UserInfo,
): ApiCall => ({
  env,
  ...(storage && { storage }),
  ...(subrequests && { subrequests }),
  tenant,
  user,
  auditId: crypto.randomUUID(),
  now: now(),
  clock: () => now().getTime(),
  warnings: [],
  record: undefined,
  isObject: true,
  waitUntil,
})
