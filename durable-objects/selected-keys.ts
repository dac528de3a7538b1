/** Which versions a list consists of. Values are not touched. */
import { turnOfOthers } from '../src/api/slices.ts'
import { matcherOf, requirementsOf, selectsEverything } from '../src/storage/selection.ts'
import type { KeyScope } from '../src/storage/shard-protocol.ts'
import type { Revision } from '../src/storage/storage.ts'
import { narrowedTo } from './key-range.ts'
import { decodeSelectable } from './selectable.ts'
import type { CurrentRow, KeyRange, StateStatements } from './statements.ts'

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

/** Keys whose revisions come in one text: it may not be longer than a row. */
const BATCH = 20_000
/** A list begins when so many of its keys are known, and goes on by ever more. */
const FIRST_BATCH = 256
const GROWTH = 8

export interface Wanted {
  /** 0: everything. */
  readonly limit: number
  /** Whether how many it is has to be known at once. */
  readonly counted: boolean
}

/** @param stateNow statements of the state to be listed, as they have to be read in this turn */
export function pick(
  stateNow: () => StateStatements,
  scope: KeyScope,
  range: KeyRange,
  { limit, counted }: Wanted,
): Picked | Promise<Picked> {
  if (!selectsEverything(scope.selection))
    return limit === 0 && !counted
      ? pickAllSelected(stateNow, scope, range)
      : pickSelected(stateNow, scope, range, limit)
  if (limit > 0) return pickPage(stateNow(), range, limit)
  const first = stateNow().revisions(range, FIRST_BATCH)
  const count = counted ? { count: stateNow().count(range) } : {}
  return { revisions: pickAll(stateNow, range, first), isEmpty: first.found.length === 0, ...count }
}

/** Without a row for each key in JavaScript, and none of them before they are wanted: this is the list of ten thousand. */
function* pickAll(
  stateNow: () => StateStatements,
  { to }: KeyRange,
  first: ReturnType<StateStatements['revisions']>,
): Generator<readonly Revision[]> {
  let { found, last } = first
  for (let size = FIRST_BATCH; found.length > 0;) {
    yield found
    if (found.length < size || last === null) return
    size = Math.min(BATCH, size * GROWTH)
    ;({ found, last } = stateNow().revisions({ from: `${last}\0`, to }, size))
  }
}

function pickPage(state: StateStatements, range: KeyRange, limit: number): Picked {
  const revisions: Revision[] = []
  for (let rest = range; ;) {
    const wanted = Math.min(BATCH, limit - revisions.length)
    const { found, last } = state.revisions(rest, wanted)
    for (const revision of found) revisions.push(revision)
    if (found.length < wanted || last === null) return picked(revisions)
    rest = { from: `${last}\0`, to: range.to }
    if (revisions.length !== limit) continue
    const remaining = state.count(rest)
    return remaining === 0 ? picked(revisions) : { ...picked(revisions), lastKey: last, remaining }
  }
}

const picked = (revisions: readonly Revision[]): Picked => ({
  revisions: [revisions],
  isEmpty: revisions.length === 0,
  count: revisions.length,
})

/** Keys whose labels are looked at in one turn, and requirements of selectors that are compared in it. */
const LOOKED = 500
const COMPARED = 20_000

/** A selector may have ten thousand requirements. */
const keysOfATurn = ({ selection }: KeyScope): number =>
  Math.max(1, Math.min(LOOKED, Math.floor(COMPARED / Math.max(1, requirementsOf(selection)))))

/** Up to the first that is selected before the list begins; the others as they are taken. A few in each turn. */
async function pickAllSelected(stateNow: () => StateStatements, scope: KeyScope, range: KeyRange): Promise<Picked> {
  const looks = selectedIn(stateNow, scope, range)
  for (;;) {
    const { done, value } = looks.next()
    if (done === true) return picked([])
    if (value.length > 0) return { revisions: followedBy(value, looks), isEmpty: false }
    await turnOfOthers()
  }
}

function* followedBy<Batch>(first: Batch, others: Iterable<Batch>): Generator<Batch> {
  yield first
  yield* others
}

function* selectedIn(
  stateNow: () => StateStatements,
  scope: KeyScope,
  range: KeyRange,
): Generator<readonly Revision[]> {
  const isSelected = selecting(scope)
  const narrowed = narrowedTo(scope.selection)
  const most = keysOfATurn(scope)
  for (let rest: KeyRange | undefined = range; rest !== undefined;) {
    const found: Revision[] = []
    let looked = 0
    let last: string | undefined
    for (const row of stateNow().rows(rest, narrowed)) {
      if (isSelected(row)) found.push(row.rv)
      if (++looked < most) continue
      last = row.k
      break
    }
    rest = last === undefined ? undefined : { from: `${last}\0`, to: range.to }
    if (found.length > 0 || rest !== undefined) yield found
  }
}

/**
 * A full page is followed by another one when there are more keys, whether they will be selected or not. Few of many keys
 * are selected after a long look: it is done in turns, too.
 */
async function pickSelected(
  stateNow: () => StateStatements,
  scope: KeyScope,
  range: KeyRange,
  limit: number,
): Promise<Picked> {
  const isSelected = selecting(scope)
  const narrowed = narrowedTo(scope.selection)
  const most = keysOfATurn(scope)
  const revisions: Revision[] = []
  for (let rest = range; ;) {
    let looked = 0
    let last: string | undefined
    for (const row of stateNow().rows(rest, narrowed)) {
      if (isSelected(row)) revisions.push(row.rv)
      if (limit > 0 && revisions.length === limit) {
        const follows = stateNow().revisions({ from: `${row.k}\0`, to: range.to }, 1).found.length > 0
        return follows ? { ...picked(revisions), lastKey: row.k } : picked(revisions)
      }
      if (++looked < most) continue
      last = row.k
      break
    }
    if (last === undefined) return picked(revisions)
    rest = { from: `${last}\0`, to: range.to }
    await turnOfOthers()
  }
}

/** Tells whether the state in a row, its key being in the scope, is selected. */
export function selecting({ prefix, selection }: KeyScope): (row: Pick<CurrentRow, 'k' | 'l'>) => boolean {
  if (selectsEverything(selection)) return () => true
  const matches = matcherOf(selection)
  return ({ k, l }) => matches(k.slice(prefix.length + 1), decodeSelectable(l))
}
