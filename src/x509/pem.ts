/** Textual encodings of keys and certificates (RFC 7468), read as leniently as Go's encoding/pem. */
export interface PemBlock {
  readonly type: string
  readonly bytes: Uint8Array
  readonly hasHeaders: boolean
}

// the end of the line before may be that of another block
const BLOCK = /(?<![^\n])-----BEGIN ([^\n]*)-----[ \t\r]*\n([\s\S]*?)\n?-----END \1-----[ \t\r]*(?:\n|$)/g

/** All blocks, in order; what stands between them and what cannot be read is passed over. */
export function pemBlocks(text: string): PemBlock[] {
  return [...text.matchAll(BLOCK)].flatMap(([, type = '', body = '']) => {
    const headers = /^(?:[^\n]*:[^\n]*\n)+\n?/.exec(body)?.[0] ?? ''
    const base64 = body.slice(headers.length).replace(/\s/g, '')
    try {
      return [{ type, bytes: fromBase64(base64), hasHeaders: headers !== '' }]
    } catch {
      return []
    }
  })
}

export function pemText(type: string, bytes: Uint8Array): string {
  const lines = toBase64(bytes).match(/.{1,64}/g) ?? []
  return `-----BEGIN ${type}-----\n${lines.join('\n')}\n-----END ${type}-----\n`
}

/** @throws where the text is not base64 */
export const fromBase64 = (text: string): Uint8Array =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0))

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
