/**
 * The writes of a scheduler run, which continues to decide meanwhile. A limited number runs at once, and the first
 * failure ends the run.
 */
export class WritesUnderWay {
  private count = 0
  private failure: { readonly error: unknown } | undefined
  /** The caller that waits for room, or for the end of all writes. */
  private waiting: { readonly least: number; readonly resolve: () => void } | undefined

  constructor(private readonly most: number) {}

  add(write: Promise<unknown>): void {
    this.count++
    void write
      .catch((error: unknown) => void (this.failure ??= { error }))
      .finally(() => {
        this.count--
        if (this.waiting === undefined || this.count > this.waiting.least) return
        this.waiting.resolve()
        this.waiting = undefined
      })
  }

  /** @throws the error of a failed write, at the next call */
  async hasRoom(): Promise<void> {
    if (this.count >= this.most) await this.atMost(this.most - 1)
    this.tell()
  }

  /**
   * Resolves when no write is under way.
   * @throws the error of a failed write
   */
  async done(): Promise<void> {
    if (this.count > 0) await this.atMost(0)
    this.tell()
  }

  private atMost(least: number): Promise<void> {
    return new Promise((resolve) => (this.waiting = { least, resolve }))
  }

  private tell(): void {
    const { failure } = this
    this.failure = undefined
    if (failure !== undefined) throw failure.error
  }
}
