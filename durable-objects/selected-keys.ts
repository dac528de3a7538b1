/** Which versions a list consists of. Values are not touched. */
import { append } from '../src/api/append.ts'
import { turnOfOthers } from '../src/api/slices.ts'
import { matcherOf, requirementsOf, selectsEverything } from '../src/storage/selection.ts'
import type { KeyScope } from '../src/storage/shard-protocol.ts'
import type { Revision } from '../src/storage/storage.ts'
import { narrowedTo } from './key-range.ts'
import type { PastState } from './past-state.ts'
import { decodeSelectable } from './selectable.ts'
import type { CurrentRow, KeyRange, Narrowed, StateStatements } from './statements.ts'

/** The state that is listed. */
export interface States {
  /** As it can be read in this turn; undefined: something was written since. */
  now(): StateStatements | undefined
  /** @param isSelected in the order of keys, so many of which are looked at in a turn */
  past(range: KeyRange, isSelected: (row: CurrentRow) => boolean, inATurn: number): PastState
}

export interface Picked {
  /**
   * In key order. Those of a long list are looked up as they are taken, always in the same state. Where none of a few
   * hundred keys is selected, there is an empty batch: the reader takes a turn before the next.
   */
  readonly revisions: Iterable<readonly Revision[]>
  readonly isEmpty: boolean
  /** Where it is known, or asked for. */
  readonly count?: number
  /** Present when more follow. */
  readonly lastKey?: string
  readonly remaining?: number
}

export interface Wanted {
  /** 0: everything. */
  readonly limit: number
  /** Whether how many it is has to be known at once. */
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
  // without a turn, so that it is the state of both
  const count = counted ? keys.count(range) : undefined
  return count === undefined && counted ? pickSome(keys, 0, first) : pickAll(keys, first, count)
}

/** The list begins when the first key is found; the others are looked up as they are taken. */
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

/** All of them, or a page, before the list begins. Few of many keys are selected after a long look: it is done in turns, too. */
async function pickSome(keys: SelectedKeys, limit: number, first?: Batch): Promise<Picked> {
  const revisions: Revision[] = []
  const most = limit === 0 ? Infinity : limit
  for (let batch = first ?? keys.next(most); ; batch = keys.next(most - revisions.length)) {
    append(revisions, batch.found)
    // in the turn of the batch, so that it is the same state
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

/** Keys whose revisions come in one text: some milliseconds. */
const BATCH = 8_192
/** A list begins when so many of its keys are known, and goes on by ever more. */
const FIRST_BATCH = 256
const GROWTH = 8

/** Keys whose labels are looked at in one turn, and requirements of selectors that are compared in it. */
const LOOKED = 500
const COMPARED = 20_000

/** A selector may have ten thousand requirements. */
const keysOfATurn = ({ selection }: KeyScope): number =>
  Math.max(1, Math.min(LOOKED, Math.floor(COMPARED / Math.max(1, requirementsOf(selection)))))

interface Batch {
  readonly found: readonly Revision[]
  /** Nothing is left to be looked at. */
  readonly isEnd: boolean
}

/** The selected keys of a state in their order, some in each turn: also when the state is no longer that of now. */
class SelectedKeys {
  readonly areAll: boolean
  private readonly isSelected: (row: CurrentRow) => boolean
  private readonly narrowed: Narrowed
  private readonly inATurn: number
  private past: PastState | undefined
  private size = FIRST_BATCH
  private lastKey = ''

  constructor(
    private readonly states: States,
    scope: KeyScope,
    private rest: KeyRange,
  ) {
    this.areAll = selectsEverything(scope.selection)
    this.isSelected = selecting(scope)
    this.narrowed = narrowedTo(scope.selection)
    this.inATurn = keysOfATurn(scope)
  }

  /** Of a range, if the state is still that of now. */
  count(range: KeyRange): number | undefined {
    return this.states.now()?.count(range)
  }

  /** @param most so many at most */
  next(most = Infinity): Batch {
    const now = this.past === undefined ? this.states.now() : undefined
    if (now !== undefined) return this.areAll ? this.nextOfAll(now, most) : this.nextSelected(now, most)
    this.past ??= this.states.past(this.rest, this.isSelected, this.inATurn)
    const { rows, isEnd } = this.past.next(most)
    this.lastKey = rows.at(-1)?.k ?? this.lastKey
    return { found: rows.map(({ rv }) => rv), isEnd }
  }

  /** Without a row for each key in JavaScript: this is the list of ten thousand. */
  private nextOfAll(now: StateStatements, most: number): Batch {
    const wanted = Math.min(most === Infinity ? this.size : BATCH, most)
    const { found, last } = now.revisions(this.rest, wanted)
    this.size = Math.min(BATCH, this.size * GROWTH)
    if (last !== null) this.goOnBehind(last)
    return { found, isEnd: found.length < wanted || last === null }
  }

  private nextSelected(now: StateStatements, most: number): Batch {
    const found: Revision[] = []
    const { inATurn } = this
    let looked = 0
    for (const row of now.rows(this.rest, this.narrowed)) {
      if (this.isSelected(row)) found.push(row.rv)
      if (found.length < most && ++looked < inATurn) continue
      this.goOnBehind(row.k)
      return { found, isEnd: false }
    }
    return { found, isEnd: true }
  }

  private goOnBehind(key: string): void {
    this.lastKey = key
    this.rest = { from: `${key}\0`, to: this.rest.to }
  }

  /**
   * What a page says of what follows it; in the turn of its last batch. A full page of those that are selected is followed
   * by another one when there are more keys, whether they will be selected or not.
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

/** Tells whether the state in a row, its key being in the scope, is selected. */
export function selecting({ prefix, selection }: KeyScope): (row: Pick<CurrentRow, 'k' | 'l'>) => boolean {
  if (selectsEverything(selection)) return () => true
  const matches = matcherOf(selection)
  return ({ k, l }) => matches(k.slice(prefix.length + 1), decodeSelectable(l))
}
