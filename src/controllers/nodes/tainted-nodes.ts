/** Which nodes have a taint that evicts pods. It follows the changes of nodes. */
import type { Node, Taint } from '../../api/core/v1.ts'
import type { Revision } from '../../storage/storage.ts'

/** One page of changes of nodes. */
interface Changes {
  readonly revision: Revision
  /** The names found so far are void. */
  readonly reset: boolean
  readonly changed: readonly { readonly key: string; readonly object: Pick<Node, 'spec'> | undefined }[]
}

export const isNoExecute = ({ effect }: Taint): boolean => effect === 'NoExecute'

export class TaintedNodes {
  /** Bound: `most`. One read may exceed it. */
  readonly #names = new Set<string>()
  #at: Revision | undefined
  #tooMany = false

  constructor(private readonly most: number) {}

  /**
   * Reads the changes since the last call.
   * @param changesSince reads the changes of all nodes since a revision
   */
  async look(changesSince: (at: Revision | undefined) => AsyncIterable<Changes>): Promise<void> {
    for await (const { revision, reset, changed } of changesSince(this.#at)) {
      if (reset) this.#names.clear()
      for (const { key, object } of changed)
        if (object?.spec?.taints?.some(isNoExecute) === true) this.#names.add(key)
        else this.#names.delete(key)
      this.#at = revision
    }
    this.#tooMany = this.#names.size > this.most
    if (!this.#tooMany) return
    this.#names.clear()
    this.#at = undefined
  }

  /** If more nodes are tainted than `most`, every node may be one of them. */
  mayBe(name: string): boolean {
    return this.#tooMany || this.#names.has(name)
  }
}
