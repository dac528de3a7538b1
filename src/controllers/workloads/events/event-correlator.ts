/**
 * Limits the Events of one object (client-go's EventCorrelator, with its numbers). Similar Events beyond ten in ten
 * minutes become one Event. An object gets at most 25 Events at once, then one in five minutes.
 */
import { BoundedMap } from '../../../base/bounded-map.ts'
import { perTenant } from '../../../tenancy/tenant-state.ts'

const ALIKE = 10
const ALIKE_MS = 600_000
const BURST = 25
const REFILL_MS = 300_000
/** The most objects, and the most kinds of Events, that are kept in memory: client-go's number. */
const REMEMBERED = 4096
const COMBINED = '(combined from similar events): '

interface Alike {
  readonly messages: Set<string>
  last: number
}

interface Tokens {
  left: number
  at: number
}

export class EventCorrelator {
  private readonly alike = new BoundedMap<string, Alike>({ entries: REMEMBERED })
  private readonly tokens = new BoundedMap<string, Tokens>({ entries: REMEMBERED })

  /**
   * @param source the reporter and the object of the Event
   * @param kind the fields that similar Events of the source share
   * @param now milliseconds since 1970
   * @returns the message, and the key that identifies the Event; undefined: the Event is beyond the limit
   */
  admit(
    source: string,
    kind: string,
    message: string,
    now: number,
  ): { readonly message: string; readonly identity: string } | undefined {
    const admitted = this.combined(`${source} ${kind}`, message, now)
    return this.take(source, now) ? admitted : undefined
  }

  private combined(key: string, message: string, now: number): { message: string; identity: string } {
    const known = this.alike.get(key)
    const alike =
      known !== undefined && now - known.last <= ALIKE_MS ? known : { messages: new Set<string>(), last: now }
    alike.last = now
    this.alike.set(key, alike)
    if (alike.messages.size < ALIKE) alike.messages.add(message)
    else if (!alike.messages.has(message)) return { message: COMBINED + message, identity: COMBINED }
    return { message, identity: message }
  }

  private take(source: string, now: number): boolean {
    const known = this.tokens.get(source) ?? { left: BURST, at: now }
    const left = Math.min(BURST, known.left + (now - known.at) / REFILL_MS)
    const isLeft = left >= 1
    this.tokens.set(source, { left: isLeft ? left - 1 : left, at: now })
    return isLeft
  }
}

export const correlatorOf = perTenant('forgotten', () => new EventCorrelator())
