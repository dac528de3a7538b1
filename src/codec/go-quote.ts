/** Text in quotes as Go's strconv.Quote writes it: the form in which names appear in Kubernetes' messages. */
const named: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
}

// what is not graphic (Go's IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space)
const special = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu

const escape = (character: string): string => {
  const known = named[character]
  if (known !== undefined) return known
  const code = character.codePointAt(0)!
  if (code < 0x80) return `\\x${hex(code, 2)}`
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`
}

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0')

export const goQuote = (text: string): string => `"${text.replace(special, escape)}"`

/** One byte in single quotes as encoding/json names the character that it cannot use: `'x'`, `'\''`, `'ï'`. */
export const goQuoteByte = (byte: number): string => {
  const character = String.fromCharCode(byte)
  if (character === "'") return "'\\''"
  return character === '"' ? `'"'` : `'${character.replace(special, escape)}'`
}
