/** What a look of the scheduler writes while it goes on to decide: so much side by side, and the first failure ends it. */
export class WritesUnderWay {
  private count = 0
  private failure: { readonly error: unknown } | undefined
  /** Who waits: for room, or for the end of all. */
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

  /** @throws what a write failed with, as soon as it did */
  async hasRoom(): Promise<void> {
    if (this.count >= this.most) await this.atMost(this.most - 1)
    this.tell()
  }

  /** When nothing is under way. @throws what a write failed with */
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
