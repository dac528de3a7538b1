/** Quotes text like Go's strconv.Quote. Names in Kubernetes' messages have this form. */
import { ownValue } from '../base/own.ts'
import { isPrint } from '../base/unicode.ts'

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

/** ASCII that needs no escape. */
const plain = /^[ !#-[\]-~]*$/

/** Finds characters that may need an escape. Beyond ASCII it depends on the character. */
const special = /["\\]|[^ -~]/gu

const escape = (character: string): string => {
  if (character >= '\x80' && isPrint(character)) return character
  const known = ownValue(named, character)
  if (known !== undefined) return known
  const code = character.codePointAt(0)!
  if (code < 0x80) return `\\x${hex(code, 2)}`
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`
}

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0')

export const goQuote = (text: string): string => (plain.test(text) ? `"${text}"` : `"${text.replace(special, escape)}"`)

/** A byte in single quotes, as encoding/json's errors write an invalid character: `'x'`, `'\''`, `'ï'`. */
export const goQuoteByte = (byte: number): string => {
  const character = String.fromCharCode(byte)
  if (character === "'") return "'\\''"
  return character === '"' ? `'"'` : `'${character.replace(special, escape)}'`
}
