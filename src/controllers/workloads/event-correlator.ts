/**
 * How many Events of one object are written (client-go's EventCorrelator, with its numbers). News that are alike, beyond
 * ten within ten minutes, become one Event; and of one object no more than 25 at once are written, then one in five minutes.
 */
import { BoundedMap } from '../../api/bounded-map.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'

const ALIKE = 10
const ALIKE_MS = 600_000
const BURST = 25
const REFILL_MS = 300_000
/** Objects and kinds of news that are remembered, as many as client-go remembers. */
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
   * @param source reporter and object of the Event
   * @param kind what similar Events of the source have in common
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

export const correlatorOf = perTenant(() => new EventCorrelator())
