/** Finds how much of a JSON text stands in long strings, without parsing it. */

/** Characters of a string that counts as long. The expressions of most policies and definitions are shorter. */
const LONG = 1024

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BRACE = 0x7b

/**
 * Adds up the characters of the strings that are longer than LONG.
 * @param text JSON, or the bytes of a body; bytes that begin with no brace (protobuf, CBOR, YAML) count as one long string
 */
export function lengthOfLongStrings(text: string | Uint8Array): number {
  const codeAt = typeof text === 'string' ? (at: number) => text.charCodeAt(at) : (at: number) => text[at]
  const nextQuote = (from: number): number =>
    typeof text === 'string' ? text.indexOf('"', from) : text.indexOf(QUOTE, from)
  if (codeAt(0) !== BRACE) return text.length
  let sum = 0
  for (let begin = nextQuote(0); begin !== -1;) {
    let end = nextQuote(begin + 1)
    while (end !== -1 && isEscaped(codeAt, begin, end)) end = nextQuote(end + 1)
    const length = (end === -1 ? text.length : end) - begin
    if (length > LONG) sum += length
    begin = end === -1 ? -1 : nextQuote(end + 1)
  }
  return sum
}

/** Whether the quote at `at` is a character of the string that begins at `begin`. */
function isEscaped(codeAt: (at: number) => number | undefined, begin: number, at: number): boolean {
  let before = at - 1
  while (before > begin && codeAt(before) === BACKSLASH) before--
  return (at - before) % 2 === 0
}
