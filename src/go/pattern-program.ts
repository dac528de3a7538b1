/**
 * The instructions of a compiled pattern (RE2), and one step of a search, which takes all waiting instructions over one
 * character.
 */
import type { RE2JS } from 're2js'

/** The operations of Go's regexp/syntax, with the numbers that re2js gives them. */
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
/** Our own operation, which re2js does not have: it matches one range of runes. */
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
  /** Ranges of runes with both ends included, or a single rune. */
  readonly runes: ArrayLike<number>
  matchRune(rune: number): boolean
}

/** The internals of a pattern that re2js has compiled. The types of re2js do not declare them. */
interface Compiled {
  /** The assertions at the start of a match. */
  readonly cond: number
  readonly prefix: string
  readonly prog: { readonly inst: readonly Instruction[]; readonly start: number }
  readonly dfa: RuneClasses
}

/** Classes of runes: every instruction matches all runes of a class, or none. */
export interface RuneClasses {
  readonly numClasses: number
  /** The classes of the runes below 256. */
  readonly latin1Class: ArrayLike<number>
  runeClass(rune: number): number
}

/** The kind of the character before a position. */
export const AT_BEGIN = 0
const BEHIND_LINE = 1
const BEHIND_WORD = 2
const BEHIND_OTHER = 3

const isWord = (rune: number): boolean =>
  (rune >= 97 && rune <= 122) || (rune >= 65 && rune <= 90) || (rune >= 48 && rune <= 57) || rune === 95

const NEWLINE = 10
/** Stands for the rune at the end of the text. */
export const NONE = -1

/** The assertions that hold between a kind of character and the rune behind it. */
export function assertionsAt(before: number, rune: number): number {
  let holds = isWord(rune) === (before === BEHIND_WORD) ? NO_WORD_BOUNDARY : WORD_BOUNDARY
  if (before === AT_BEGIN) holds |= BEGIN_TEXT | BEGIN_LINE
  if (before === BEHIND_LINE) holds |= BEGIN_LINE
  if (rune === NONE) holds |= END_TEXT | END_LINE
  if (rune === NEWLINE) holds |= END_LINE
  return holds
}

/** The rune at a position. A pair of surrogates is one rune, and so is a lone surrogate. */
export function runeAt(text: string, at: number): number {
  if (at >= text.length) return NONE
  const unit = text.charCodeAt(at)
  return unit < 0xd800 || unit > 0xdbff ? unit : text.codePointAt(at)!
}

export const widthOf = (rune: number): number => (rune > 0xffff ? 2 : 1)

/** The most range ends of all instructions of a pattern. A pattern with more gets no rune classes. */
const MOST_ENDS = 4096

export class PatternProgram {
  readonly size: number
  /** The number of instructions. An instruction with many ranges counts twice. */
  readonly weight: number
  readonly start: number
  /** A match can only begin at the start of the text. */
  readonly isAnchored: boolean
  /** The text with which every match begins, or ''. */
  readonly prefix: string
  /** The instructions that the last walk visited, by weight. */
  visited = 0
  private readonly instructions: readonly Instruction[]
  private readonly ops: Uint8Array
  private readonly outs: Int32Array
  private readonly args: Int32Array
  /** The range of an instruction that matches one range of runes. */
  private readonly lows: Int32Array
  private readonly highs: Int32Array
  /** The last walk that visited each instruction. */
  private readonly seen: Int32Array
  private walks = 0
  /** Instructions that a walk has yet to visit. */
  private readonly stack: Int32Array
  /** All assertions in the pattern. */
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

  /** Two thread lists for callers that need them for one step only. */
  get scratch(): readonly [Threads, Threads] {
    return (this.ownScratch ??= [new Threads(this.size), new Threads(this.size)])
  }

  get hasFewRanges(): boolean {
    return this.instructions.reduce((sum, { runes }) => sum + runes.length, 0) <= MOST_ENDS
  }

  get classes(): RuneClasses {
    return this.compiled.dfa
  }

  /** The kind of the character before a position, as far as the pattern asserts it. */
  before(text: string, at: number): number {
    if (at === 0) return AT_BEGIN
    const { asserted } = this
    const unit = text.charCodeAt(at - 1)
    if (unit === NEWLINE && (asserted & BEGIN_LINE) !== 0) return BEHIND_LINE
    return isWord(unit) && (asserted & (WORD_BOUNDARY | NO_WORD_BOUNDARY)) !== 0 ? BEHIND_WORD : BEHIND_OTHER
  }

  /**
   * Takes all waiting threads over instructions that match no rune, and then over the rune, in the order in which Perl
   * would try them.
   * @returns the index of the thread that matches before the rune, which stops the walk; -1 if none matches
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

/** Maps operations that a walk treats alike to one number. */
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

/** Instructions that wait for the next rune, each once, in the order in which Perl would try them. */
export class Threads {
  readonly pcs: Int32Array
  /** The position where the match of each thread began. */
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
