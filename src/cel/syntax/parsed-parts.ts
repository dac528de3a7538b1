/**
 * Lets the parser of a long text yield. A parse is a recursion, which cannot stop in the middle and go on later. So it
 * is interrupted by an exception, and starts again from the beginning, where it finds the parts that were parsed
 * before. A parse has no other input than the text, so it comes to each part in the same order and in the same state.
 */
import type { Expression } from './ast.ts'
import type { Builder, BuilderState } from './builder.ts'
import type { Issue } from './issues.ts'
import type { ReaderState, TokenReader } from './recovery.ts'

/** Interrupts a parse. */
export const PARSE_STOP = new Error('assertion failed: a parse was interrupted that nobody continues')

/** Rules that the parser enters until it yields: some milliseconds. */
export const PART = 15_000

/** How far a parse has come: everything that the parse of a part changes. */
interface ParseState {
  readonly reader: ReaderState
  readonly builder: BuilderState
  readonly issues: readonly Issue[]
}

/** Where a parse is in its text. The active rules are no part of it: they are those of the parser's stack. */
export class Position {
  issues: Issue[] = []

  constructor(
    private readonly tokens: TokenReader,
    private readonly builder: Builder,
  ) {}

  /** The number of rules that were entered, in all runs. */
  get entered(): number {
    return this.tokens.entered
  }

  get state(): ParseState {
    return { reader: this.tokens.state, builder: this.builder.state, issues: [...this.issues] }
  }

  restore({ reader, builder, issues }: ParseState): void {
    this.tokens.restore(reader)
    this.builder.restore(builder)
    this.issues = [...issues]
  }
}

interface Part {
  readonly node: Expression
  readonly after: ParseState
  /** The number of parts up to the end of this one, with those within it. */
  readonly count: number
}

export class ParsedParts {
  /** Bound: the characters of the text. */
  private readonly parsed = new Map<number, Part>()
  private beginning: ParseState | undefined
  /** Parts that this run has begun, each of which has its number. */
  private count = 0
  /** Rules entered when this run came to text that no earlier run had parsed. */
  private from = 0

  /** @param part how many rules the parser enters until it yields */
  constructor(private readonly part: number) {}

  /** Called before each run. */
  begin(position: Position): void {
    if (this.beginning === undefined) this.beginning = position.state
    else position.restore(this.beginning)
    this.count = 0
    this.from = position.entered
  }

  /** Parses a part, or returns what an earlier run made of it. @throws PARSE_STOP */
  parse(parse: () => Expression, position: Position): Expression {
    const number = this.count++
    const known = this.parsed.get(number)
    if (known !== undefined) {
      this.count = known.count
      position.restore(known.after)
      this.from = position.entered
      return known.node
    }
    const node = parse()
    this.parsed.set(number, { node, after: position.state, count: this.count })
    if (position.entered - this.from > this.part) throw PARSE_STOP
    return node
  }
}
