/**
 * The lazy DFA of a pattern (RE2): a search creates states when it first needs them, and then looks up one step for
 * each character. The size is limited.
 */
import { BoundedMap } from '../base/bounded-map.ts'
import type { PatternProgram, RuneClasses } from './pattern-program.ts'

/** A state: the waiting instructions, and the kind of the character before them. */
export interface State {
  readonly pcs: Int32Array
  readonly before: number
  /** The next state by the class of the next rune. The last entry is for the end of the text. */
  readonly next: (Next | undefined)[]
}

export type Next = State | typeof MATCHED | typeof OVER

export const MATCHED = 'matched'
/** No continuation of the text can match. */
export const OVER = 'over'

/** The approximate limit of the bytes of a pattern's states. */
const MOST_OF_STATES = 64 * 1024
const OF_STATE = 200
/** Bytes for an instruction in a state and in its name. */
const OF_INSTRUCTION = 16
const OF_CLASS = 8

export class Automaton {
  /** Bound: MOST_OF_STATES. */
  private readonly states = new Map<string, State>()
  private left = MOST_OF_STATES

  constructor(readonly classes: RuneClasses) {}

  get size(): number {
    return this.states.size
  }

  /** The state, created on first use. Undefined: it would exceed the limit. */
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

/** The automata of the patterns that were used last. Each takes MOST_OF_STATES at most. */
const automata = new BoundedMap<PatternProgram, Automaton>({ entries: 64 })

/** The automaton of a pattern. Undefined: its ranges make too many classes. */
export function automatonOf(program: PatternProgram): Automaton | undefined {
  const known = automata.get(program)
  if (known !== undefined) return known
  const made = program.hasFewRanges ? new Automaton(program.classes) : undefined
  if (made !== undefined) automata.set(program, made)
  return made
}
