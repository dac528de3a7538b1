/**
 * Compresses texts that stay in memory for long and are seldom read. Repetitive texts such as schemas shrink to a
 * fraction. The format is an LZ4 block. The platform's own compression has only streams, but reading a definition must
 * be synchronous.
 */

/** Shorter texts have too few repetitions. */
const LEAST = 1_024
/** The fewest bytes that a copy replaces. A copy itself takes three bytes. */
const LEAST_COPY = 4
/**
 * Bytes at the end of a block that are never part of a copy. The format requires five, and the search reads four more.
 */
const TAIL = 12
const FARTHEST = 65_535
const HASH_BITS = 13

/** Maps the hash of four bytes to the position + 1 at which they occurred last. */
const seen = new Int32Array(1 << HASH_BITS)
/** Most definitions fit into buffers that are reused. A longer text gets its own (storage/streams/lent-stream.ts says why). */
const MOST_PLAIN = 128 * 1024
const plainBytes = new Uint8Array(MOST_PLAIN)
const packedBytes = new Uint8Array(mostPacked(MOST_PLAIN))
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

/** The text that was unpacked last. Callers often read the same text several times in a row. */
let last: { readonly of: PackedText; readonly text: string } | undefined

/** A text that is plain until `pack` compresses it. */
export class PackedText {
  private plain: string | undefined
  private packed: Uint8Array | undefined
  /** The bytes of the plain text in UTF-8. */
  private size = 0
  private staysPlain = false

  constructor(text: string) {
    this.plain = text
  }

  /** The UTF-16 units of a plain text, 0 of a packed one. */
  get plainLength(): number {
    return this.plain?.length ?? 0
  }

  get text(): string {
    if (this.plain !== undefined) return this.plain
    // the text is either plain or packed
    if (last?.of !== this) last = { of: this, text: unpack(this.packed!, this.size) }
    return last.text
  }

  /** Prevents packing, because the text will soon be dropped. */
  stayPlain(): void {
    this.staysPlain = true
  }

  /** @returns whether the text is packed. It stays plain if packing would save less than half. */
  pack(): boolean {
    const { plain } = this
    if (plain === undefined) return true
    if (this.staysPlain || plain.length < LEAST || !plain.isWellFormed()) return false
    const bytes = bytesOf(plain)
    const packed = pack(bytes)
    if (packed.length > bytes.length / 2) return false
    this.size = bytes.length
    this.packed = packed
    this.plain = undefined
    return true
  }
}

/** The bytes of a text. They are valid until the next call. */
function bytesOf(text: string): Uint8Array {
  // a UTF-16 unit takes at most three bytes
  if (3 * text.length > MOST_PLAIN) return encoder.encode(text)
  return plainBytes.subarray(0, encoder.encodeInto(text, plainBytes).written)
}

/** The largest size of a packed text. Without repetitions the format adds one byte for each 255. */
function mostPacked(length: number): number {
  return length + Math.ceil(length / 255) + 16
}

/** Compresses bytes into an LZ4 block. */
export function pack(bytes: Uint8Array): Uint8Array {
  const { length } = bytes
  const most = mostPacked(length)
  const out = most <= packedBytes.length ? packedBytes : new Uint8Array(most)
  seen.fill(0)
  let at = 0
  /** The position of the first byte that is not written yet. */
  let literals = 0
  let to = 0
  /** Positions without a match since the last copy. The more there are, the larger the steps become. */
  let misses = 0
  const last = length - TAIL
  while (at < last) {
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    const slot = Math.imul(word, 0x9e3779b1) >>> (32 - HASH_BITS)
    const from = seen[slot]! - 1
    seen[slot] = at + 1
    if (from < 0 || at - from > FARTHEST || !isSameWord(bytes, from, at)) {
      at += 1 + (misses++ >> 6)
      continue
    }
    misses = 0
    let end = at + LEAST_COPY
    for (let other = from + LEAST_COPY; end < last && bytes[end] === bytes[other]; other++) end++
    to = writeSequence(out, to, bytes, literals, at, at - from, end - at)
    literals = at = end
  }
  return out.slice(0, writeLiterals(out, to, bytes, literals, length))
}

const isSameWord = (bytes: Uint8Array, a: number, b: number): boolean =>
  bytes[a] === bytes[b] &&
  bytes[a + 1] === bytes[b + 1] &&
  bytes[a + 2] === bytes[b + 2] &&
  bytes[a + 3] === bytes[b + 3]

/** Writes literal bytes and then a copy of the bytes `distance` before. @returns the position behind the sequence */
function writeSequence(
  out: Uint8Array,
  to: number,
  bytes: Uint8Array,
  from: number,
  until: number,
  distance: number,
  copied: number,
): number {
  const token = to
  to = writeLiterals(out, to, bytes, from, until)
  out[to++] = distance & 0xff
  out[to++] = distance >> 8
  const more = copied - LEAST_COPY
  out[token] = out[token]! | Math.min(more, 15)
  return more < 15 ? to : writeRest(out, to, more - 15)
}

function writeLiterals(out: Uint8Array, to: number, bytes: Uint8Array, from: number, until: number): number {
  const count = until - from
  out[to++] = Math.min(count, 15) << 4
  if (count >= 15) to = writeRest(out, to, count - 15)
  for (let at = from; at < until; at++) out[to++] = bytes[at]!
  return to
}

function writeRest(out: Uint8Array, to: number, rest: number): number {
  for (; rest >= 255; rest -= 255) out[to++] = 255
  out[to++] = rest
  return to
}

/** @param size the number of plain bytes */
function unpack(packed: Uint8Array, size: number): string {
  const out = size <= MOST_PLAIN ? plainBytes : new Uint8Array(size)
  let at = 0
  let to = 0
  while (at < packed.length) {
    const token = packed[at++]!
    let count = token >> 4
    if (count === 15) for (let more = 255; more === 255; count += more) more = packed[at++]!
    for (const end = at + count; at < end;) out[to++] = packed[at++]!
    if (at >= packed.length) break // the last sequence copies nothing
    const distance = packed[at]! | (packed[at + 1]! << 8)
    at += 2
    let copied = token & 15
    if (copied === 15) for (let more = 255; more === 255; copied += more) more = packed[at++]!
    // the source of a copy may overlap its target, so bytes are copied one by one
    for (let end = to + copied + LEAST_COPY, from = to - distance; to < end;) out[to++] = out[from++]!
  }
  return decoder.decode(out.subarray(0, size))
}
