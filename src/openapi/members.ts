/** Members of a large JSON object whose texts are made one by one, when it is their turn, and of which nothing stays. */
import type { JsonObject } from '../api/object.ts'
import { atOnce } from '../api/slices.ts'
import type { Steps } from '../api/slices.ts'

/** Steps: where they are long, an empty piece comes out after each. */
export type Member = readonly [name: string, json: () => string | Steps<string>]

/** The pieces of its text, members in the order of their names; of two with one name the later counts. */
export function* objectPieces(members: readonly Member[]): Generator<string, void, undefined> {
  const sorted = [...new Map(members)].sort(([a], [b]) => (a < b ? -1 : 1))
  let separator = '{'
  for (const [name, json] of sorted) {
    const text = json()
    yield `${separator}${JSON.stringify(name)}:${typeof text === 'string' ? text : yield* inPieces(text)}`
    separator = ','
  }
  yield sorted.length === 0 ? '{}' : '}'
}

export const textOf = (text: string | Steps<string>): string => (typeof text === 'string' ? text : atOnce(text))

/** An empty piece for each step before the last. */
function* inPieces<T>(steps: Steps<T>): Generator<string, T, undefined> {
  for (;;) {
    const { done, value } = steps.next(true)
    if (done === true) return value
    yield ''
  }
}

export function* jsonOf(steps: Steps<JsonObject>): Steps<string> {
  return JSON.stringify(yield* steps)
}

/** @param most UTF-16 units. @returns undefined for a longer text */
export async function joined(
  pieces: Iterable<string>,
  most: number,
  turn: () => Promise<void>,
): Promise<string | undefined> {
  const texts: string[] = []
  let length = 0
  let count = 0
  for (const piece of pieces) {
    length += piece.length
    if (length > most) return undefined
    texts.push(piece)
    if (++count % PIECES === 0) await turn()
  }
  return texts.join('')
}

/** Pieces, each of which may take a good part of a millisecond to make, after which others get their turn. */
export const PIECES = 8
