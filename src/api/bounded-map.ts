/**
 * What an isolate or an object remembers of values that requests may make up. Beyond a number of entries, or a sum of
 * sizes, the entry that was used longest ago is forgotten.
 */
export interface Bounds<Key, Value> {
  readonly entries: number
  /** Sum of what `sizeOf` says. An entry that is larger on its own is not kept at all. */
  readonly size?: number
  sizeOf?(key: Key, value: Value): number
}

export class BoundedMap<Key, Value> {
  /** In the order of their last use. */
  private readonly kept = new Map<Key, { value: Value; readonly size: number }>()
  private total = 0
  private newest: Key | undefined

  constructor(private readonly bounds: Bounds<Key, Value>) {}

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
    const size = this.bounds.sizeOf?.(key, value) ?? 0
    if (size > most) return
    this.kept.set(key, { value, size })
    this.newest = key
    this.total += size
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= entries && this.total <= most) break
      this.delete(oldest)
    }
  }

  delete(key: Key): void {
    const found = this.kept.get(key)
    if (found === undefined) return
    this.kept.delete(key)
    this.total -= found.size
    if (key === this.newest) this.newest = undefined
  }

  /** The value of a key, made where there is none yet. */
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
