/** Runs work of the same name one after the other, in the order of the calls. Work of different names runs side by side. */
export class Turns {
  /**
   * The last work of each name; its promise never rejects. Bound: work under way, since an entry goes when its work
   * ends.
   */
  private readonly last = new Map<string, Promise<void>>()

  async run<Done>(name: string, work: () => Promise<Done>): Promise<Done> {
    const before = this.last.get(name)
    const done = before === undefined ? work() : before.then(work)
    const settled = done.then(
      () => {},
      () => {},
    )
    this.last.set(name, settled)
    try {
      return await done
    } finally {
      if (this.last.get(name) === settled) this.last.delete(name)
    }
  }

  /** Names with unfinished work. */
  get size(): number {
    return this.last.size
  }
}
