/**
 * All state that this isolate keeps of a control plane. It is in one TenantState and goes with it when other control
 * planes were used since. Each module declares its part.
 */
import { BoundedMap } from '../api/bounded-map.ts'
import type { Tenant } from '../storage/tenant.ts'

/** Control planes that one isolate remembers. */
const MAX_TENANTS = 256
/** UTF-16 units of the parts that have a size. */
const MAX_SIZE = 64 * 1024 * 1024

/** What has a size: the copy of the configuration, and what the scheduler and simulated kubelets keep between two looks. */
export type WeighedPart = 'configuration' | 'scheduler' | 'kubelets'

class TenantState {
  /** Bound: one for each call of `perTenant`. */
  readonly parts: unknown[] = []
  /** Bound: one for each WeighedPart. */
  private readonly sizes = new Map<WeighedPart, number>()
  size = 0

  /** @returns whether it is another size than before */
  weigh(part: WeighedPart, size: number): boolean {
    const before = this.sizes.get(part) ?? 0
    this.sizes.set(part, size)
    this.size += size - before
    return size !== before
  }
}

const states = new BoundedMap<string, TenantState>({
  entries: MAX_TENANTS,
  size: MAX_SIZE,
  // The control plane of this moment is kept, however large it is.
  sizeOf: (_, { size }) => Math.min(size, MAX_SIZE),
})

let kinds = 0

const stateOf = ({ uid }: Tenant): TenantState => states.getOrMake(uid, () => new TenantState())

/** Declares a module's state for each control plane. */
export function perTenant<Part>(make: () => Part): (tenant: Tenant) => Part {
  const kind = kinds++
  return (tenant) => {
    const { parts } = stateOf(tenant)
    // only what `make` returned is put here
    return (parts[kind] ??= make()) as Part
  }
}

/** Tells how much is held of a control plane: the largest ones that were not used for long go first. */
export function weighTenant(tenant: Tenant, part: WeighedPart, size: number): void {
  const state = stateOf(tenant)
  if (state.weigh(part, size)) states.set(tenant.uid, state)
}
