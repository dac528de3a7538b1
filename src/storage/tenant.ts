import type { Settings } from '../settings.ts'

/** A control plane of its own. Its uid, never its name, is in every shard name, cache key and token issuer. */
export interface Tenant {
  readonly uid: string
}

/** Only the root control plane exists as yet; it is reached at `/`. */
export const rootTenant = ({ rootTenant: uid }: Pick<Settings, 'rootTenant'>): Tenant => ({ uid })
