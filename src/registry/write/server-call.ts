import type { ApiCall } from '../../request/context.ts'
import { API_SERVER } from '../../request/user-info.ts'
import type { NewControlPlane } from '../../tenancy/control-snapshot.ts'

/** A loopback call of kube-apiserver while it serves no request. */
export const serverCall = ({
  env,
  tenant,
  now,
  isObject = false,
  waitUntil = () => {},
}: Omit<NewControlPlane, 'storage'>): ApiCall => ({
  env,
  tenant,
  user: API_SERVER,
  auditId: crypto.randomUUID(),
  now,
  clock: () => now.getTime(),
  warnings: [],
  record: undefined,
  isObject,
  waitUntil,
})
