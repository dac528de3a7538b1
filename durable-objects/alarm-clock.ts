/**
 * Shares the one alarm of a Durable Object among its parts. It keeps the earliest time. When the alarm rings, all due
 * work is done.
 */
export class AlarmClock {
  private at: number | undefined

  constructor(private readonly storage: DurableObjectStorage) {}

  async load(): Promise<void> {
    this.at = (await this.storage.getAlarm()) ?? undefined
  }

  /** @param at milliseconds since 1970; undefined: no alarm is needed */
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
