/** Which nodes have a taint that evicts pods, as the changes of nodes say it. */
import type { Node, Taint } from '../../api/core/v1.ts'
import type { Revision } from '../../storage/storage.ts'

/** The result of one look at the changes of nodes, in parts. */
interface Changes {
  readonly revision: Revision
  /** Earlier knowledge is void. */
  readonly reset: boolean
  readonly changed: readonly { readonly key: string; readonly object: Pick<Node, 'spec'> | undefined }[]
}

export const isNoExecute = ({ effect }: Taint): boolean => effect === 'NoExecute'

export class TaintedNodes {
  /** Bound: `most`, which one look may exceed. */
  readonly #names = new Set<string>()
  #at: Revision | undefined
  #tooMany = false

  constructor(private readonly most: number) {}

  /** Reads the changes since the last time. @param changesSince of all nodes */
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

  /** Where more are tainted than are remembered, every node may be one of them. */
  mayBe(name: string): boolean {
    return this.#tooMany || this.#names.has(name)
  }
}
