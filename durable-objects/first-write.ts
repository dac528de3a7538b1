/**
 * Before its first write a shard announces itself to the control shard of its tenant, which lists the shards that may
 * have objects (src/storage/written-shards). A shard of a definition gets the numbers of its revisions there, too
 * (src/storage/revision-places). When a shard is empty and its type is gone, the control shard drops it from the list;
 * the next write announces it again.
 */
import type { TakenPlace } from '../src/storage/revisions/revision-places.ts'
import type { Statements } from './statements.ts'

interface Retirement {
  /** Resolves when no write is in progress. */
  settled(): Promise<void>
  isEmpty(): boolean
  /** Resolves when the control shard does not list this shard any more. */
  forget(): Promise<void>
}

export class FirstWrite {
  private isAnnounced: boolean
  /** The call to the control shard in progress. Writes wait until it has ended. */
  private telling: Promise<void> | undefined
  /** How often the list was emptied. */
  private forgotten = 0

  /**
   * @param announce resolves when the entry is on disk
   * @param takePlace undefined for a shard of built-in types, whose name determines its place
   */
  constructor(
    private readonly statements: Statements,
    private readonly announce: () => Promise<void>,
    private readonly takePlace: (() => Promise<TakenPlace>) | undefined,
    private readonly placeTaken: (place: TakenPlace) => void,
  ) {
    // a shard that an earlier release announced has no place yet
    this.isAnnounced = statements.meta('told') === 1 && (takePlace === undefined || this.placeIndex !== undefined)
  }

  /** Undefined for a shard of built-in types, and before the first write. */
  get placeIndex(): number | undefined {
    const kept = this.statements.meta('place')
    return kept === 0 ? undefined : kept - 1
  }

  /** The shard of a definition had objects, and the control shard does not list it any more. */
  get isRetired(): boolean {
    return !this.isAnnounced && this.telling === undefined && this.placeIndex !== undefined
  }

  /** Undefined where the control shard lists this shard already. */
  announced(): Promise<void> | undefined {
    if (this.telling !== undefined) return this.telling.then(() => this.announced())
    if (this.isAnnounced) return undefined
    const { forgotten } = this
    const announcing = this.tell(async () => {
      const [place] = await Promise.all([this.takePlace?.(), this.announce()])
      if (place !== undefined) {
        this.placeTaken(place)
        this.statements.setMeta('place', place.index + 1)
      }
      // a restore may have emptied the list before the answer came
      if (this.forgotten === forgotten) this.set(true)
    })
    return announcing.then(() => this.announced())
  }

  /**
   * Calls the control shard even where `isAnnounced` is false, because an announcement may have reached it before a
   * crash here.
   */
  async retire({ settled, isEmpty, forget }: Retirement): Promise<void> {
    while (this.telling !== undefined) await this.telling.catch(() => {})
    const retired = (async () => {
      await settled()
      if (!isEmpty()) return
      this.set(false)
      await forget()
    })()
    // writes continue although the call has failed
    void this.tell(() => retired.catch(() => {}))
    await retired
  }

  /** The contents of this shard are deleted, and its entry in the control shard too. */
  forget(): void {
    this.forgotten++
    this.set(false)
  }

  private tell(work: () => Promise<void>): Promise<void> {
    const answered = work().finally(() => (this.telling = undefined))
    return (this.telling = answered)
  }

  private set(isAnnounced: boolean): void {
    this.statements.setMeta('told', isAnnounced ? 1 : 0)
    this.isAnnounced = isAnnounced
  }
}
