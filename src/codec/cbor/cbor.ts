/**
 * Kubernetes' CBOR (RFC 8949, deterministic): text and names are byte strings, members stand in the order of their
 * encoded names, bytes carry tag 22 ("base64, if you must write this as text"), and a whole object begins with the
 * self-describing tag. Decoding gives the same tree as the JSON of the object. cbor/encode.ts writes it, cbor/decode.ts
 * reads it.
 */

export const SELF_DESCRIBED = Uint8Array.of(0xd9, 0xd9, 0xf7)

/** Major types. */
export const UNSIGNED = 0
export const NEGATIVE = 1
export const BYTES = 2
export const TEXT = 3
export const ARRAY = 4
export const MAP = 5
export const TAG = 6
export const SIMPLE = 7

/** First bytes of simple values and floats. */
export const FALSE = 0xf4
export const TRUE = 0xf5
export const NULL = 0xf6
export const UNDEFINED = 0xf7
export const FLOAT16 = 0xf9
export const FLOAT32 = 0xfa
export const FLOAT64 = 0xfb
export const BREAK = 0xff

/** Tags. */
export const TIME_TEXT = 0n
export const EPOCH_TIME = 1n
export const BIGNUMS = [2n, 3n]
export const AS_BASE64URL = 21n
export const AS_BASE64 = 22n
export const AS_BASE16 = 23n

export function float16Value(bits: number): number {
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  const sign = bits & 0x8000 ? -1 : 1
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}
