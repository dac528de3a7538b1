/**
 * `list.push(...others)` passes each element as an argument on the stack. If a client chooses the length, some ten
 * thousand elements are a RangeError. This check finds such calls. `append` (src/base/append.ts), and `leastOf` and
 * `mostOf` (src/base/extremes.ts), take lists of any length.
 */

/** Line numbers, from 1, of calls of push, unshift, Math.min and Math.max with spread arguments. */
export function spreadArgumentsIn(text: string): number[] {
  const lines: number[] = []
  for (const { index, 0: call } of text.matchAll(/\.(?:push|unshift|min|max)\(/g))
    if (hasSpread(text, index + call.length)) lines.push(text.slice(0, index).split('\n').length)
  return lines
}

/** @param at the position behind the opening parenthesis */
function hasSpread(text: string, at: number): boolean {
  for (let depth = 0; at < text.length; at++) {
    const character = text[at]!
    if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character)) {
      if (depth-- === 0) return false
    } else if (depth === 0 && text.startsWith('...', at)) return true
  }
  return false
}
