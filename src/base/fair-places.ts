/**
 * Places that users hold for as long as they want, such as open watches. While there are any left, everybody gets some.
 * Then the user who has the most of the group that has the most gives the oldest up, to those who have fewer. So
 * nobody's places keep others out, and nobody gains by taking more.
 */

export interface Place {
  leave(): void
  /** Says that its holder is still there. */
  renew(): void
  /** Called when the holder must give the place up, which it has left then. */
  onEnd?: () => void
}

interface Holder extends Place {
  readonly size: number
  readonly what: string
  /** When it was taken, or renewed for the last time. Milliseconds since 1970. */
  since: number
}

interface Taken {
  taken: number
}

interface User extends Taken {
  /** The oldest first. Bound: the places of the user. */
  readonly holders: Set<Holder>
}

interface Group extends Taken {
  /** By name. Each has a place. Bound: the places of the group. */
  readonly users: Map<string, User>
}

export class FairPlaces {
  /** Each has a place. Bound: the places. */
  private readonly groups = new Map<string, Group>()
  private taken = 0
  private readonly lostAfter: number
  private readonly now: () => number

  /** @param lostAfter milliseconds after which a place that nobody renewed counts as left; absent: never */
  constructor(lostAfter = Infinity, now: () => number = () => 0) {
    this.lostAfter = lostAfter
    this.now = now
  }

  get isEmpty(): boolean {
    return this.taken === 0
  }

  /** @param most how many places there are */
  has(most: number): boolean {
    return this.taken < most
  }

  /** How many hold places of a group, by `what` they hold them for. */
  count(group: string): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { holders } of this.groups.get(group)?.users.values() ?? [])
      for (const { what } of holders) counts.set(what, (counts.get(what) ?? 0) + 1)
    return counts
  }

  /** The places that a user has. */
  of(group: string, user: string): number {
    return this.groups.get(group)?.users.get(user)?.taken ?? 0
  }

  /**
   * @param most how many places there are
   * @param size how many of them are asked for
   * @param what for `count`
   * @returns undefined where so many are not free, and nobody has more than the user would have
   */
  take(group: string, user: string, most: number, size = 1, what = ''): Place | undefined {
    if (this.taken + size > most) this.reclaimLost()
    while (this.taken + size > most) if (!this.makeRoomFor(group, user, size)) return undefined
    const holder: Holder = {
      size,
      what,
      since: this.now(),
      leave: () => this.leave(group, user, holder),
      renew: () => (holder.since = this.now()),
    }
    const found = this.groups.get(group) ?? { users: new Map<string, User>(), taken: 0 }
    const own = found.users.get(user) ?? { holders: new Set(), taken: 0 }
    this.groups.set(group, found)
    found.users.set(user, own)
    own.holders.add(holder)
    own.taken += size
    found.taken += size
    this.taken += size
    return holder
  }

  private leave(group: string, user: string, holder: Holder): void {
    const found = this.groups.get(group)
    const own = found?.users.get(user)
    if (found === undefined || own?.holders.delete(holder) !== true) return
    own.taken -= holder.size
    found.taken -= holder.size
    this.taken -= holder.size
    if (own.taken === 0) found.users.delete(user)
    if (found.taken === 0) this.groups.delete(group)
  }

  /** Ends the oldest of the user with the most, unless the asking one would have as many. */
  private makeRoomFor(group: string, user: string, size: number): boolean {
    const fullest = withMost(this.groups)
    if (fullest === undefined) return false
    const asking = this.groups.get(group)
    if (fullest !== asking && fullest.taken <= (asking?.taken ?? 0) + size) return false
    const greediest = withMost(fullest.users)!
    if (fullest === asking && greediest.taken <= (asking.users.get(user)?.taken ?? 0) + size) return false
    const [oldest] = greediest.holders
    oldest!.leave()
    oldest!.onEnd?.()
    return true
  }

  reclaimLost(): void {
    const before = this.now() - this.lostAfter
    for (const { users } of [...this.groups.values()])
      for (const { holders } of [...users.values()])
        for (const holder of [...holders]) if (holder.since < before) holder.leave()
  }
}

function withMost<One extends Taken>(all: ReadonlyMap<string, One>): One | undefined {
  let most: One | undefined
  for (const one of all.values()) if (most === undefined || one.taken > most.taken) most = one
  return most
}
