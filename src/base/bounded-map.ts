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

interface Entry<Key, Value> {
  readonly key: Key
  readonly value: Value
  readonly size: number
  /** The entries that were used just before and just after this one. */
  older: Entry<Key, Value> | undefined
  newer: Entry<Key, Value> | undefined
}

/**
 * The order of use is a list of linked entries. The order of the keys in a `Map` would be simpler, but an iterator that
 * waits at its oldest key keeps every former hash table of the map, with all values that they had.
 */
export class BoundedMap<Key, Value> {
  private readonly kept = new Map<Key, Entry<Key, Value>>()
  private total = 0
  private oldest: Entry<Key, Value> | undefined
  private newest: Entry<Key, Value> | undefined
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
    if (found !== this.newest) {
      this.unlink(found)
      this.link(found)
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
    const entry: Entry<Key, Value> = { key, value, size, older: undefined, newer: undefined }
    this.kept.set(key, entry)
    this.link(entry)
    this.total += size
    while (this.oldest !== undefined && (this.kept.size > entries || this.total > most)) this.delete(this.oldest.key)
  }

  private sizeOf(key: Key, value: Value): number {
    return this.bounds.sizeOf?.(key, value) ?? charactersOf(key) + charactersOf(value)
  }

  delete(key: Key): void {
    const found = this.kept.get(key)
    if (found === undefined) return
    this.kept.delete(key)
    this.unlink(found)
    this.total -= found.size
  }

  clear(): void {
    this.kept.clear()
    this.oldest = undefined
    this.newest = undefined
    this.total = 0
  }

  /** Makes the entry the newest. */
  private link(entry: Entry<Key, Value>): void {
    entry.older = this.newest
    entry.newer = undefined
    if (this.newest === undefined) this.oldest = entry
    else this.newest.newer = entry
    this.newest = entry
  }

  private unlink(entry: Entry<Key, Value>): void {
    const { older, newer } = entry
    if (older === undefined) this.oldest = newer
    else older.newer = newer
    if (newer === undefined) this.newest = older
    else newer.older = older
  }

  /** The value of a key. Makes it if there is none. */
  getOrMake(key: Key, make: () => Value): Value {
    const known = this.get(key)
    if (known !== undefined) return known
    const made = make()
    this.set(key, made)
    return made
  }

  /** In the order of their last use, the oldest first. */
  keys(): Key[] {
    return this.inOrder().map(({ key }) => key)
  }

  /** In the order of their last use, the oldest first. */
  values(): Value[] {
    return this.inOrder().map(({ value }) => value)
  }

  private inOrder(): Entry<Key, Value>[] {
    const all: Entry<Key, Value>[] = []
    for (let entry = this.oldest; entry !== undefined; entry = entry.newer) all.push(entry)
    return all
  }
}
