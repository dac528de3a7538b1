/**
 * Counts this isolate's writes of objects in which tokens are looked up: a token that was refused before may be valid
 * after such a write.
 */
import type { Collection } from '../storage/storage.ts'
import { perTenant } from './tenant-state.ts'
import type { Tenant } from '../storage/tenant.ts'

const countOf = perTenant(() => ({ writes: 0, epoch: 0 }))

const prefixes: ReadonlySet<string> = new Set(['secrets', 'serviceaccounts', 'pods', 'nodes'])

export const holdsCredentials = ({ prefix }: Collection): boolean => prefixes.has(prefix)

export function credentialsWritten(tenant: Tenant): void {
  countOf(tenant).writes++
}

export const credentialWrites = (tenant: Tenant): number => countOf(tenant).writes

/** Everything was replaced, as by a restore: what was good for the objects before may be another's now. */
export function credentialsReplaced(tenant: Tenant): void {
  countOf(tenant).epoch++
}

/** Another number after each replacement that this isolate has seen. */
export const credentialEpoch = (tenant: Tenant): number => countOf(tenant).epoch
