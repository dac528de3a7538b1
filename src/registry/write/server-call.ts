import type { Env } from '../../env.ts'
import type { ApiCall } from '../../request/context.ts'
import { API_SERVER } from '../../request/user-info.ts'
import type { Tenant } from '../../storage/tenant.ts'

/** A call that kube-apiserver makes to itself (its loopback client), while it serves no other. */
export const serverCall = ({ env, tenant, now }: { env: Env; tenant: Tenant; now: Date }): ApiCall => ({
  env,
  tenant,
  user: API_SERVER,
  auditId: crypto.randomUUID(),
  now,
  clock: () => now.getTime(),
  warnings: [],
  record: undefined,
  waitUntil: () => {},
})
