/** An object has one alarm; several things want to be woken. Keeps the earliest: all that is due is done when it rings. */
export class AlarmClock {
  private at: number | undefined

  constructor(private readonly storage: DurableObjectStorage) {}

  async load(): Promise<void> {
    this.at = (await this.storage.getAlarm()) ?? undefined
  }

  /** @param at milliseconds since 1970; undefined: there is no need */
  wakeAt(at: number | undefined): void {
    if (at === undefined) return
    if (this.at !== undefined && this.at <= at) return
    this.at = at
    void this.storage.setAlarm(at)
  }

  rang(): void {
    this.at = undefined
  }
}
