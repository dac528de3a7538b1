/**
 * What an isolate or an object remembers of values that requests may make up. Beyond a number of entries, or a sum of
 * sizes, the entry that was used longest ago is forgotten.
 */
export interface Bounds<Key, Value> {
  readonly entries: number
  /** Sum of what `sizeOf` says. An entry that is larger on its own is not kept at all. */
  readonly size?: number
  /** Default: the characters of both key and value, which are text or JSON. */
  sizeOf?(key: Key, value: Value): number
}

/** The characters that a value of JSON holds, and something for each member. */
export function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  let sum = 8
  for (const [name, member] of Object.entries(value)) sum += name.length + charactersOf(member)
  return sum
}

export class BoundedMap<Key, Value> {
  /** In the order of their last use. */
  private readonly kept = new Map<Key, { value: Value; readonly size: number }>()
  private total = 0
  private newest: Key | undefined
  /** Goes over the keys once: from the first of them anew, each would be looked for behind all that were deleted. */
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

  /** Whatever the iterator has come by is forgotten or, since it was used again, behind it. */
  private forgetOldest(): void {
    let { done, value } = this.oldest.next()
    if (done === true) ({ value } = (this.oldest = this.kept.keys()).next())
    this.delete(value as Key) // there is more than is let in
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
