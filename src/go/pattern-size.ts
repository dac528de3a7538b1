/**
 * Estimates the number of instructions of a pattern from its text. The compiler writes out repetitions, so compiling a
 * pattern of a few hundred characters (`a{1000}`, many times) can take seconds and all memory of the isolate.
 */

/**
 * The most instructions of a pattern. Compiling that many takes about thirty milliseconds. RE2's limit is a million.
 */
const MOST_INSTRUCTIONS = 20_000

/** Go's error message. */
export const tooLarge = (pattern: string): string => `error parsing regexp: expression too large: \`${pattern}\``

/** Whether the pattern is larger than this server compiles. The compiler reports syntax errors. */
export const isTooLarge = (pattern: string): boolean =>
  (pattern.includes('{') || pattern.length > MOST_INSTRUCTIONS / OF_CLASS) && sizeOf(pattern) > MOST_INSTRUCTIONS

/** The instructions that a Unicode class (`\pL`) counts as. It has hundreds of ranges. */
const OF_CLASS = 12

interface Group {
  /** The size of the group so far. `last` is the size of its last element, to which a repetition applies. */
  size: number
  last: number
}

function sizeOf(pattern: string): number {
  const open: Group[] = [{ size: 0, last: 0 }]
  let most = 0
  const add = (size: number): void => {
    const group = open.at(-1)!
    group.size += size
    group.last = size
    most = Math.max(most, group.size)
  }
  for (let at = 0; at < pattern.length; at++) {
    switch (pattern[at]) {
      case '\\':
        at++
        add(/[pP]/.test(pattern[at] ?? '') ? OF_CLASS : 1)
        break
      case '[':
        at = endOfClass(pattern, at)
        add(1)
        break
      case '(':
        open.push({ size: 2, last: 0 })
        break
      case ')': {
        const { size } = open.length > 1 ? open.pop()! : { size: 0 }
        add(size)
        break
      }
      case '{': {
        const times = repetitionAt(pattern, at)
        if (times === undefined) {
          add(1)
          break
        }
        const { last } = open.at(-1)!
        if (times > 1) add(last * (times - 1))
        open.at(-1)!.last = last * Math.max(1, times)
        break
      }
      case '*':
      case '+':
      case '?':
        // one instruction, and one because the parser visits the repeated element once more
        add(2)
        break
      default:
        add(1)
    }
  }
  return most
}

/** The position where a class ends. A closing bracket directly at its start is a member. */
function endOfClass(pattern: string, begin: number): number {
  let at = begin + 1
  if (pattern[at] === '^') at++
  if (pattern[at] === ']') at++
  while (at < pattern.length && pattern[at] !== ']') at += pattern[at] === '\\' ? 2 : 1
  return at
}

/** Digits of both numbers and the comma. RE2 refuses numbers with more digits. */
const LONGEST_REPETITION = 11

/**
 * How often the compiler writes out the element before `{2}`, `{2,}` or `{2,5}`. An optional copy counts as two.
 * @returns undefined if the brace is a character of the pattern
 */
function repetitionAt(pattern: string, at: number): number | undefined {
  const text = pattern.slice(at + 1, at + 1 + LONGEST_REPETITION + 1)
  const parts = /^(\d+)(,(\d*))?\}/.exec(text)
  if (parts === null) return undefined
  const [, least = '0', , most = ''] = parts
  return most === '' ? Number(least) + 1 : Number(least) + 2 * Math.max(0, Number(most) - Number(least))
}
