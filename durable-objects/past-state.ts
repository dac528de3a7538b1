/**
 * The keys of a range as they were at a past revision, found a few in each turn: what has not changed since is in `cur`, and
 * what has is found among the changes since, which are in no order of keys. So all of these are looked at first, and those
 * of later turns before each batch. `cur` is then read in the same turn, so that no key is in both, or in neither.
 *
 *   at 9           rev: 4 a, 7 b, 12 a (replaced 4), 15 c    cur: a 12, b 7, c 15
 *   changed since  a 4            12 replaced it; 15 replaced nothing, so that c was not there
 *   in `cur`       b 7            a and c are above 9
 */
import { compareNames } from '../src/base/name-order.ts'
import { StorageError } from '../src/storage/errors.ts'
import type { Revision } from '../src/storage/storage.ts'
import type { Log } from './log.ts'
import type { Turn } from './selected-keys.ts'
import type { KeyRange, KeyRow, Statements } from './statements.ts'

/** Changes that one turn reads: some milliseconds. */
const SCANNED = 1_000
/**
 * The most changed keys whose old version is kept, from the start of the range. For later keys the changes are read
 * again.
 */
const MOST = 20_000

/** A key with the revision that it had. */
export interface PastKey {
  readonly k: string
  readonly rv: Revision
}

export class PastState {
  /** Sorted by key once all changes are read. Bound: 2 * MOST. */
  private changed: PastKey[] = []
  private isSorted = true
  /** Changed keys from this one on are only counted. */
  private cut: string | undefined
  private beyond = 0
  /** Changes up to this revision have been read. */
  private upTo: Revision
  /** The last key of all changed keys, selected or not. */
  private lastChanged = ''
  private isAtEnd = false

  /** @param turn `keys` is how many keys of `cur` one turn reads */
  constructor(
    private readonly log: Pick<Log, 'last' | 'floor'>,
    private readonly statements: Statements,
    private readonly revision: Revision,
    private range: KeyRange,
    private readonly isSelected: (row: KeyRow) => boolean,
    private readonly turn: Turn,
  ) {
    this.upTo = revision
  }

  /**
   * The next keys. Where there are none, other requests take a turn before the next call.
   * @throws StorageError Compacted
   */
  next(most: number): { readonly rows: readonly PastKey[]; readonly isEnd: boolean } {
    if (this.revision < this.log.floor) throw new StorageError('Compacted', this.revision, this.log.floor)
    this.begin()
    this.turn.begin()
    if (!this.catchUp()) return { rows: [], isEnd: false }
    const { rows, end } = this.batch(most)
    this.goOnFrom(end)
    return { rows, isEnd: this.isAtEnd }
  }

  /** The number of selected keys that are left, counted in the turn of a batch. Only for a selection of everything. */
  remaining(): number {
    const { range, changed, beyond, statements, revision } = this
    return this.isAtEnd ? 0 : changed.length + beyond + statements.countUnchanged(range, revision)
  }

  /** Whether keys are left, selected or not, checked in the turn of a batch. */
  hasMore(): boolean {
    const { range, lastChanged, statements, revision } = this
    if (this.isAtEnd) return false
    return !isBefore(lastChanged, range.from) || statements.countUnchanged(range, revision) > 0
  }

  /** @returns whether all changes up to now have been read */
  private catchUp(): boolean {
    const { revision, range, turn } = this
    let seen = 0
    if (this.upTo < this.log.last)
      for (const { at, k, rv, l } of this.statements.replacedSince(this.upTo, SCANNED, revision, range)) {
        seen++
        this.upTo = at
        if (k !== null && rv !== null) this.note({ k, rv, l })
        if (turn.isOver()) return false
      }
    if (seen === SCANNED) return false
    this.upTo = this.log.last
    this.sort()
    return true
  }

  private note(row: KeyRow): void {
    const { k, rv } = row
    if (isBefore(this.lastChanged, k)) this.lastChanged = k
    if (!this.isSelected(row)) return
    if (this.cut !== undefined && !isBefore(k, this.cut)) {
      this.beyond++
      return
    }
    this.changed.push({ k, rv })
    this.isSorted = false
    if (this.changed.length > 2 * MOST) this.sort()
  }

  private sort(): void {
    if (!this.isSorted) this.changed.sort((a, b) => compareNames(a.k, b.k))
    this.isSorted = true
    if (this.changed.length <= MOST) return
    this.cut = this.changed[MOST]!.k
    this.beyond += this.changed.length - MOST
    this.changed.length = MOST
  }

  /** The first keys that are certain, and the key where certainty ends. */
  private batch(most: number): { readonly rows: readonly PastKey[]; readonly end: string } {
    const { range, changed, turn } = this
    const wanted = Math.min(most, turn.keys)
    const read = this.statements.currentKeys(range, turn.keys)
    const ends = [range.to]
    if (read.length === turn.keys) ends.push(`${read.at(-1)!.k}\0`)
    if (this.cut !== undefined) ends.push(this.cut)
    if (changed.length > wanted) ends.push(changed[wanted]!.k)
    const atMost = ends.reduce((first, one) => (isBefore(one, first) ? one : first))
    const { rows: unchanged, end } = this.selectedOf(read, atMost)
    const found = [...changed.slice(0, wanted).filter(({ k }) => isBefore(k, end)), ...unchanged].sort((a, b) =>
      compareNames(a.k, b.k),
    )
    // a full page ends behind its last key: others may follow that are not selected
    if (found.length < wanted) return { rows: found, end }
    const rows = found.slice(0, wanted)
    return { rows, end: `${rows.at(-1)!.k}\0` }
  }

  /** The selected rows before `atMost` that have not changed, and where this turn stopped looking at them. */
  private selectedOf(read: readonly KeyRow[], atMost: string): { readonly rows: PastKey[]; readonly end: string } {
    const rows: PastKey[] = []
    this.turn.begin()
    for (const row of read) {
      if (!isBefore(row.k, atMost)) break
      if (this.turn.isOver()) return { rows, end: row.k }
      if (row.rv <= this.revision && this.isSelected(row)) rows.push(row)
    }
    return { rows, end: atMost }
  }

  private goOnFrom(end: string): void {
    const { changed } = this
    this.isAtEnd = !isBefore(end, this.range.to)
    this.range = { from: end, to: this.range.to }
    const left = changed.findIndex(({ k }) => !isBefore(k, end))
    this.changed = left === -1 ? [] : changed.slice(left)
  }

  /** Starts reading changes again, once all kept keys are returned and others were only counted. */
  private begin(): void {
    if (this.changed.length > 0 || this.cut === undefined) return
    this.cut = undefined
    this.beyond = 0
    this.upTo = this.revision
  }
}

const isBefore = (a: string, b: string): boolean => compareNames(a, b) < 0
