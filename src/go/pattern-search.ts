/**
 * Searches of texts by patterns (RE2), as Go's regexp finds them. What searches a text long enough counts what it does and
 * can stop at any character, so that no search holds its thread. Whether there is a match is asked of an automaton, which
 * is made as far as texts need it and takes a look for each character. Where it would grow without end, the instructions
 * are gone through themselves.
 */
import type { RE2JS } from 're2js'
import { BoundedMap } from '../api/bounded-map.ts'

/** Of Go's regexp/syntax, under the numbers of re2js. */
const ALT = 1
const ALT_MATCH = 2
const CAPTURE = 3
const EMPTY_WIDTH = 4
const MATCH = 6
const NOP = 7
const RUNE = 8
const RUNE1 = 9
const RUNE_ANY = 10
const RUNE_ANY_NOT_NL = 11
/** Our own: it takes one range. */
const RANGE = 12

const BEGIN_LINE = 1
const END_LINE = 2
const BEGIN_TEXT = 4
const END_TEXT = 8
const WORD_BOUNDARY = 16
const NO_WORD_BOUNDARY = 32

const FOLD_CASE = 1

interface Instruction {
  readonly op: number
  readonly out: number
  readonly arg: number
  /** Ranges, both ends included; one rune alone stands for itself. */
  readonly runes: ArrayLike<number>
  matchRune(rune: number): boolean
}

/** What re2js makes of a pattern, as its source has it. */
interface Compiled {
  /** What is asserted where a match begins. */
  readonly cond: number
  readonly prefix: string
  readonly prog: { readonly inst: readonly Instruction[]; readonly start: number }
  readonly dfa: RuneClasses
}

/** The instructions take all runes of a class, or none. */
interface RuneClasses {
  readonly numClasses: number
  /** Those of the runes below 256. */
  readonly latin1Class: ArrayLike<number>
  runeClass(rune: number): number
}

/** What stands before a place. */
const AT_BEGIN = 0
const BEHIND_LINE = 1
const BEHIND_WORD = 2
const BEHIND_OTHER = 3

const isWord = (rune: number): boolean =>
  (rune >= 97 && rune <= 122) || (rune >= 65 && rune <= 90) || (rune >= 48 && rune <= 57) || rune === 95

const NEWLINE = 10
/** What comes at the end of a text. */
const NONE = -1

/** The assertions that hold between what stands before and a rune. */
function assertionsAt(before: number, rune: number): number {
  let holds = isWord(rune) === (before === BEHIND_WORD) ? NO_WORD_BOUNDARY : WORD_BOUNDARY
  if (before === AT_BEGIN) holds |= BEGIN_TEXT | BEGIN_LINE
  if (before === BEHIND_LINE) holds |= BEGIN_LINE
  if (rune === NONE) holds |= END_TEXT | END_LINE
  if (rune === NEWLINE) holds |= END_LINE
  return holds
}

/** A pair of surrogates is one; a half alone is one, too. */
function runeAt(text: string, at: number): number {
  if (at >= text.length) return NONE
  const unit = text.charCodeAt(at)
  return unit < 0xd800 || unit > 0xdbff ? unit : text.codePointAt(at)!
}

const widthOf = (rune: number): number => (rune > 0xffff ? 2 : 1)

export class PatternProgram {
  readonly size: number
  /** Instructions; one that takes many ranges is two. */
  readonly weight: number
  readonly start: number
  /** A match begins where the text does, or nowhere. */
  readonly isAnchored: boolean
  /** What each match begins with, as far as it is one text. */
  readonly prefix: string
  /** What the last walk came by, by weight. */
  visited = 0
  private readonly instructions: readonly Instruction[]
  private readonly ops: Uint8Array
  private readonly outs: Int32Array
  private readonly args: Int32Array
  /** Of an instruction that takes one range of runes. */
  private readonly lows: Int32Array
  private readonly highs: Int32Array
  /** In which walk an instruction was come by last. */
  private readonly seen: Int32Array
  private walks = 0
  /** Instructions that a walk has yet to come to. */
  private readonly stack: Int32Array
  /** Assertions that there are. */
  private readonly asserted: number
  private readonly compiled: Compiled
  private ownScratch: readonly [Threads, Threads] | undefined

  constructor(pattern: RE2JS) {
    this.compiled = pattern.re2()
    const { prog, cond, prefix } = this.compiled
    const { inst } = prog
    this.instructions = inst
    this.asserted = inst.reduce((all, { op, arg }) => (op === EMPTY_WIDTH ? all | arg : all), 0)
    this.start = prog.start
    this.isAnchored = (cond & BEGIN_TEXT) !== 0
    this.prefix = prefix
    this.size = inst.length
    this.ops = Uint8Array.from(inst, flatOp)
    this.weight = this.ops.reduce((sum, op) => sum + (op === RUNE ? 2 : 1), 0)
    this.outs = Int32Array.from(inst, ({ out }) => out)
    this.args = Int32Array.from(inst, ({ arg }) => arg)
    this.lows = Int32Array.from(inst, ({ runes }) => runes[0] ?? 0)
    this.highs = Int32Array.from(inst, ({ runes }) => runes[1] ?? runes[0] ?? 0)
    this.seen = new Int32Array(this.size)
    this.stack = new Int32Array(2 * this.size + 2)
  }

  /** For what needs them no longer than its own step. */
  get scratch(): readonly [Threads, Threads] {
    return (this.ownScratch ??= [new Threads(this.size), new Threads(this.size)])
  }

  get hasFewRanges(): boolean {
    return this.instructions.reduce((sum, { runes }) => sum + runes.length, 0) <= MOST_ENDS
  }

  get classes(): RuneClasses {
    return this.compiled.dfa
  }

  /** What stands before a place, as far as the pattern asks. */
  before(text: string, at: number): number {
    if (at === 0) return AT_BEGIN
    const { asserted } = this
    const unit = text.charCodeAt(at - 1)
    if (unit === NEWLINE && (asserted & BEGIN_LINE) !== 0) return BEHIND_LINE
    return isWord(unit) && (asserted & (WORD_BOUNDARY | NO_WORD_BOUNDARY)) !== 0 ? BEHIND_WORD : BEHIND_OTHER
  }

  /**
   * All that waits goes over what takes no rune, and over the rune, in the order in which Perl would try it.
   * @returns the place of the one that comes to a match before the rune, behind which nothing is tried; -1: none does
   */
  walk({ pcs, begins, count }: Waiting, holds: number, rune: number, next: Threads): number {
    const { ops, outs, args, lows, highs, seen, stack } = this
    const walk = this.beginWalk()
    next.count = 0
    let visited = 0
    let matched = -1
    for (let at = 0; at < count && matched < 0; at++) {
      let top = 0
      stack[top++] = pcs[at]!
      while (top > 0) {
        const pc = stack[--top]!
        if (seen[pc] === walk) continue
        seen[pc] = walk
        visited++
        switch (ops[pc]) {
          case RANGE:
            if (rune >= lows[pc]! && rune <= highs[pc]!) next.add(outs[pc]!, begins[at]!)
            break
          case ALT:
            stack[top++] = args[pc]!
            stack[top++] = outs[pc]!
            break
          case NOP:
            stack[top++] = outs[pc]!
            break
          case EMPTY_WIDTH:
            if ((args[pc]! & ~holds) === 0) stack[top++] = outs[pc]!
            break
          case MATCH:
            matched = at
            top = 0
            break
          case RUNE:
            visited++
            if (rune !== NONE && this.instructions[pc]!.matchRune(rune)) next.add(outs[pc]!, begins[at]!)
            break
        }
      }
    }
    this.visited = visited
    return matched
  }

  private beginWalk(): number {
    if (++this.walks < 0x7fff_ffff) return this.walks
    this.seen.fill(0)
    return (this.walks = 1)
  }
}

/** Those that are walked over alike have one number. */
function flatOp({ op, arg, runes }: Instruction): number {
  switch (op) {
    case ALT_MATCH:
      return ALT
    case CAPTURE:
      return NOP
    case RUNE1:
      return RANGE
    case RUNE_ANY:
    case RUNE_ANY_NOT_NL:
      return RUNE
    case RUNE:
      return runes.length === 2 || (runes.length === 1 && (arg & FOLD_CASE) === 0) ? RANGE : RUNE
    default:
      return op
  }
}

interface Waiting {
  readonly pcs: Int32Array
  readonly begins: Int32Array
  readonly count: number
}

/** Instructions that wait for the next rune, each once, those that Perl would try first at first. */
class Threads {
  readonly pcs: Int32Array
  /** Where the match of each began. */
  readonly begins: Int32Array
  count = 0
  private readonly places: Int32Array

  constructor(size: number) {
    this.pcs = new Int32Array(size)
    this.begins = new Int32Array(size)
    this.places = new Int32Array(size)
  }

  add(pc: number, begin: number): void {
    const place = this.places[pc]!
    if (place < this.count && this.pcs[place] === pc) return
    this.places[pc] = this.count
    this.begins[this.count] = begin
    this.pcs[this.count++] = pc
  }
}

/** All that a search may still become, and what stands before. */
interface State {
  readonly pcs: Int32Array
  readonly before: number
  /** By the class of the next rune; the last is that of the text's end. */
  readonly next: (Next | undefined)[]
}

type Next = State | typeof MATCHED | typeof OVER

const MATCHED = 'matched'
/** Nothing that follows matches. */
const OVER = 'over'

/** Bytes of the states of a pattern, about. */
const MOST_OF_STATES = 64 * 1024
const OF_STATE = 200
/** Of an instruction in a state, in its name, too. */
const OF_INSTRUCTION = 16
const OF_CLASS = 8
/** Ends of ranges of runes that are made into classes. */
const MOST_ENDS = 4096

class Automaton {
  /** Bound: MOST_OF_STATES. */
  private readonly states = new Map<string, State>()
  private left = MOST_OF_STATES

  constructor(readonly classes: RuneClasses) {}

  get size(): number {
    return this.states.size
  }

  /** Undefined: there is no room for it. */
  state(pcs: Int32Array, before: number): State | undefined {
    const name = `${before} ${pcs.join(' ')}`
    const known = this.states.get(name)
    if (known !== undefined) return known
    const slots = this.classes.numClasses + 1
    this.left -= OF_STATE + pcs.length * OF_INSTRUCTION + slots * OF_CLASS
    if (this.left < 0) return undefined
    const state: State = { pcs, before, next: Array.from({ length: slots }) }
    this.states.set(name, state)
    return state
  }

  clear(): void {
    this.states.clear()
    this.left = MOST_OF_STATES
  }
}

/** Of the patterns that were searched by last: each has as much as MOST_OF_STATES. */
const automata = new BoundedMap<PatternProgram, Automaton>({ entries: 64 })

function automatonOf(program: PatternProgram): Automaton | undefined {
  const known = automata.get(program)
  if (known !== undefined) return known
  const made = program.hasFewRanges ? new Automaton(program.classes) : undefined
  if (made !== undefined) automata.set(program, made)
  return made
}

/** Runes for each state that make it worth while to remember states. */
const WORTH = 10
/** What a step takes that is not known, beside the walk. */
const NEW_STEP = 32

/** Whether a text has a match. */
export class MatchSearch {
  private readonly automaton: Automaton | undefined
  private at = 0
  /** Undefined: the instructions are gone through. */
  private state: State | undefined
  /** Where the states were forgotten last. */
  private cleared = 0
  private threads: Threads | undefined
  private others: Threads | undefined
  /** Of the units that it was given last. */
  private left = 0
  /** Units so far. */
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
   * About so many units more. A unit is an instruction that is come by, or a rune whose step is known.
   * @returns undefined: it has not come to its end
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

  /** Undefined: from the next rune on the instructions are gone through. */
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

/** What it takes to come to a rune, in instructions. */
const OF_RUNE = 4

/** A match: where it begins, and where it ends. */
export type Match = readonly [begin: number, end: number]

/**
 * The first match behind a place; of several that begin there, the one that Perl would find.
 * @param spend is told of the instructions that are come by
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

/** All matches, at most so many: an empty one is none right behind another (Go's FindAllString). */
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
