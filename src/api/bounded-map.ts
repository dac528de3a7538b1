/**
 * An LRU cache for an isolate or a Durable Object. Requests can choose the keys, so the number of entries and the sum
 * of their sizes are bounded. Beyond a bound the least recently used entry is removed.
 */
export interface Bounds<Key, Value> {
  readonly entries: number
  /** The most that the sizes of all entries may add up to. A larger entry is not kept at all. */
  readonly size?: number
  /** The size of an entry. Default: the characters of key and value, which are strings or JSON. */
  sizeOf?(key: Key, value: Value): number
}

/** The approximate size of a JSON value: its characters, and a few more for each member. */
export function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  let sum = 8
  for (const [name, member] of Object.entries(value)) sum += name.length + charactersOf(member)
  return sum
}

export class BoundedMap<Key, Value> {
  /** The entries in the order of their last use. */
  private readonly kept = new Map<Key, { value: Value; readonly size: number }>()
  private total = 0
  private newest: Key | undefined
  /** Iterates over the keys once. A new iterator for each removal would skip all deleted entries again. */
  private oldest = this.kept.keys()
  private readonly bounds: Bounds<Key, Value>

  constructor(bounds: Bounds<Key, Value>) {
    this.bounds = bounds
  }

  get size(): number {
    return this.kept.size
  }

  get(key: Key): Value | undefined {
    const found = this.kept.get(key)
    if (found === undefined) return undefined
    if (key !== this.newest) {
      this.kept.delete(key)
      this.kept.set(key, found)
      this.newest = key
    }
    return found.value
  }

  has(key: Key): boolean {
    return this.get(key) !== undefined
  }

  set(key: Key, value: Value): void {
    this.delete(key)
    const { entries, size: most = Infinity } = this.bounds
    const size = most === Infinity ? 0 : this.sizeOf(key, value)
    if (size > most) return
    this.kept.set(key, { value, size })
    this.newest = key
    this.total += size
    while (this.kept.size > entries || this.total > most) this.forgetOldest()
  }

  /**
   * Removes the oldest entry. The keys that the iterator has passed are removed, or they were used again and are at the
   * end.
   */
  private forgetOldest(): void {
    let { done, value } = this.oldest.next()
    if (done === true) ({ value } = (this.oldest = this.kept.keys()).next())
    this.delete(value as Key) // the map exceeds a bound, so it has a key
  }

  private sizeOf(key: Key, value: Value): number {
    return this.bounds.sizeOf?.(key, value) ?? charactersOf(key) + charactersOf(value)
  }

  delete(key: Key): void {
    const found = this.kept.get(key)
    if (found === undefined) return
    this.kept.delete(key)
    this.total -= found.size
    if (key === this.newest) this.newest = undefined
  }

  clear(): void {
    this.kept.clear()
    this.oldest = this.kept.keys()
    this.newest = undefined
    this.total = 0
  }

  /** The value of a key. Makes it if there is none. */
  getOrMake(key: Key, make: () => Value): Value {
    const known = this.get(key)
    if (known !== undefined) return known
    const made = make()
    this.set(key, made)
    return made
  }

  keys(): Key[] {
    return [...this.kept.keys()]
  }

  values(): Value[] {
    return [...this.kept.values()].map(({ value }) => value)
  }
}
