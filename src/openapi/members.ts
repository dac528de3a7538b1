/** Writes a large JSON object member by member, without keeping the members. */
import { hasMoreValues } from '../json/many-values.ts'
import type { JsonObject } from '../api/object.ts'
import { MANY_VALUES, atOnce } from '../base/slices.ts'
import type { Steps } from '../base/slices.ts'
import { writingPlainJson } from '../json/write-json.ts'

/** Steps make a long text. An empty piece comes out after each step. */
export type Member = readonly [name: string, json: () => string | Steps<string>]

/** A member; undefined where other requests may have their turn. */
export type Made = readonly [name: string, json: string] | undefined

/** Makes the members in the order of their names. Of two members with one name the later one counts. */
export function* madeMembers(members: readonly Member[]): Generator<Made, void, undefined> {
  for (const [name, json] of [...new Map(members)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const text = json()
    yield [name, typeof text === 'string' ? text : yield* inSteps(text)]
  }
}

/** The pieces of the object's text. */
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

/** So many pieces of a usual length take as long as a step of a long text. */
const OF_STEP = 4

/** For a generator whose caller always gives others their turn. */
export function* inSteps<T>(steps: Steps<T>): Generator<undefined, T, undefined> {
  // before the first there is nothing done
  for (let pieces = 1; ; pieces = OF_STEP) {
    const { done, value } = steps.next(true)
    if (done === true) return value
    for (let piece = 0; piece < pieces; piece++) yield
  }
}

export function* jsonOf(steps: Steps<JsonObject>): Steps<string> {
  const value = yield* steps
  if (!hasMoreValues(value, MANY_VALUES)) return JSON.stringify(value)
  yield
  return yield* writingPlainJson(value, LEVELS)
}

/** Of members of members, each of which is written by itself. Schemas nest. */
const LEVELS = 12

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

/** Pieces after which other requests have their turn. One piece may take most of a millisecond. */
export const PIECES = 8
