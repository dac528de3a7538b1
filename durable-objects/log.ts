/**
 * The log of a shard: every version of every key, until it is compacted. The shard is the only writer and nothing here
 * awaits, so reading a revision and acting on it is one step.
 *
 * Two things always hold. `cur` names the newest version of each key that exists. `rev` has every state that a change
 * after the floor replaced. So a reader can ask for any revision from the floor on, and a watcher gets every event after it.
 */
import { StorageError } from '../src/storage/errors.ts'
import type { Place } from '../src/storage/revisions/revision.ts'
import { lastRevisionAt, nextRevision, revisionAt } from '../src/storage/revisions/revision.ts'
import type { Attempt, ListCall, StoredText, Written } from '../src/storage/shards/shard-protocol.ts'
import type { Newest } from '../src/storage/shards/shards-here.ts'
import type { ListAt, NewValue, RestoredValue, Revision } from '../src/storage/storage.ts'
import {
  MAX_VALUE_BYTES,
  hasUid,
  isTooLarge,
  withOtherRevision,
  withRevision,
} from '../src/storage/streams/value-text.ts'
import { rangeOf } from './key-range.ts'
import { relationsOf } from './relations.ts'
import { decodeSelectable, encodeSelectable } from './selectable.ts'
import { PendingWork } from './pending-work.ts'
import { PastState } from './past-state.ts'
import { pick } from './selected-keys.ts'
import type { States } from './selected-keys.ts'
import type { ChangeRow, Statements } from './statements.ts'
import { ADDED, DELETED, MODIFIED } from './statements.ts'

/** Milliseconds that the revision of a paged list may be behind the clock. A smaller value writes more rows; see freshRevision. */
const FRESH = 60_000

export interface Page {
  readonly revision: Revision
  /**
   * Revisions of the listed values, in key order. Fails with Compacted where the reader is slower than the retention.
   */
  readonly revisions: Iterable<readonly Revision[]>
  readonly isEmpty: boolean
  readonly count?: number
  /** The key of the last value, relative to the prefix, where more values follow. */
  readonly continueAfter?: string
  readonly remaining?: number
}

/** The result of a write. `change` is absent if an earlier attempt had already made the write. */
export interface WriteOutcome {
  readonly written: Written
  readonly change?: ChangeRow
  /** The write stored work for controllers. */
  readonly hasWork?: boolean
}

/** Relations of a row in `cur`. */
const relationsIn = (l: string): readonly string[] => relationsOf(decodeSelectable(l))

const SAME: readonly [gone: readonly string[], added: readonly string[]] = [[], []]

function difference(before: readonly string[], now: readonly string[]): typeof SAME {
  if (before.length === 0 && now.length === 0) return SAME
  const [old, wanted] = [new Set(before), new Set(now)]
  return [before.filter((relation) => !wanted.has(relation)), now.filter((relation) => !old.has(relation))]
}

export class Log {
  /** The state that the rest of this isolate sees (src/storage/shards/shards-here.ts). */
  readonly newest: Newest = { revision: 0 }
  floor: Revision
  /** No watch may begin before this revision; 0 where only the floor counts. */
  watchFloor: Revision
  /** Changes since the compactor last reset it. */
  appended = 0
  readonly pendingWork = new PendingWork()

  /**
   * @param retention milliseconds for which continued lists stay readable
   * @param place the numbers that the log gives as revisions
   */
  constructor(
    private readonly statements: Statements,
    private readonly now: () => number,
    readonly retention: number,
    private place: Place,
  ) {
    this.floor = statements.meta('floor') || this.begin()
    this.watchFloor = statements.meta('watchFloor')
    // The compactor may have dropped a deletion at the end of the log. The floor is at or above its revision.
    this.last = Math.max(statements.newestRevision(), statements.meta('last'), this.floor)
  }

  /** The newest revision: that of the last change, or a later one that a reader was promised. */
  get last(): Revision {
    return this.newest.revision
  }

  set last(revision: Revision) {
    this.newest.revision = revision
  }

  /**
   * A new shard counts revisions that are older than the retention as compacted. Younger ones may come from a client
   * that has them from another shard; they are readable, since nothing has happened here.
   */
  private begin(): Revision {
    const floor = revisionAt(this.now() - this.retention)
    this.statements.setMeta('floor', floor)
    return floor
  }

  /**
   * Resets `last` where the write fails, so that memory is never ahead of the disk.
   * @param transact does all of the work or none of it
   */
  attempt<Outcome>(transact: () => Outcome): Outcome {
    const { last } = this
    try {
      return transact()
    } catch (error) {
      this.last = last
      this.pendingWork.forget()
      this.statements.forgetTexts()
      throw error
    }
  }

  /**
   * Changes the place whose numbers the log gives.
   * @param since every later revision is above it
   */
  takePlace(place: Place, since: Revision): void {
    if (since > this.last) this.raise(since)
    this.place = place
  }

  /** @param keep as in ListCall */
  get(key: string, notOlderThan: Revision, keep = true): { revision: Revision; text: string } | undefined {
    this.reach(notOlderThan, keep)
    const live = this.statements.liveValue(key)
    return live && { revision: live.rv, text: live.v }
  }

  /** Like `get`, but returns a StoredText. */
  getText(key: string, notOlderThan: Revision, keep = true): StoredText | undefined {
    this.reach(notOlderThan, keep)
    return this.statements.liveText(key)
  }

  create(key: string, value: NewValue, attempt: Attempt = 'first'): WriteOutcome {
    const live = this.statements.liveValue(key)
    if (live !== undefined) {
      if (hasUid(live.v, value.uid)) return { written: { revision: live.rv, text: live.v } }
      throw new StorageError('KeyExists', live.rv, this.last)
    }
    const rv = this.next(value, attempt)
    const change = this.append(key, value, { rv, t: ADDED, crv: rv, prv: null, was: null })
    this.statements.insertCurrent(change, relationsOf(value))
    return { written: { revision: rv }, change, hasWork: bringsWork(value) }
  }

  update(key: string, value: NewValue, expected: Revision, attempt: Attempt = 'first'): WriteOutcome {
    const live = this.statements.live(key)
    if (live === undefined) throw new StorageError('KeyNotFound', 0, this.last)
    if (live.rv !== expected) {
      if (attempt !== 'first' && live.prv === expected && this.holds(live.rv, value))
        return { written: { revision: live.rv } }
      throw new StorageError('Conflict', live.rv, this.last)
    }
    const rv = this.next(value, attempt)
    const change = this.append(key, value, { rv, t: MODIFIED, crv: live.crv, prv: live.rv, was: live.l })
    const [gone, added] = live.l === change.l ? SAME : difference(relationsIn(live.l), relationsOf(value))
    this.statements.updateCurrent(change, gone, added)
    return { written: { revision: rv }, change, hasWork: bringsWork(value) }
  }

  delete(key: string, last: NewValue, expected: Revision, attempt: Attempt = 'first'): WriteOutcome {
    const live = this.statements.live(key)
    if (live?.rv !== expected) {
      const done = attempt !== 'first' ? this.statements.deletionOf(expected, key) : undefined
      if (done !== undefined) return { written: { revision: done.rv } }
      if (live === undefined) throw new StorageError('KeyNotFound', 0, this.last)
      throw new StorageError('Conflict', live.rv, this.last)
    }
    const rv = this.next(last, attempt)
    const change = this.append(key, last, { rv, t: DELETED, crv: live.crv, prv: live.rv, was: live.l })
    this.statements.deleteCurrent(key, relationsIn(live.l))
    return { written: { revision: rv }, change, hasWork: bringsWork(last) }
  }

  /** Deletes a key that is still at this revision. Watchers see DELETED with the key's last state. */
  expire(key: string, revision: Revision): WriteOutcome {
    if (this.statements.live(key)?.rv !== revision) return { written: { revision } }
    const { k, crv, at, l, v } = this.statements.version(revision)!
    const rv = this.after(this.last)
    const text = withOtherRevision(v, at, revision, rv)
    const change = this.insert({ k, rv, t: DELETED, crv, prv: revision, was: l, at, l, v: text })
    this.statements.deleteCurrent(key, relationsIn(l))
    return { written: { revision: rv }, change }
  }

  /** Deletes everything. Later revisions are above the last one. */
  clear(): void {
    this.statements.clear()
    this.pendingWork.forget()
    this.beginAt(this.after(this.last))
  }

  /**
   * Ends all watches: none can begin before now, as when kube-apiserver rebuilds the watch cache of a resource. Lists
   * can still read the past.
   * @returns false where this was already done after `since`
   */
  renew(since = Infinity): boolean {
    if (this.watchFloor > since) return false
    // the clock of the shard that made `since` may be ahead
    const before = since === Infinity ? this.last : Math.max(this.last, since)
    const revision = this.after(before)
    this.raise(revision)
    this.statements.setMeta('watchFloor', revision)
    this.watchFloor = revision
    return true
  }

  /**
   * Fills a locked shard, which nobody reads before `beginAnew`.
   * @throws StorageError KeyExists
   */
  restore(values: readonly RestoredValue[]): void {
    for (const value of values)
      try {
        this.restoreOne(value)
      } catch (error) {
        if (String(error).includes('UNIQUE constraint')) throw new StorageError('KeyExists', value.revision, this.last)
        throw error
      }
  }

  private restoreOne({ key, revision, value }: RestoredValue): void {
    const { text, at, outbox = [], ...selectable } = value
    const row = { k: key, l: encodeSelectable(selectable), rv: revision }
    this.statements.insertVersion({
      ...row,
      t: ADDED,
      crv: revision,
      prv: null,
      at,
      v: withRevision(text, at, revision),
    })
    this.statements.insertCurrent(row, relationsOf(selectable))
    for (const { topic, payload } of outbox) this.statements.appendOutbox(key, topic, payload)
  }

  /**
   * Ends a restore: every revision that a client may have, from this shard or from the source of the backup, counts
   * as compacted.
   */
  beginAnew(cut: Revision): void {
    this.beginAt(this.after(Math.max(this.last, cut)))
  }

  private beginAt(revision: Revision): void {
    this.raise(revision)
    this.statements.setMeta('floor', revision)
    this.floor = revision
  }

  private next({ text }: NewValue, attempt: Attempt): Revision {
    if (isTooLarge(text)) throw new StorageError('TooLarge', 0, MAX_VALUE_BYTES)
    if (attempt === 'check') throw new StorageError('Failed')
    return this.after(this.last)
  }

  private after(revision: Revision): Revision {
    return nextRevision(revision, this.now(), this.place)
  }

  private append(
    k: string,
    { text, at, outbox = [], ...selectable }: NewValue,
    step: Pick<ChangeRow, 'rv' | 't' | 'prv' | 'was'> & { crv: Revision },
  ): ChangeRow {
    const row = { ...step, k, at, l: encodeSelectable(selectable), v: withRevision(text, at, step.rv) }
    if (isRowTooLarge(row)) throw new StorageError('TooLarge', 0, MAX_ROW_BYTES)
    for (const message of outbox)
      if (this.pendingWork.isNew(message)) this.statements.appendOutbox(k, message.topic, message.payload)
    return this.insert(row)
  }

  private insert<Row extends ChangeRow & { crv: Revision }>(row: Row): Row {
    this.statements.insertVersion(row)
    this.last = row.rv
    this.appended++
    return row
  }

  private holds(rv: Revision, { text, at }: NewValue): boolean {
    return this.statements.version(rv)?.v === withRevision(text, at, rv)
  }

  /**
   * Raises `last` to a revision that a client has from another shard, once the clock has passed it. The new value is
   * stored, so that no later write gets a lower revision, even from a machine whose clock is behind. While the disk takes
   * no writes (`keep` is false) it stays in memory.
   */
  reach(revision: Revision, keep = true): void {
    if (revision <= this.last) return
    if (this.isFuture(revision)) throw new StorageError('FutureRevision', revision, this.last)
    this.raise(revision, keep)
  }

  /**
   * Raises `last` to the revision of a hold, also where the clock has not reached it: later writes are above it. Only
   * the server itself holds, at revisions that shards gave.
   */
  promise(revision: Revision): void {
    if (revision > this.last) this.raise(revision)
  }

  isFuture(revision: Revision): boolean {
    return revision > Math.max(this.last, lastRevisionAt(this.now()))
  }

  private raise(revision: Revision, keep = true): void {
    if (keep) this.statements.setMeta('last', revision)
    this.last = revision
  }

  private revisionFor(at: ListAt, continued: boolean, keep: boolean): Revision {
    if (at.kind === 'latest') return this.last
    this.reach(at.revision, keep)
    if (at.kind === 'notOlderThan') return this.last
    const oldest = continued ? Math.max(this.floor, revisionAt(this.now() - this.retention)) : this.floor
    if (at.revision >= oldest) return at.revision
    if (at.revision >= this.floor && this.statements.isHeld(at.revision, this.now())) return at.revision
    throw new StorageError('Compacted', at.revision, oldest)
  }

  /**
   * Settles the revision of the list in this turn, though a later turn may find its first key.
   * @throws StorageError Compacted, FutureRevision
   */
  async select({ at, start, keep, ...scope }: Omit<ListCall, 'shape'>): Promise<Page> {
    const revision = this.revisionFor(at, start !== '', keep)
    const picked = pick(this.statesOf(revision), scope, rangeOf(scope, start), scope)
    const { lastKey, remaining, ...found } = picked instanceof Promise ? await picked : picked
    if (lastKey === undefined) return { revision, ...found }
    // now, because writes of later turns do not count
    const isLatest = revision === this.last
    return {
      revision: isLatest && at.kind !== 'exact' ? this.freshRevision(keep) : revision,
      ...found,
      continueAfter: lastKey.slice(scope.prefix.length + 1),
      ...(remaining === undefined ? {} : { remaining }),
    }
  }

  /** @throws StorageError Compacted, where a list is slower than the retention */
  private textOf(revision: Revision): string {
    return this.present(revision, this.statements.version(revision)).v
  }

  /** @throws StorageError Compacted */
  private present<Found>(revision: Revision, found: Found | undefined): Found {
    if (found === undefined) throw new StorageError('Compacted', revision, this.floor)
    return found
  }

  private statesOf(revision: Revision): States {
    return {
      now: () => (revision === this.last ? this.statements.now : undefined),
      past: (...range) => new PastState(this, this.statements, revision, ...range),
      text: (rv) => this.textOf(rv),
      selectable: (rv) => this.present(rv, this.statements.selectableOf(rv)),
    }
  }

  /**
   * Continue tokens expire by the age of their revision. The last revision of a shard may be old although its state is
   * current; the pages of a list then get a revision of now.
   */
  freshRevision(keep: boolean): Revision {
    const now = revisionAt(this.now())
    if (this.last < revisionAt(this.now() - FRESH)) this.raise(now, keep)
    return this.last
  }
}

/** Production allows 2 MB for a row; the other columns are numbers. */
const MAX_ROW_BYTES = 2_000_000
const MAX_UTF8 = 3

/**
 * A row has the labels and fields twice, in the text and in a column of their own. So a value below the limit may
 * make a row above it.
 */
function isRowTooLarge({ k, l, v }: Pick<ChangeRow, 'k' | 'l' | 'v'>): boolean {
  if ((k.length + l.length + v.length) * MAX_UTF8 <= MAX_ROW_BYTES) return false
  const bytes = [k, l, v].reduce((sum, text) => sum + encoder.encode(text).length, 0)
  return bytes > MAX_ROW_BYTES - 100
}

const encoder = new TextEncoder()

const bringsWork = ({ outbox = [] }: NewValue): boolean => outbox.length > 0
