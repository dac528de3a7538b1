/** Finds the versions of a list, without reading their values. */
import { append } from '../src/base/append.ts'
import { turnOfOthers } from '../src/base/slices.ts'
import { matcherOf, requirementsOf, selectsEverything } from '../src/storage/selectors/selection.ts'
import type { ReadObject } from '../src/storage/selectors/selection.ts'
import type { KeyScope } from '../src/storage/shards/shard-protocol.ts'
import type { Revision } from '../src/storage/storage.ts'
import { storedContent } from '../src/storage/encryption/stored-content.ts'
import { narrowedTo } from './key-range.ts'
import type { PastState } from './past-state.ts'
import type { Selectable } from '../src/storage/storage.ts'
import { decodeSelectable } from './selectable.ts'
import type { KeyRange, KeyRow, Narrowed, StateStatements } from './statements.ts'

/** The state that is listed. */
export interface States {
  /** The statements for this state; undefined where something was written since. */
  now(): StateStatements | undefined
  /**
   * @param isSelected is called in the order of keys
   * @param turn what one turn may do
   */
  past(range: KeyRange, isSelected: (row: KeyRow) => boolean, turn: Turn): PastState
  /** The text of a version. */
  text(revision: Revision): string
  /** What selectors compare of a version. */
  selectable(revision: Revision): string
}

/** The bounds of one turn. */
export interface Turn {
  /** Keys that it looks at. */
  readonly keys: number
  begin(): void
  /** Whether it has read so many values that no further one may be read. */
  isOver(): boolean
}

export interface Picked {
  /**
   * In key order. A long list looks them up as they are taken, always in the same state. An empty batch means that a
   * turn found no selected key: the reader takes a turn before the next.
   */
  readonly revisions: Iterable<readonly Revision[]>
  readonly isEmpty: boolean
  /** The number of selected keys, where it is known or was wanted. */
  readonly count?: number
  /** Present where more follow. */
  readonly lastKey?: string
  readonly remaining?: number
}

export interface Wanted {
  /** 0 means everything. */
  readonly limit: number
  /** Whether the number of keys must be known before the first key is returned. */
  readonly counted: boolean
}

export function pick(
  states: States,
  scope: KeyScope,
  range: KeyRange,
  { limit, counted }: Wanted,
): Picked | Promise<Picked> {
  const keys = new SelectedKeys(states, scope, range)
  if (limit > 0 || (counted && !keys.areAll)) return pickSome(keys, limit)
  const first = keys.next()
  // no turn in between, so that both are of the same state
  const count = counted ? keys.count(range) : undefined
  return count === undefined && counted ? pickSome(keys, 0, first) : pickAll(keys, first, count)
}

/** The list begins when the first key is found. The others are looked up as they are taken. */
function pickAll(keys: SelectedKeys, first: Batch, count: number | undefined): Picked | Promise<Picked> {
  if (first.found.length > 0)
    return { revisions: followed(first, keys), isEmpty: false, ...(count === undefined ? {} : { count }) }
  if (first.isEnd) return picked([])
  return turnOfOthers().then(() => pickAll(keys, keys.next(), count))
}

function* followed(first: Batch, keys: SelectedKeys): Generator<readonly Revision[]> {
  for (let batch = first; ; batch = keys.next()) {
    yield batch.found
    if (batch.isEnd) return
  }
}

/** Finds all keys, or a page of them, before the list begins. It works in turns, because a long search may find few. */
async function pickSome(keys: SelectedKeys, limit: number, first?: Batch): Promise<Picked> {
  const revisions: Revision[] = []
  const most = limit === 0 ? Infinity : limit
  for (let batch = first ?? keys.next(most); ; batch = keys.next(most - revisions.length)) {
    append(revisions, batch.found)
    // in the turn of the batch, so that both are of the same state
    if (revisions.length === most) return { ...picked(revisions), ...keys.following() }
    if (batch.isEnd) return picked(revisions)
    await turnOfOthers()
  }
}

const picked = (revisions: readonly Revision[]): Picked => ({
  revisions: [revisions],
  isEmpty: revisions.length === 0,
  count: revisions.length,
})

/** Keys whose revisions one statement returns as one text: some milliseconds. */
const BATCH = 8_192
/** Keys in the first batch of a list. Later batches grow by GROWTH. */
const FIRST_BATCH = 256
const GROWTH = 8

/** Keys whose labels one turn looks at, and requirements of selectors that it compares. */
const LOOKED = 500
const COMPARED = 20_000

/** Keys that a turn reads first. It reads twice as many each time. */
const FIRST_ROWS = 4

/** Characters that one turn reads: of labels, fields and owners, and of values where a selection needs them. */
const READ = 256 * 1024

/** Fewer keys for long selectors: a selector may have ten thousand requirements. */
const keysOfATurn = ({ selection }: KeyScope): number =>
  Math.max(1, Math.min(LOOKED, Math.floor(COMPARED / Math.max(1, requirementsOf(selection)))))

interface Batch {
  readonly found: readonly Revision[]
  /** No key is left. */
  readonly isEnd: boolean
}

/** The selected keys of one state in their order, some in each turn. The state may be a past one by then. */
class SelectedKeys {
  readonly areAll: boolean
  private readonly isSelected: (row: KeyRow) => boolean
  private readonly narrowed: Narrowed
  private readonly turn: Turn
  /** Characters that this turn has read. */
  private read = 0
  private past: PastState | undefined
  private size = FIRST_BATCH
  private lastKey = ''

  constructor(
    private readonly states: States,
    scope: KeyScope,
    private rest: KeyRange,
  ) {
    this.areAll = selectsEverything(scope.selection)
    const matches = selecting(scope)
    this.isSelected = (row) => {
      if (matches === undefined) return true
      const text = row.l ?? this.states.selectable(row.rv)
      this.read += text.length
      return matches(row.k, decodeSelectable(text), () => storedContent(this.textOf(row)))
    }
    this.narrowed = narrowedTo(scope.selection)
    this.turn = {
      keys: keysOfATurn(scope),
      begin: () => (this.read = 0),
      isOver: () => this.read > READ,
    }
  }

  private textOf({ rv }: KeyRow): string {
    const text = this.states.text(rv)
    this.read += text.length
    return text
  }

  /** The number of keys in a range; undefined where something was written since. */
  count(range: KeyRange): number | undefined {
    return this.states.now()?.count(range)
  }

  /** @param most the most keys to return */
  next(most = Infinity): Batch {
    const now = this.past === undefined ? this.states.now() : undefined
    if (now !== undefined) return this.areAll ? this.nextOfAll(now, most) : this.nextSelected(now, most)
    this.past ??= this.states.past(this.rest, this.isSelected, this.turn)
    const { rows, isEnd } = this.past.next(most)
    this.lastKey = rows.at(-1)?.k ?? this.lastKey
    return { found: rows.map(({ rv }) => rv), isEnd }
  }

  /** Makes no JavaScript row for each key: long lists without a selector take this way. */
  private nextOfAll(now: StateStatements, most: number): Batch {
    const wanted = Math.min(most === Infinity ? this.size : BATCH, most)
    const { found, last } = now.revisions(this.rest, wanted)
    this.size = Math.min(BATCH, this.size * GROWTH)
    if (last !== null) this.goOnBehind(last)
    return { found, isEnd: found.length < wanted || last === null }
  }

  private nextSelected(now: StateStatements, most: number): Batch {
    const found: Revision[] = []
    const { turn } = this
    let looked = 0
    turn.begin()
    // few at first: the values of a few may be enough for a turn, and the next match of a selector may be far behind
    for (let wanted = Math.min(most, FIRST_ROWS); ; wanted *= 2) {
      const limit = Math.min(turn.keys - looked, wanted)
      const rows = now.rows(this.rest, this.narrowed, limit)
      for (const row of rows) {
        if (this.isSelected(row)) found.push(row.rv)
        if (found.length < most && ++looked < turn.keys && !turn.isOver()) continue
        this.goOnBehind(row.k)
        return { found, isEnd: false }
      }
      if (rows.length < limit) return { found, isEnd: true }
      this.goOnBehind(rows.at(-1)!.k)
    }
  }

  private goOnBehind(key: string): void {
    this.lastKey = key
    this.rest = { from: `${key}\0`, to: this.rest.to }
  }

  /**
   * The end of a page, read in the turn of its last batch. With a selector, a full page continues where more keys
   * follow, whether these are selected or not.
   */
  following(): Pick<Picked, 'lastKey' | 'remaining'> {
    const { lastKey, areAll, past, rest } = this
    const now = past === undefined ? this.states.now() : undefined
    if (!areAll) {
      const follows = past === undefined ? now!.revisions(rest, 1).found.length > 0 : past.hasMore()
      return follows ? { lastKey } : {}
    }
    const remaining = past === undefined ? now!.count(rest) : past.remaining()
    return remaining === 0 ? {} : { lastKey, remaining }
  }
}

export type Selects = (k: string, of: Selectable, read: ReadObject) => boolean

/** Returns a test whether a key in the scope is selected; undefined where all are. */
export function selecting({ prefix, selection }: KeyScope): Selects | undefined {
  if (selectsEverything(selection)) return undefined
  const matches = matcherOf(selection)
  return (k, of, read) => matches(k.slice(prefix.length + 1), of, read)
}
