/**
 * Room for the bytes that the watches of an isolate hold: what a shard has sent, until the client has taken it. Without
 * room a watch asks its shard for nothing, and drops what comes unasked: it reads both in the log when it has room. The
 * users that wait take turns. While somebody waits, a watch whose client takes nothing ends, and its client watches
 * again.
 */
import type { Clock } from '../../base/clock.ts'
import { settledByOthers } from '../../base/settled-by-others.ts'

/** Bytes for which one user's watches may ask, as a part of all. */
const OF_USER = 1 / 2
/** Bytes for which watches may ask. The rest is for changes that come unasked, of which most are small. */
const ASKED = 3 / 4
/** Milliseconds after which a client that has taken nothing makes room, if others wait. */
const STUCK_AFTER = 10_000
/** Milliseconds after which a watch makes room that does nothing at all: the engine may have dropped its request. */
const LOST_AFTER = 120_000
/** How often who waits looks for such clients. */
const LOOK_MS = 1_000

interface Waiter {
  readonly share: WatchShare
  readonly bytes: number
  answer(hasRoom: boolean): void
}

export class WatchRoom {
  private held = 0
  /** Bytes by user. Bound: the shares that hold bytes. */
  private readonly ofUsers = new Map<string, number>()
  /** Bound: open watches. */
  private readonly holding = new Set<WatchShare>()
  /** By user; the next user is first. Bound: open watches. */
  private readonly waiting = new Map<string, Set<Waiter>>()

  private readonly most: number
  readonly now: Clock

  /** @param most bytes */
  constructor(most: number, now: Clock = () => 0) {
    this.most = most
    this.now = now
  }

  get bytes(): number {
    return this.held
  }

  get isWanted(): boolean {
    return this.waiting.size > 0
  }

  /** Whether there is room for bytes that come unasked. What is larger than all of the room may have all of it. */
  isFree(bytes: number, most = this.most): boolean {
    return this.held === 0 || this.held + bytes <= most
  }

  private mayAsk(user: string, bytes: number): boolean {
    const ofUser = this.ofUsers.get(user) ?? 0
    return (ofUser === 0 || ofUser + bytes <= this.most * OF_USER) && this.isFree(bytes, this.most * ASKED)
  }

  /** @param bytes more of them, or less */
  change(share: WatchShare, bytes: number): void {
    const { user } = share
    const ofUser = (this.ofUsers.get(user) ?? 0) + bytes
    if (ofUser > 0) this.ofUsers.set(user, ofUser)
    else this.ofUsers.delete(user)
    if (share.bytes > 0) this.holding.add(share)
    else this.holding.delete(share)
    this.held += bytes
    if (bytes < 0 && this.isWanted) this.dispatch()
  }

  /** @returns whether the share has the bytes; false where its watch has ended */
  take(share: WatchShare, bytes: number): true | Promise<boolean> {
    if (!this.isWanted && this.mayAsk(share.user, bytes)) {
      share.hold(bytes)
      return true
    }
    return this.turn(share, bytes)
  }

  private async turn(share: WatchShare, bytes: number): Promise<boolean> {
    const { promise, resolve: answer } = settledByOthers<boolean>()
    const waiter = { share, bytes, answer }
    const line = this.waiting.get(share.user)
    if (line === undefined) this.waiting.set(share.user, new Set([waiter]))
    else line.add(waiter)
    // those before may be users who have their part already
    this.dispatch()
    const timer = setInterval(() => this.endStuck(), LOOK_MS)
    try {
      return await promise
    } finally {
      clearInterval(timer)
    }
  }

  private dispatch(): void {
    let isGiven = true
    while (isGiven && this.held < this.most * ASKED) {
      isGiven = false
      for (const [user, line] of [...this.waiting]) {
        const [waiter] = line
        if (!this.mayAsk(user, waiter!.bytes)) continue
        isGiven = true
        this.answer(waiter!, true)
        if (line.size === 0) continue
        // this user goes behind the others
        this.waiting.delete(user)
        this.waiting.set(user, line)
      }
    }
  }

  private answer(waiter: Waiter, hasRoom: boolean): void {
    const { user } = waiter.share
    const line = this.waiting.get(user)!
    line.delete(waiter)
    if (line.size === 0) this.waiting.delete(user)
    if (hasRoom) waiter.share.hold(waiter.bytes)
    waiter.answer(hasRoom)
  }

  /** The watch waits for nothing any more. */
  leaveLine(share: WatchShare): void {
    for (const waiter of [...(this.waiting.get(share.user) ?? [])])
      if (waiter.share === share) this.answer(waiter, false)
  }

  private endStuck(): void {
    const now = this.now()
    for (const share of [...this.holding])
      if (now - share.since >= (share.isWithClient ? STUCK_AFTER : LOST_AFTER)) share.end()
  }
}

/** What one watch holds. */
export class WatchShare {
  bytes = 0
  /** When the watch began to hold bytes, or its client last took some. Milliseconds since 1970. */
  since = 0
  readonly user: string
  private readonly room: WatchRoom
  private readonly onEnd: () => void
  /** Whether the client is to take something; otherwise the server has work to do. */
  isWithClient = false
  private hasLeft = false

  /** @param onEnd is called when the watch must end: its reader must not go on sending what it has */
  constructor(room: WatchRoom, user: string, onEnd = () => {}) {
    this.room = room
    this.user = user
    this.onEnd = onEnd
  }

  /** Whether others wait for room. */
  get isWanted(): boolean {
    return this.room.isWanted
  }

  /** Holds bytes that came unasked, if there is room for them. */
  tryHold(bytes: number): boolean {
    if (this.hasLeft || !this.room.isFree(bytes)) return false
    this.hold(bytes)
    return true
  }

  /** Waits until there is room. @returns false where the watch has ended */
  take(bytes: number): boolean | Promise<boolean> {
    return !this.hasLeft && this.room.take(this, bytes)
  }

  /** @param bytes more than there is room for, where they have come; or less than before */
  hold(bytes: number): void {
    if (this.hasLeft || bytes === 0) return
    if (this.bytes === 0) this.since = this.room.now()
    this.bytes += bytes
    this.room.change(this, bytes)
  }

  /** The client has taken something. */
  taken(): void {
    this.since = this.room.now()
  }

  /** What is sent is with the client until it has been taken. */
  async sending(sent: Promise<void>): Promise<void> {
    this.taken()
    this.isWithClient = true
    try {
      await sent
    } finally {
      this.isWithClient = false
    }
  }

  /** The watch has ended. */
  leave(): void {
    if (this.hasLeft) return
    this.room.leaveLine(this)
    this.hold(-this.bytes)
    this.hasLeft = true
  }

  /** The watch must end. */
  end(): void {
    if (this.hasLeft) return
    this.leave()
    this.onEnd()
  }
}
