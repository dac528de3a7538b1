/** How often this isolate wrote objects that tokens are looked up in: what was refused before may be good after. */
import type { Collection } from '../storage/storage.ts'
import { perTenant } from './tenant-state.ts'
import type { Tenant } from '../storage/tenant.ts'

const countOf = perTenant(() => ({ writes: 0 }))

const prefixes: ReadonlySet<string> = new Set(['secrets', 'serviceaccounts', 'pods', 'nodes'])

export const holdsCredentials = ({ prefix }: Collection): boolean => prefixes.has(prefix)

export function credentialsWritten(tenant: Tenant): void {
  countOf(tenant).writes++
}

export const credentialWrites = (tenant: Tenant): number => countOf(tenant).writes
