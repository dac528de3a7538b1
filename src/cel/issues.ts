/** What is wrong with an expression, as cel-go writes it: sorted by place, with the line and a mark under it. */

export interface Issue {
  /** In code points; undefined: of the expression as a whole. */
  readonly offset: number | undefined
  readonly message: string
}

const MAX_REPORTED = 100
/** Of the bytes of a line: longer ones are left out. */
const MAX_SNIPPET = 16_384

export function issuesText(text: string, issues: readonly Issue[]): string {
  // nothing has no lines
  if (text === '') return issues.map(({ message }) => `ERROR: <input>:1:0: ${message}`).join('\n')
  const lines = linesOf(text)
  const placed = issues.slice(0, MAX_REPORTED).map((issue) => ({ ...issue, ...placeOf(lines, issue.offset) }))
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
  /** Offset of its first code point. */
  readonly begin: number
}

function linesOf(text: string): readonly Line[] {
  let begin = 0
  return text.split('\n').map((line) => {
    const at = begin
    begin += [...line].length + 1
    return { text: line, begin: at }
  })
}

function placeOf(lines: readonly Line[], offset: number | undefined): { line: number; column: number } {
  if (offset === undefined) return { line: -1, column: -1 }
  const index = lines.findLastIndex(({ begin }) => begin <= offset)
  return { line: index + 1, column: offset - lines[index]!.begin }
}

/** Wide marks stand under what takes more than a byte. */
function marked(line: string, column: number): string {
  const chars = [...line]
  const isWide = (char: string | undefined): boolean => char !== undefined && char > '\x7f'
  const dots = chars.slice(0, column).map((char) => (isWide(char) ? '\uff0e' : '.'))
  return `\n | ${line}\n | ${dots.join('')}${isWide(chars[column]) ? '\uff3e' : '^'}`
}
