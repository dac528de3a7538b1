/**
 * The texts of objects that were read more than once lately. Without the query a get costs a tenth less. All shards of an
 * isolate share one limit, because they share one memory: a shard that is read much keeps much.
 */
import { BoundedMap } from '../src/base/bounded-map.ts'
import type { StoredText } from '../src/storage/shards/shard-protocol.ts'

/** In characters. */
const TEXTS = { entries: 4096, size: 4 << 20 }
const texts = new BoundedMap<string, StoredText>(TEXTS)
/** In characters. A longer text would replace many short ones. */
const LONGEST = 128 << 10

/** Keys that were read once lately. Most objects are not read again, and keeping those would cost more than it saves. */
const readOnce = new BoundedMap<string, true>({ entries: TEXTS.entries, size: 1 << 20, sizeOf: (key) => key.length })

let instances = 0

/** The texts of one instance of a shard. Another instance cannot use them, because it may have written meanwhile. */
export class KeptTexts {
  private prefix = `${instances++}/`

  get(key: string): StoredText | undefined {
    return texts.get(this.prefix + key)
  }

  /** Keeps a text at the second read. */
  keep(key: string, text: StoredText): void {
    if (text.length > LONGEST) return
    const own = this.prefix + key
    if (readOnce.has(own)) texts.set(own, text)
    else readOnce.set(own, true)
  }

  delete(key: string): void {
    texts.delete(this.prefix + key)
  }

  /** Drops all texts of this instance. New texts push them out of the memory. */
  forget(): void {
    this.prefix = `${instances++}/`
  }
}
