// Builds CBOR items (RFC 8949) byte by byte, also items that no encoder writes.

export const CBOR = 'application/cbor'

export const bytes = (...parts: readonly (number | string | Uint8Array | readonly number[])[]): Uint8Array =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === 'number' ? Uint8Array.of(part) : typeof part === 'string' ? Buffer.from(part) : Buffer.from(part),
    ),
  )
/** The head of an item: its major type, and its length in the shortest form. */
export const head = (major: number, length: number): Uint8Array =>
  length < 24 ? bytes((major << 5) | length) : bytes((major << 5) | 25, length >> 8, length & 255)
export const BYTE_STRING = 2
export const TEXT_STRING = 3
export const LIST = 4
export const MAP = 5
export const word = (value: string, major = BYTE_STRING): Uint8Array =>
  bytes(head(major, Buffer.byteLength(value)), value)
export const map = (...members: readonly (readonly [name: string | Uint8Array, value: Uint8Array])[]): Uint8Array =>
  bytes(
    head(MAP, members.length),
    ...members.flatMap(([name, value]) => [typeof name === 'string' ? word(name) : name, value]),
  )
export const list = (...items: readonly Uint8Array[]): Uint8Array => bytes(head(LIST, items.length), ...items)
export const tag = (number: number, value: Uint8Array): Uint8Array => bytes(0xd9, number >> 8, number & 255, value)
export const SELF_DESCRIBED = bytes(0xd9, 0xd9, 0xf7)
export const BREAK = 0xff
export const FALSE = bytes(0xf4)
export const NULL = bytes(0xf6)
export const UNDEFINED = bytes(0xf7)
export const repeated = (count: number, octets: readonly number[]): Uint8Array =>
  Buffer.alloc(count * octets.length, Uint8Array.from(octets))
export const within = (
  levels: number,
  open: readonly number[],
  value: Uint8Array,
  close: readonly number[] = [],
): Uint8Array => bytes(repeated(levels, open), value, ...(close.length === 0 ? [] : [repeated(levels, close)]))
