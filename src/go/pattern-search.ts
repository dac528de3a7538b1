/**
 * Searches texts for patterns (RE2) with the results of Go's regexp. Each search counts its work and can stop at any
 * character, so that it does not block the isolate's thread. An automaton decides whether there is a match
 * (pattern-automaton.ts). If the automaton would grow too large, the search walks the instructions
 * (pattern-program.ts).
 */
import { automatonOf, MATCHED, OVER } from './pattern-automaton.ts'
import type { Automaton, Next, State } from './pattern-automaton.ts'
import { assertionsAt, AT_BEGIN, NONE, runeAt, Threads, widthOf } from './pattern-program.ts'
import type { PatternProgram } from './pattern-program.ts'

/** If a search reads fewer runes than this for each new state, the states are not worth their cost. */
const WORTH = 10
/** The cost of creating a step, in addition to its walk. */
const NEW_STEP = 32

/** Whether a text has a match. */
export class MatchSearch {
  private readonly automaton: Automaton | undefined
  private at = 0
  /** Undefined: the search walks the instructions. */
  private state: State | undefined
  /** The position at which the states were last dropped. */
  private cleared = 0
  private threads: Threads | undefined
  private others: Threads | undefined
  /** The units that the last call of goOn has left. */
  private left = 0
  /** The units of the whole search so far. */
  spent = 0

  constructor(
    private readonly program: PatternProgram,
    private readonly text: string,
  ) {
    this.automaton = automatonOf(program)
    this.state = this.automaton?.state(Int32Array.of(program.start), AT_BEGIN)
    if (this.state === undefined) this.goThrough(Int32Array.of(program.start))
  }

  /**
   * Continues the search for about this many units. A unit is a visited instruction, or a rune whose step is known.
   * @returns undefined if the search has not ended
   */
  goOn(units: number): boolean | undefined {
    this.left = units
    let found: boolean | undefined
    while (found === undefined && this.left > 0)
      found = this.state === undefined ? this.throughInstructions() : this.throughStates(this.state)
    this.spent += units - this.left
    return found
  }

  private throughStates(from: State): boolean | undefined {
    const { text } = this
    const { classes } = this.automaton!
    const { numClasses: end, latin1Class: ofLatin } = classes
    let state = from
    let { at, left } = this
    while (left-- > 0) {
      const rune = runeAt(text, at)
      const kind = rune === NONE ? end : rune < 256 ? ofLatin[rune]! : classes.runeClass(rune)
      let next = state.next[kind]
      if (next === undefined) {
        this.at = at
        this.left = left
        next = this.step(state, rune)
        if (next === undefined) return undefined
        state.next[kind] = next
        left = this.left
      }
      if (next === MATCHED || next === OVER) {
        this.left = left
        return next === MATCHED
      }
      state = next
      at += widthOf(rune)
    }
    Object.assign(this, { state, at, left })
    return undefined
  }

  /** Creates a step. Undefined: from the next rune on, the search walks the instructions. */
  private step({ pcs, before }: State, rune: number): Next | undefined {
    const { program, text, at } = this
    const automaton = this.automaton!
    const [next] = program.scratch
    const isMatch = program.walk({ pcs, begins: pcs, count: pcs.length }, assertionsAt(before, rune), rune, next) >= 0
    this.left -= program.visited + NEW_STEP
    if (isMatch) return MATCHED
    if (rune === NONE) return OVER
    if (!program.isAnchored) next.add(program.start, 0)
    if (next.count === 0) return OVER
    const behind = at + widthOf(rune)
    const pending = next.pcs.slice(0, next.count)
    const kind = program.before(text, behind)
    let state = automaton.state(pending, kind)
    if (state === undefined && at - this.cleared >= WORTH * automaton.size) {
      automaton.clear()
      this.cleared = at
      state = automaton.state(pending, kind)
    }
    if (state !== undefined) return state
    this.at = behind
    this.state = undefined
    this.goThrough(pending)
    return undefined
  }

  private goThrough(pending: Int32Array): void {
    const { size } = this.program
    this.threads = new Threads(size)
    this.others = new Threads(size)
    for (const pc of pending) this.threads.add(pc, 0)
  }

  private throughInstructions(): boolean | undefined {
    const { program, text } = this
    while (this.left > 0) {
      const threads = this.threads!
      const next = this.others!
      const rune = runeAt(text, this.at)
      const holds = assertionsAt(program.before(text, this.at), rune)
      const isMatch = program.walk(threads, holds, rune, next) >= 0
      this.left -= program.visited + OF_RUNE
      if (isMatch) return true
      if (rune === NONE) return false
      if (!program.isAnchored) next.add(program.start, 0)
      if (next.count === 0) return false
      this.at += widthOf(rune)
      this.threads = next
      this.others = threads
    }
    return undefined
  }
}

/** The cost of reading a rune, in instructions. */
const OF_RUNE = 4

/** The start and the end of a match. */
export type Match = readonly [begin: number, end: number]

/**
 * The first match at or behind a position. If several begin there, it is the one that Perl would find.
 * @param spend receives the number of visited instructions
 */
export function firstMatch(
  program: PatternProgram,
  text: string,
  from: number,
  spend: (units: number) => void,
): Match | undefined {
  let [threads, next] = program.scratch
  threads.count = 0
  let match: Match | undefined
  for (let at = from; ;) {
    if (threads.count === 0 && program.prefix !== '') {
      at = text.indexOf(program.prefix, at)
      if (at < 0) return undefined
    }
    const rune = runeAt(text, at)
    const holds = assertionsAt(program.before(text, at), rune)
    if (match === undefined && (!program.isAnchored || at === 0)) threads.add(program.start, at)
    const matched = program.walk(threads, holds, rune, next)
    if (matched >= 0) match = [threads.begins[matched]!, at]
    spend(program.visited + OF_RUNE)
    if (rune === NONE || (next.count === 0 && (match !== undefined || program.isAnchored))) return match
    at += widthOf(rune)
    ;[threads, next] = [next, threads]
  }
}

/** The first `most` matches. As in Go's FindAllString, an empty match right behind another match does not count. */
export function allMatches(
  program: PatternProgram,
  text: string,
  most: number,
  spend: (units: number) => void,
): Match[] {
  const matches: Match[] = []
  let endBefore = -1
  for (let from = 0; from <= text.length && matches.length < most;) {
    const match = firstMatch(program, text, from, spend)
    if (match === undefined) break
    const [begin, end] = match
    if (end > from) from = end
    else from += widthOf(runeAt(text, from))
    if (begin < end || begin !== endBefore) matches.push(match)
    endBefore = end
  }
  return matches
}
