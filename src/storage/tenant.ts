import type { Settings } from '../settings.ts'

/** A control plane. Its uid, never its name, is in every shard name, cache key and token issuer. */
export interface Tenant {
  readonly uid: string
}

/** At present there is only the root control plane, at `/`. */
export const rootTenant = ({ rootTenant: uid }: Pick<Settings, 'rootTenant'>): Tenant => ({ uid })
