/**
 * Writes that arrive together are committed together: one commit costs one fsync, whatever is in it. Each is a
 * transaction of its own, because the failure of one must not undo its neighbours. Nobody is answered before all of
 * them are durable: the platform holds answers and messages back until the turn's writes are confirmed.
 */
export class WriteQueue<Outcome> {
  private waiting: { write: () => Outcome; resolve: (outcome: Outcome) => void; reject: (error: unknown) => void }[] =
    []

  /** @param committed is told what was written, once for all that was written together */
  constructor(
    private readonly transact: (write: () => Outcome) => Outcome,
    private readonly committed: (outcomes: readonly Outcome[]) => void,
  ) {}

  run(write: () => Outcome): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (this.waiting.push({ write, resolve, reject }) === 1) setTimeout(() => this.flush(), 0)
    })
  }

  private flush(): void {
    const writes = this.waiting
    this.waiting = []
    const outcomes: Outcome[] = []
    const answers: (() => void)[] = []
    for (const { write, resolve, reject } of writes) {
      try {
        const outcome = this.transact(write)
        outcomes.push(outcome)
        answers.push(() => resolve(outcome))
      } catch (error) {
        answers.push(() => reject(error))
      }
    }
    this.committed(outcomes)
    for (const answer of answers) answer()
  }
}
