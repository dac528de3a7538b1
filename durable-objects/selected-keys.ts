/** Which versions a list consists of. Decided in one turn; values are not touched. */
import { matches, selectsEverything } from '../src/storage/selection.ts'
import type { KeyScope } from '../src/storage/shard-protocol.ts'
import type { Revision } from '../src/storage/storage.ts'
import { needlesOf } from './key-range.ts'
import { decodeSelectable } from './selectable.ts'
import type { CurrentRow, KeyRange, StateStatements } from './statements.ts'

export interface Picked {
  /** In key order. */
  readonly revisions: readonly Revision[]
  /** Present when more follow. */
  readonly lastKey?: string
  readonly remaining?: number
}

/** Keys whose revisions come in one text: it may not be longer than a row. */
const BATCH = 20_000

/** @param limit 0: no limit */
export function pick(state: StateStatements, scope: KeyScope, range: KeyRange, limit: number): Picked {
  return selectsEverything(scope.selection) ? pickAll(state, range, limit) : pickSelected(state, scope, range, limit)
}

/** Without a row for each key in JavaScript: this is the list of ten thousand. */
function pickAll(state: StateStatements, range: KeyRange, limit: number): Picked {
  const revisions: Revision[] = []
  for (let rest = range; ;) {
    const wanted = limit > 0 ? Math.min(BATCH, limit - revisions.length) : BATCH
    const { found, last } = state.revisions(rest, wanted)
    for (const revision of found) revisions.push(revision)
    if (found.length < wanted || last === null) return { revisions }
    rest = { from: `${last}\0`, to: range.to }
    if (revisions.length !== limit) continue
    const remaining = state.count(rest)
    return remaining === 0 ? { revisions } : { revisions, lastKey: last, remaining }
  }
}

/** A full page is followed by another one when there are more keys, whether they will be selected or not. */
function pickSelected(state: StateStatements, scope: KeyScope, range: KeyRange, limit: number): Picked {
  const isSelected = selecting(scope)
  const revisions: Revision[] = []
  for (const row of state.rows(range, needlesOf(scope.selection))) {
    if (!isSelected(row)) continue
    revisions.push(row.rv)
    if (revisions.length !== limit) continue
    const follows = state.revisions({ from: `${row.k}\0`, to: range.to }, 1).found.length > 0
    return follows ? { revisions, lastKey: row.k } : { revisions }
  }
  return { revisions }
}

/** Tells whether the state in a row, its key being in the scope, is selected. */
export function selecting({ prefix, selection }: KeyScope): (row: Pick<CurrentRow, 'k' | 'l'>) => boolean {
  if (selectsEverything(selection)) return () => true
  return ({ k, l }) => matches(selection, k.slice(prefix.length + 1), decodeSelectable(l))
}
