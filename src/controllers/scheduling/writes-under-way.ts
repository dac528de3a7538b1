/**
 * The writes of a scheduler run, which continues to decide meanwhile. A limited number runs at once, and the first
 * failure ends the run.
 */
export class WritesUnderWay {
  private count = 0
  private failure: { readonly error: unknown } | undefined
  private isOverdue = false
  /** The caller that waits for room, or for the end of all writes. */
  private waiting: { readonly least: number; readonly isPatient: boolean; readonly resolve: () => void } | undefined

  /** @param overdue resolves when the run is to wait for no write any more */
  constructor(
    private readonly most: number,
    overdue: Promise<void> = new Promise(() => {}),
  ) {
    void overdue.then(() => {
      this.isOverdue = true
      if (this.waiting?.isPatient === false) this.wake()
    })
  }

  get size(): number {
    return this.count
  }

  add(write: Promise<unknown>): void {
    this.count++
    void write
      .catch((error: unknown) => void (this.failure ??= { error }))
      .finally(() => {
        this.count--
        if (this.waiting !== undefined && this.count <= this.waiting.least) this.wake()
      })
  }

  /**
   * @returns false: there is no room, and the run is overdue
   * @throws the error of a failed write, at the next call
   */
  async hasRoom(): Promise<boolean> {
    await this.atMost(this.most - 1, false)
    this.tell()
    return this.count < this.most
  }

  /**
   * Resolves when no write is under way.
   * @throws the error of a failed write
   */
  async done(): Promise<void> {
    await this.atMost(0, true)
    this.tell()
  }

  /**
   * Resolves when no write is under way or the run is overdue.
   * @throws as done()
   */
  async doneOrOverdue(): Promise<void> {
    await this.atMost(0, false)
    this.tell()
  }

  private async atMost(least: number, isPatient: boolean): Promise<void> {
    if (this.count <= least || (this.isOverdue && !isPatient)) return
    await new Promise<void>((resolve) => (this.waiting = { least, isPatient, resolve }))
  }

  private wake(): void {
    this.waiting?.resolve()
    this.waiting = undefined
  }

  private tell(): void {
    const { failure } = this
    this.failure = undefined
    if (failure !== undefined) throw failure.error
  }
}
