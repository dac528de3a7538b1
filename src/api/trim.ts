/**
 * What a regular expression like `/x+$/` cannot do in linear time: from each x of a run it looks to the end of the run,
 * and starts again at the next.
 */

/** The text without the run of this character at its end. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}

/** The text without runs of this character at its beginning and its end. */
export function trimmedOf(text: string, character: string): string {
  let start = 0
  while (start < text.length && text[start] === character) start++
  return withoutTrailing(text.slice(start), character)
}
