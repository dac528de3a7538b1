import type { ApiCall } from '../../request/context.ts'
import { API_SERVER } from '../../request/user-info.ts'
import type { NewControlPlane } from '../../tenancy/control-snapshot.ts'

/** A call that kube-apiserver makes to itself (its loopback client), while it serves no other. */
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
