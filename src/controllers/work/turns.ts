/** Runs work of the same name one at a time, in the order of the calls. Work of different names runs concurrently. */
export class Turns {
  /**
   * The last work of each name; its promise never rejects. Bound: unfinished work, because the end of the work removes
   * the entry.
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
