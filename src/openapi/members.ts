/** Writes a large JSON object member by member, and keeps none of them. */
import type { JsonObject } from '../api/object.ts'
import { atOnce } from '../api/slices.ts'
import type { Steps } from '../api/slices.ts'

/** Steps: where they are long, an empty piece comes out after each. */
export type Member = readonly [name: string, json: () => string | Steps<string>]

/** A member; undefined where other requests may have a turn. */
export type Made = readonly [name: string, json: string] | undefined

/** In the order of their names; of two with one name the later counts. */
export function* madeMembers(members: readonly Member[]): Generator<Made, void, undefined> {
  for (const [name, json] of [...new Map(members)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const text = json()
    yield [name, typeof text === 'string' ? text : yield* inSteps(text)]
  }
}

/** The pieces of its text. */
export function* objectPieces(members: readonly Member[]): Generator<string, void, undefined> {
  let separator = '{'
  for (const made of madeMembers(members)) {
    if (made === undefined) yield ''
    else {
      yield `${separator}${JSON.stringify(made[0])}:${made[1]}`
      separator = ','
    }
  }
  yield separator === '{' ? '{}' : '}'
}

export const textOf = (text: string | Steps<string>): string => (typeof text === 'string' ? text : atOnce(text))

function* inSteps<T>(steps: Steps<T>): Generator<undefined, T, undefined> {
  for (;;) {
    const { done, value } = steps.next(true)
    if (done === true) return value
    yield
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

export const wholeText = async (pieces: Iterable<string>, turn: () => Promise<void>): Promise<string> =>
  (await joined(pieces, Infinity, turn)) ?? ''

/** After so many pieces other requests have their turn. One may take most of a millisecond. */
export const PIECES = 8
