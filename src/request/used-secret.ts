/** The label of a Secret with the day on which its token was used last (KEP 2799): `2026-05-01`, in UTC. */
export const LAST_USED = 'kubernetes.io/legacy-token-last-used'

/** A Secret whose token was used, and whose label does not say so yet. */
export class UsedSecret {
  private isTaken = false

  constructor(
    readonly namespace: string,
    readonly name: string,
    readonly uid: string,
    /** The day of the use, in UTC: `2026-05-01`. */
    readonly day: string,
  ) {}

  /** True for the first caller alone: the requests that share the check of a token write once. */
  take(): boolean {
    const isFirst = !this.isTaken
    this.isTaken = true
    return isFirst
  }
}
