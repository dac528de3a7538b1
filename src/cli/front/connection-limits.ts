// Limits the number of connections. Each counts from the moment it is accepted, because a descriptor is in use before
// the handshake too.

export interface Limits {
  readonly total: number
  /** For one address, or one network of IPv6. Clients on this machine share an address and have no such limit. */
  readonly perAddress: number
}

/** Connections beyond `total` that are accepted and answered with 429. Further ones are closed at once. */
export const TO_BE_REFUSED = 128

export type Admission = 'admitted' | 'to be refused' | 'closed'

export class ConnectionLimits {
  readonly #limits: Limits
  /** Bound: the open connections. */
  readonly #byAddress = new Map<string, number>()
  #admitted = 0
  #refusing = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** The caller releases each connection once, unless it is 'closed'. */
  admit(address: string): Admission {
    const key = addressKey(address)
    const ofAddress = this.#byAddress.get(key) ?? 0
    if (this.#admitted < this.#limits.total && (ofAddress < this.#limits.perAddress || isLoopback(key))) {
      this.#admitted++
      this.#byAddress.set(key, ofAddress + 1)
      return 'admitted'
    }
    if (this.#refusing >= TO_BE_REFUSED) return 'closed'
    this.#refusing++
    return 'to be refused'
  }

  release(address: string, admission: Admission): void {
    if (admission === 'to be refused') this.#refusing--
    if (admission !== 'admitted') return
    this.#admitted--
    const key = addressKey(address)
    const left = (this.#byAddress.get(key) ?? 1) - 1
    if (left === 0) this.#byAddress.delete(key)
    else this.#byAddress.set(key, left)
  }

  /** The addresses that are counted. */
  get addresses(): number {
    return this.#byAddress.size
  }
}

const isLoopback = (key: string): boolean => key.startsWith('127.') || key === '::1'

/** A client of IPv6 has a whole /64. */
function addressKey(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !address.includes(':') || address === '::1') return mapped ?? address
  const [head = '', tail] = address.replace(/%.*/, '').split('::')
  const groups = (text: string | undefined): string[] => (text ? text.split(':') : [])
  const [first, last] = [groups(head), groups(tail)]
  const missing = tail === undefined ? 0 : 8 - first.length - last.length
  return [...first, ...Array<string>(missing).fill('0'), ...last].slice(0, 4).join(':')
}
