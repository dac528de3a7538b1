/** Which places (nodes, pools of devices) have a taint that evicts pods. It follows the changes of the tainted objects. */
import type { Revision } from '../../storage/storage.ts'

/** One page of changes. */
interface Changes<O> {
  readonly revision: Revision
  /** The objects found so far are void. */
  readonly reset: boolean
  readonly changed: readonly { readonly key: string; readonly object: O | undefined }[]
}

export const isNoExecute = ({ effect }: { readonly effect?: string | undefined }): boolean => effect === 'NoExecute'

export class TaintedPlaces<O> {
  /** The place of each tainted object, by its key. Bound: `most`. One read may exceed it. */
  readonly #objects = new Map<string, string>()
  /** How many tainted objects each place has. Bound: that of the objects. */
  readonly #places = new Map<string, number>()
  #at: Revision | undefined
  #tooMany = false

  /** @param placeOf the place of a tainted object, undefined for another one */
  constructor(
    private readonly most: number,
    private readonly placeOf: (object: O) => string | undefined,
  ) {}

  /**
   * Reads the changes since the last call.
   * @param changesSince reads the changes of all objects since a revision
   */
  async look(changesSince: (at: Revision | undefined) => AsyncIterable<Changes<O>>): Promise<void> {
    for await (const { revision, reset, changed } of changesSince(this.#at)) {
      if (reset) this.#forget()
      for (const { key, object } of changed) this.#set(key, object && this.placeOf(object))
      this.#at = revision
    }
    this.#tooMany = this.#objects.size > this.most
    if (!this.#tooMany) return
    this.#forget()
    this.#at = undefined
  }

  /** If more objects are tainted than `most`, every place may be one of theirs. */
  mayBe(place: string): boolean {
    return this.#tooMany || this.#places.has(place)
  }

  /** Whether some place may be tainted. */
  get any(): boolean {
    return this.#tooMany || this.#objects.size > 0
  }

  #set(key: string, place: string | undefined): void {
    const before = this.#objects.get(key)
    if (before === place) return
    if (before !== undefined) this.#count(before, -1)
    if (place === undefined) this.#objects.delete(key)
    else {
      this.#objects.set(key, place)
      this.#count(place, 1)
    }
  }

  #count(place: string, more: number): void {
    const count = (this.#places.get(place) ?? 0) + more
    if (count === 0) this.#places.delete(place)
    else this.#places.set(place, count)
  }

  #forget(): void {
    this.#objects.clear()
    this.#places.clear()
  }
}
