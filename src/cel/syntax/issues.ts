/** Formats the errors of an expression as cel-go does: sorted by position, each with its line and a mark under it. */

import { sizeOf } from '../values/runtime-size.ts'

export interface Issue {
  /** The position in code points. Undefined: the error has no position. */
  readonly offset: number | undefined
  readonly message: string
}

const MAX_REPORTED = 100
/** The most bytes of a line that is shown. Longer lines are left out. */
const MAX_SNIPPET = 16_384

export function issuesText(text: string, issues: readonly Issue[]): string {
  // an empty text has no line that could be shown
  if (text === '') return issues.map(({ message }) => `ERROR: <input>:1:0: ${message}`).join('\n')
  const reported = issues.slice(0, MAX_REPORTED)
  // the error of a text that is too long to parse has no position, so its lines are not split
  const lines = reported.some(({ offset }) => offset !== undefined) ? linesOf(text) : []
  const placed = reported.map((issue) => ({ ...issue, ...placeOf(lines, issue.offset) }))
  placed.sort((a, b) => a.line - b.line || a.column - b.column)
  const texts = placed.map(({ line, column, message }) => {
    const head = `ERROR: <input>:${line}:${column + 1}: ${message}`
    const snippet = lines[line - 1]
    return snippet === undefined || new TextEncoder().encode(snippet.text).length > MAX_SNIPPET
      ? head
      : head + marked(snippet.text.replaceAll('\t', ' '), column)
  })
  if (issues.length > MAX_REPORTED) texts.push(`${issues.length - MAX_REPORTED} more errors were truncated`)
  return texts.join('\n')
}

interface Line {
  readonly text: string
  /** The offset of the line's first code point. */
  readonly begin: number
}

function linesOf(text: string): readonly Line[] {
  let begin = 0
  return text.split('\n').map((line) => {
    const at = begin
    begin += sizeOf(line) + 1
    return { text: line, begin: at }
  })
}

function placeOf(lines: readonly Line[], offset: number | undefined): { line: number; column: number } {
  if (offset === undefined) return { line: -1, column: -1 }
  let index = 0
  for (let end = lines.length; index + 1 < end;) {
    const middle = (index + end) >> 1
    if (lines[middle]!.begin <= offset) index = middle
    else end = middle
  }
  return { line: index + 1, column: offset - lines[index]!.begin }
}

/** As in cel-go, wide dots and marks stand under characters of more than one byte. */
function marked(line: string, column: number): string {
  const chars = [...line]
  const isWide = (char: string | undefined): boolean => char !== undefined && char > '\x7f'
  const dots = chars.slice(0, column).map((char) => (isWide(char) ? '\uff0e' : '.'))
  return `\n | ${line}\n | ${dots.join('')}${isWide(chars[column]) ? '\uff3e' : '^'}`
}
