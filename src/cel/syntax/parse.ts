/** Parses a text into a syntax tree, with limits on its size, and in steps. */
import type { Steps } from '../../base/slices.ts'
import { atOnce } from '../../base/slices.ts'
import type { SyntaxTree } from './ast.ts'
import { MacroError } from './builder.ts'
import type { Issue } from './issues.ts'
import { tokensInSteps } from './lexer.ts'
import { ParsedParts, PARSE_STOP, PART } from './parsed-parts.ts'
import type { ParserOptions } from './parser.ts'
import { Parser } from './parser.ts'
import { sizeOf } from '../values/runtime-size.ts'

export interface Parsed {
  /** Undefined if there are issues. */
  readonly tree: SyntaxTree | undefined
  readonly issues: readonly Issue[]
}

/** The most code points of an expression. */
const MAX_SIZE = 100_000
/** The parser yields while it parses a longer text. Parsing one of this length takes some milliseconds. */
const LONG = 8 * 1024

export const parse = (text: string, options: ParserOptions): Parsed => atOnce(parseInSteps(text, options))

/**
 * Like parse, but yields to other requests.
 * @param part how many rules the parser enters until it yields
 */
export function* parseInSteps(text: string, options: ParserOptions, part = PART): Steps<Parsed> {
  const size = sizeOf(text)
  if (size > MAX_SIZE)
    return {
      tree: undefined,
      issues: [issue(`expression code point size exceeds limit: size: ${size}, limit ${MAX_SIZE}`)],
    }
  const tokens = yield* tokensInSteps(text)
  const parts = text.length > LONG || part < PART ? new ParsedParts(part) : undefined
  const parser = new Parser(tokens, options, parts)
  for (;;) {
    if (parts !== undefined) yield
    try {
      const root = parser.start()
      const { issues } = parser.position
      return { tree: issues.length === 0 && root !== undefined ? parser.builder.tree(text, root) : undefined, issues }
    } catch (error) {
      if (error === PARSE_STOP) continue
      // the tree exceeds the limit on nodes, outside of a macro
      if (!(error instanceof MacroError)) throw error
      return { tree: undefined, issues: [issue(error.message)] }
    }
  }
}

const issue = (message: string, offset?: number): Issue => ({ offset, message })
