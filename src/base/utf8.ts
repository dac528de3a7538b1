export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

/** The bytes of a text in UTF-8, which kube-apiserver counts. A lone surrogate takes three, like U+FFFD. */
export function byteLength(text: string): number {
  if (text.length > 64 && isAscii(text)) return text.length
  let length = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    length += unit < 0x800 ? 1 : 2
    const isPair = unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00
    if (isPair) i++ // four bytes for two units
  }
  return length
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const looseUtf8 = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

/**
 * Decodes UTF-8 like Go: each byte that belongs to no character becomes one U+FFFD. A byte order mark is a character.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return decodeBroken(bytes)
  }
}

function decodeBroken(bytes: Uint8Array): string {
  let text = ''
  let start = 0
  for (let at = 0; at < bytes.length;) {
    const length = characterLength(bytes, at)
    if (length === 0) {
      text += looseUtf8.decode(bytes.subarray(start, at)) + '\ufffd'
      start = ++at
    } else at += length
  }
  return text + looseUtf8.decode(bytes.subarray(start))
}

/** The bytes of the character at a position. 0: no valid character begins there. */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!
  if (first < 0x80) return 1
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  if (first < 0xc2 || first > 0xf4 || at + length > bytes.length) return 0
  const second = bytes[at + 1]!
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80 // no overlong forms
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf // no surrogates, nothing above U+10FFFF
  if (second < low || second > high) return 0
  for (let i = 2; i < length; i++) if ((bytes[at + i]! & 0xc0) !== 0x80) return 0
  return length
}
