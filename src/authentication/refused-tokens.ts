/**
 * Bad tokens cost a look at storage or the check of a signature, and anybody may send them: one that was refused is
 * refused again for a second without another look, unless this isolate wrote what tokens are looked up in. Tokens are
 * kept as their hashes. Made-up tokens that differ are looked up a few at a time.
 */
import { BoundedMap } from '../api/bounded-map.ts'
import { tooManyRequests } from '../api/status.ts'
import { credentialWrites } from '../tenancy/credential-writes.ts'
import { perTenant } from '../tenancy/tenant-state.ts'
import type { Tenant } from '../storage/tenant.ts'

/** Milliseconds. */
const REFUSED_FOR = 1_000
/** Tokens of one control plane that are looked up at once. */
const MAX_LOOKUPS = 100
/** Milliseconds after which a look-up counts as lost: the engine gave up its request and told nobody. */
const LOST_AFTER = 10_000

interface Refused {
  readonly until: number
  readonly writes: number
  readonly error: Error
}

const stateOf = perTenant(() => ({
  refused: new BoundedMap<string, Refused>({ entries: 4_096 }),
  /** When each began, in milliseconds since 1970. Bound: MAX_LOOKUPS. */
  lookups: new Set<{ readonly since: number }>(),
}))

/**
 * @param key what the answer depends on
 * @param isRefusal which errors of the look-up say that the token is bad
 * @throws StatusError 429
 */
export async function lookUpOnce<Answer>(
  tenant: Tenant,
  now: Date,
  key: string,
  lookUp: () => Promise<Answer>,
  isRefusal: (error: unknown) => error is Error,
): Promise<Answer> {
  const state = stateOf(tenant)
  const hash = await hashOf(key)
  const known = state.refused.get(hash)
  const writes = credentialWrites(tenant)
  if (known !== undefined && known.until > now.getTime() && known.writes === writes) throw known.error
  const own = { since: now.getTime() }
  if (state.lookups.size >= MAX_LOOKUPS)
    for (const lookup of state.lookups) if (lookup.since < own.since - LOST_AFTER) state.lookups.delete(lookup)
  if (state.lookups.size >= MAX_LOOKUPS) throw tooManyRequests('Too many requests, please try again later.', 1)
  state.lookups.add(own)
  try {
    return await lookUp()
  } catch (error) {
    if (isRefusal(error)) state.refused.set(hash, { until: now.getTime() + REFUSED_FOR, writes, error })
    throw error
  } finally {
    state.lookups.delete(own)
  }
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return String.fromCharCode(...new Uint8Array(digest))
}
