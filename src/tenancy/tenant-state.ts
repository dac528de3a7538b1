/**
 * All state that this isolate keeps of a control plane, in one TenantState, which goes when other control planes were
 * used since. Each module declares its part.
 */
import { BoundedMap } from '../base/bounded-map.ts'
import type { Tenant } from '../storage/tenant.ts'

/** The most control planes that one isolate remembers. */
const MAX_TENANTS = 256
/** UTF-16 units of all parts that have a size. */
const MAX_SIZE = 64 * 1024 * 1024

/**
 * The parts with a size: the copy of the configuration, and what the scheduler and simulated kubelets keep between
 * two runs.
 */
export type WeighedPart = 'configuration' | 'scheduler' | 'kubelets'

class TenantState {
  /** Bound: one for each call of `perTenant`. */
  readonly parts: unknown[] = []
  /** Bound: one for each WeighedPart. */
  private readonly sizes = new Map<WeighedPart, number>()
  size = 0

  /** @returns whether the size has changed */
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
  // the control plane in use is kept, however large it is
  sizeOf: (_, { size }) => Math.min(size, MAX_SIZE),
})

let kinds = 0

const stateOf = ({ uid }: Tenant): TenantState => states.getOrMake(uid, () => new TenantState())

/**
 * What becomes of a part when all objects of the control plane were replaced, as by a restore. It is forgotten, or it
 * says nothing of an object.
 */
export type WhenReplaced = 'forgotten' | 'counts' | 'is of requests under way' | 'is renewed'

/** The parts that are forgotten. Bound: one for each call of `perTenant`. */
const forgotten: number[] = []

/** Declares a module's state for each control plane. */
export function perTenant<Part>(whenReplaced: WhenReplaced, make: () => Part): (tenant: Tenant) => Part {
  const kind = kinds++
  if (whenReplaced === 'forgotten') forgotten.push(kind)
  return (tenant) => {
    const { parts } = stateOf(tenant)
    // only the result of `make` is stored here
    return (parts[kind] ??= make()) as Part
  }
}

/**
 * Sets the size of a control plane's part. The largest control planes that were not used for long are dropped first.
 */
export function weighTenant(tenant: Tenant, part: WeighedPart, size: number): void {
  const state = stateOf(tenant)
  if (state.weigh(part, size)) states.set(tenant.uid, state)
}

/** All objects of the control plane were replaced: what was remembered of them may be wrong now. */
export function tenantReplaced(tenant: Tenant): void {
  const { parts } = stateOf(tenant)
  for (const kind of forgotten) parts[kind] = undefined
}
