/**
 * A bad token costs a read of storage or the check of a signature, and anybody may send one. So a refused token is
 * refused for a second without another check, unless this isolate has written objects in which tokens are looked up.
 * Only hashes of tokens are kept. Of different bad tokens only a few are checked at a time.
 */
import { BoundedMap } from '../base/bounded-map.ts'
import type { Expiring } from '../base/expiring.ts'
import { expiring, unexpired } from '../base/expiring.ts'
import { WaitingPlaces } from '../base/waiting-places.ts'
import { credentialWrites } from '../tenancy/credential-writes.ts'
import { perTenant } from '../tenancy/tenant-state.ts'
import { MOST_WAITING_FOR_KEYS } from './key-questions.ts'
import type { TokenContext } from './token-answer.ts'
import { MOST_WAITING_FOR_WEBHOOK } from './token-webhook.ts'

/** Milliseconds. */
const REFUSED_FOR = 1_000
/**
 * The most tokens of one control plane that are checked at once. Those that wait for other servers may have as many
 * places as these servers have together, so that servers that hang leave the others to tokens of this one.
 */
export const MOST_LOOKUPS = 100 + MOST_WAITING_FOR_KEYS + MOST_WAITING_FOR_WEBHOOK
/** Milliseconds after which a check counts as lost. The slowest check is a webhook's, with a similar limit. */
const LOST_AFTER = 35_000

interface Refused {
  readonly writes: number
  readonly error: Error
}

const stateOf = perTenant('is of requests under way', () => ({
  refused: new BoundedMap<string, Expiring<Refused>>({
    entries: 4_096,
    size: 4 * 1024 * 1024,
    // a webhook's message may be long
    sizeOf: (hash, { value: { error } }) => hash.length + error.message.length,
  }),
  lookups: new WaitingPlaces(MOST_LOOKUPS, LOST_AFTER),
}))

/**
 * @param key the inputs on which the result depends
 * @param isRefusal whether an error means that the token is bad
 * @throws StatusError 429
 */
export async function lookUpOnce<Answer>(
  context: Pick<TokenContext, 'tenant' | 'now' | 'waitUntil'>,
  key: string,
  lookUp: () => Promise<Answer>,
  isRefusal: (error: unknown) => error is Error,
): Promise<Answer> {
  const { tenant, now } = context
  const state = stateOf(tenant)
  const hash = await hashOf(key)
  const known = unexpired(state.refused.get(hash), now.getTime())
  const writes = credentialWrites(tenant)
  if (known !== undefined && known.writes === writes) throw known.error
  try {
    return await state.lookups.hold(context, lookUp)
  } catch (error) {
    if (isRefusal(error)) state.refused.set(hash, expiring({ writes, error }, now.getTime(), REFUSED_FOR))
    throw error
  }
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return String.fromCharCode(...new Uint8Array(digest))
}
