/** Standard base64 with the rules of Go's encoding/base64: padded, line breaks ignored, unused bits of any value. */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** The position of the first invalid byte, as Go counts it. Undefined: the text is valid. */
export function corruptAt(text: string): number | undefined {
  if (/^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0) return undefined
  let at = 0
  for (;;) {
    for (let place = 0; place < 4; place++) {
      while (text[at] === '\n' || text[at] === '\r') at++
      if (at >= text.length) return place === 0 ? undefined : at - place
      const character = text[at++]!
      if (character !== '=') {
        if (!ALPHABET.includes(character)) return at - 1
        continue
      }
      if (place < 2) return at - 1
      at = skipBreaks(text, at)
      if (place === 2) {
        if (at >= text.length) return text.length
        if (text[at] !== '=') return at - 1
        at = skipBreaks(text, at + 1)
      }
      return at < text.length ? at : undefined
    }
  }
}

function skipBreaks(text: string, at: number): number {
  while (text[at] === '\n' || text[at] === '\r') at++
  return at
}

/** The canonical text of the same bytes: no line breaks, unused bits zero. The text must be valid. */
export function canonicalBase64(text: string): string {
  const joined = /[\r\n]/.test(text) ? text.replace(/[\r\n]/g, '') : text
  const padding = joined.endsWith('==') ? 2 : joined.endsWith('=') ? 1 : 0
  if (padding === 0) return joined
  const last = joined.length - padding - 1
  const bits = ALPHABET.indexOf(joined[last]!)
  const used = padding === 2 ? bits & ~15 : bits & ~3
  return used === bits ? joined : joined.slice(0, last) + ALPHABET[used] + '='.repeat(padding)
}

export function bytesToBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192))
  return btoa(binary)
}

/** Decodes the text, which must be valid. */
export function base64ToBytes(text: string): Uint8Array {
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}
