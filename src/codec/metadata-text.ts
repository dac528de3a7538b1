/**
 * Cuts `metadata` out of a stored object's text without parsing the rest: lists of metadata and the rows of tables
 * need nothing else of objects that may be large.
 */

const head = /^\{(?:"(?:kind|apiVersion)":"[^"\\]*",)*"metadata":\{/
// up to the next brace outside of strings
const toBrace = /[^"{}]*(?:"[^"\\]*(?:\\.[^"\\]*)*"[^"{}]*)*[{}]/y

/** The JSON text of `metadata`; undefined when it does not come right after kind and apiVersion. */
export function metadataText(text: string): string | undefined {
  const match = head.exec(text)
  if (match === null) return undefined
  const start = match[0].length - 1
  let depth = 1
  toBrace.lastIndex = match[0].length
  while (toBrace.test(text)) {
    if (text.charCodeAt(toBrace.lastIndex - 1) === 0x7b) depth++
    else if (--depth === 0) return text.slice(start, toBrace.lastIndex)
  }
  return undefined
}
