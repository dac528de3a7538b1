// How fast a client takes what the engine sends. Only the time counts in which octets wait for the client: an answer
// may be slow because the engine is.

/** Milliseconds of waiting octets after which a client is judged, and judged again. */
export const JUDGED_AFTER = 10_000
/** Octets in a second. A client that takes fewer is slow. */
export const SLOW = 256 * 1024
/** Milliseconds without waiting octets after which what was before no longer counts. */
const FORGOTTEN_AFTER = 2_000

export class ClientPace {
  /** Of the present span, in milliseconds and octets. */
  #waited = 0
  #taken = 0
  /** When octets began to wait; undefined where none wait. Milliseconds that no clock sets back. */
  #waitingSince: number | undefined
  #tookAllAt = 0
  #slowSince: number | undefined

  /** Octets were sent. @param waits some of them wait for the client now */
  sent(octets: number, waits: boolean, now: number): void {
    if (this.#waitingSince === undefined && now - this.#tookAllAt >= FORGOTTEN_AFTER) this.#forget()
    this.#taken += octets
    if (waits) this.#waitingSince ??= now
  }

  /** The client has taken all that waited. */
  tookAll(now: number): void {
    this.#judge(now)
    this.#waitingSince = undefined
    this.#tookAllAt = now
  }

  /** Since when the client has been slow; undefined where it is not. */
  slowSince(now: number): number | undefined {
    if (this.#waitingSince === undefined && now - this.#tookAllAt >= FORGOTTEN_AFTER) this.#forget()
    else this.#judge(now)
    return this.#slowSince
  }

  #judge(now: number): void {
    if (this.#waitingSince === undefined) return
    this.#waited += now - this.#waitingSince
    this.#waitingSince = now
    if (this.#waited < JUDGED_AFTER) return
    this.#slowSince = this.#taken * 1_000 < SLOW * this.#waited ? (this.#slowSince ?? now) : undefined
    this.#waited = 0
    this.#taken = 0
  }

  #forget(): void {
    this.#waited = 0
    this.#taken = 0
    this.#slowSince = undefined
  }
}
