/** Work of one name is done one after the other, in the order in which it was asked for; that of different names at once. */
export class Turns {
  /** The last of each name, which never fails; gone when it is done. */
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

  /** Names of which some work is not done. */
  get size(): number {
    return this.last.size
  }
}
