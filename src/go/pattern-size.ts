/**
 * How large the program of a pattern is, at least about: what is repeated is written out. Told from its text, because to
 * make the program of a few hundred characters (`a{1000}`, many times) takes seconds and all memory that there is.
 */

/** Instructions. To compile them takes some thirty milliseconds. RE2 stops at a million. */
const MOST_INSTRUCTIONS = 20_000

/** As Go says it. */
export const tooLarge = (pattern: string): string => `error parsing regexp: expression too large: \`${pattern}\``

/** Whether its program is larger than this server compiles. What is no pattern is for the compiler to tell. */
export const isTooLarge = (pattern: string): boolean => pattern.includes('{') && sizeOf(pattern) > MOST_INSTRUCTIONS

interface Group {
  /** Of its alternatives, and of what was read last in it, which a repetition is about. */
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
        add(1)
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
        const { last } = open.at(-1)!
        if (times > 1) add(last * (times - 1))
        open.at(-1)!.last = last * Math.max(1, times)
        break
      }
      default:
        add(1)
    }
  }
  return most
}

/** Where the class that begins there ends; a bracket that comes first is a member. */
function endOfClass(pattern: string, begin: number): number {
  let at = begin + 1
  if (pattern[at] === '^') at++
  if (pattern[at] === ']') at++
  while (at < pattern.length && pattern[at] !== ']') at += pattern[at] === '\\' ? 2 : 1
  return at
}

/** `{2}`, `{2,}`, `{2,5}`: how often what is before it is written out, an optional one as two. 0: it is no repetition. */
function repetitionAt(pattern: string, at: number): number {
  const end = pattern.indexOf('}', at)
  // numbers of more digits are refused by RE2
  if (end < 0 || end - at > 12) return 0
  const parts = /^(\d+)(,(\d*))?$/.exec(pattern.slice(at + 1, end))
  if (parts === null) return 0
  const [, least = '0', , most = ''] = parts
  return most === '' ? Number(least) + 1 : Number(least) + 2 * Math.max(0, Number(most) - Number(least))
}
