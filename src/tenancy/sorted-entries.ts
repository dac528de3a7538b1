/**
 * Immutable entries sorted by key. A changed copy shares all pieces but one with the original, so a change among ten
 * thousand entries copies a few hundred references.
 */

type Pair<Value> = readonly [key: string, value: Value]

/** Pairs in a piece: about the square root of the expected number. */
const PIECE = 64

export class SortedEntries<Value> {
  static readonly empty = new SortedEntries<never>([])

  private constructor(private readonly pieces: readonly (readonly Pair<Value>[])[]) {}

  get isEmpty(): boolean {
    return this.pieces.length === 0
  }

  get(key: string): Value | undefined {
    const piece = this.pieces[this.pieceOf(key)]
    if (piece === undefined) return undefined
    const pair = piece[placeIn(piece, key)]
    return pair?.[0] === key ? pair[1] : undefined
  }

  /** The values of keys from `from` (inclusive) to `to` (exclusive). */
  range(from: string, to: string): Value[] {
    const found: Value[] = []
    for (let at = Math.max(0, this.pieceOf(from)); at < this.pieces.length; at++)
      for (const [key, value] of this.pieces[at]!) {
        if (key >= to) return found
        if (key >= from) found.push(value)
      }
    return found
  }

  values(): Value[] {
    return this.pieces.flatMap((piece) => piece.map(([, value]) => value))
  }

  /** @param changes a change without a value deletes its key; of two with one key the later counts */
  with(changes: readonly (readonly [key: string, value: Value | undefined])[]): SortedEntries<Value> {
    if (changes.length > PIECE) return this.rebuilt(changes)
    const pieces = [...this.pieces]
    for (const [key, value] of changes) {
      const at = Math.max(0, pieceOf(pieces, key))
      const changed = changedPiece(pieces[at] ?? [], key, value)
      const half = changed.length >> 1
      if (changed.length > 2 * PIECE) pieces.splice(at, 1, changed.slice(0, half), changed.slice(half))
      else pieces.splice(at, 1, ...(changed.length === 0 ? [] : [changed]))
    }
    return new SortedEntries(pieces)
  }

  private rebuilt(changes: readonly (readonly [key: string, value: Value | undefined])[]): SortedEntries<Value> {
    const all = new Map(this.pieces.flat())
    for (const [key, value] of changes)
      if (value === undefined) all.delete(key)
      else all.set(key, value)
    const sorted = [...all].sort(([a], [b]) => (a < b ? -1 : 1))
    return new SortedEntries(
      Array.from({ length: Math.ceil(sorted.length / PIECE) }, (_, at) => sorted.slice(at * PIECE, (at + 1) * PIECE)),
    )
  }

  private pieceOf(key: string): number {
    return pieceOf(this.pieces, key)
  }
}

/** The index of the last piece that begins at or before a key; -1 where all begin behind it. */
function pieceOf<Value>(pieces: readonly (readonly Pair<Value>[])[], key: string): number {
  let [low, high] = [0, pieces.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (pieces[middle]![0]![0] <= key) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** The index of the first pair at or behind a key. */
function placeIn<Value>(piece: readonly Pair<Value>[], key: string): number {
  let [low, high] = [0, piece.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (piece[middle]![0] < key) low = middle + 1
    else high = middle
  }
  return low
}

function changedPiece<Value>(
  piece: readonly Pair<Value>[],
  key: string,
  value: Value | undefined,
): readonly Pair<Value>[] {
  const at = placeIn(piece, key)
  const isThere = piece[at]?.[0] === key
  return piece.toSpliced(at, isThere ? 1 : 0, ...(value === undefined ? [] : [[key, value] as const]))
}
