/**
 * Trims in linear time. A regular expression like `/x+$/` is quadratic: from each x of a run it scans to the end of the
 * run, and starts again at the next x.
 */

/** Removes the run of a character at the end of a text. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}

/** Removes the runs of a character at both ends of a text. */
export function trimmedOf(text: string, character: string): string {
  let start = 0
  while (start < text.length && text[start] === character) start++
  return withoutTrailing(text.slice(start), character)
}
