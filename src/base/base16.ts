const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Lower-case hexadecimal, as in Go's encoding/hex. */
export function bytesToBase16(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += digits[byte]!
  return text
}
