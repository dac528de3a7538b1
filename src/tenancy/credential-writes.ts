/**
 * Counts this isolate's writes of objects in which tokens are looked up. After such a write a token that was refused
 * may be valid.
 */
import type { Collection } from '../storage/storage.ts'
import { perTenant } from './tenant-state.ts'
import type { Tenant } from '../storage/tenant.ts'

/** Each control plane that this isolate comes to know gets another one, and another one with each replacement. */
let epochs = 0

const countOf = perTenant('counts', () => ({ writes: 0, epoch: ++epochs }))

const prefixes: ReadonlySet<string> = new Set(['secrets', 'serviceaccounts', 'pods', 'nodes'])

export const holdsCredentials = ({ prefix }: Collection): boolean => prefixes.has(prefix)

export function credentialsWritten(tenant: Tenant): void {
  countOf(tenant).writes++
}

export const credentialWrites = (tenant: Tenant): number => countOf(tenant).writes

/** A restore has replaced everything: a token that was valid for the old objects may belong to another account now. */
export function credentialsReplaced(tenant: Tenant): void {
  countOf(tenant).epoch = ++epochs
}

/** A number that changes with each restore that this isolate has seen, and where it had forgotten the control plane. */
export const credentialEpoch = (tenant: Tenant): number => countOf(tenant).epoch
