/** Bytes of JSON text, and tables for its escapes and for base64. */
export const NEWLINE = 0x0a
export const QUOTE = 0x22
export const COMMA = 0x2c
export const ZERO = 0x30
export const COLON = 0x3a
export const OPEN_BRACKET = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_BRACKET = 0x5d
export const LETTER_F = 0x66
export const LETTER_N = 0x6e
export const LETTER_T = 0x74
export const LETTER_U = 0x75
export const LETTER_Z = 0x5a
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d

export const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

/** Whether one of four bytes is a quote or a backslash: a byte that is zero borrows from its highest bit. */
export function hasEnd(four: number): boolean {
  const quotes = four ^ 0x22222222
  const backslashes = four ^ 0x5c5c5c5c
  return ((((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes)) & 0x80808080) !== 0
}

export const NORMAL_TIME = '"2006-01-02T15:04:05Z'.length
export const NORMAL_MICRO_TIME = '"2006-01-02T15:04:05.000000Z'.length

/** The character for each letter behind a backslash. */
export const escapes: readonly (number | undefined)[] = Array.from({ length: 128 }, (_, code) => {
  const meaning = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
  return Object.entries(meaning)
    .find(([letter]) => letter.charCodeAt(0) === code)?.[1]
    .charCodeAt(0)
})

/** The value of a padding character. It exceeds all values of six bits. */
export const PADDING = 64

export const sextets: readonly (number | undefined)[] = Array.from({ length: 256 }, (_, code) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/='
  const place = alphabet.indexOf(String.fromCharCode(code))
  return place < 0 ? undefined : place
})
