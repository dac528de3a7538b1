/**
 * Texts that are kept for long and seldom read: packed in memory, which takes a fraction of them where they repeat
 * themselves, as schemas do. The form is that of an LZ4 block. The platform's own coders are streams, and who reads a
 * definition waits for nobody.
 */

/** Fewer bytes than this repeat themselves too seldom. */
const LEAST = 1_024
/** Bytes that must be the same for a copy to be worth its three. */
const LEAST_COPY = 4
/** Bytes at the end of a block that are never part of a copy: the form asks for five, and looking for one reads four. */
const TAIL = 12
const FARTHEST = 65_535
const HASH_BITS = 13

/** Where bytes like these were seen last: place + 1. */
const seen = new Int32Array(1 << HASH_BITS)
/** Buffers of most definitions, which are used again: a longer text gets its own (storage/lent-stream.ts says why). */
const MOST_PLAIN = 128 * 1024
const plainBytes = new Uint8Array(MOST_PLAIN)
const packedBytes = new Uint8Array(mostPacked(MOST_PLAIN))
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

/** What was unpacked last: who asks for it asks for one part after the other. */
let last: { readonly of: PackedText; readonly text: string } | undefined

/** A text, plain until it is packed. */
export class PackedText {
  private plain: string | undefined
  private packed: Uint8Array | undefined
  /** Bytes of UTF-8. */
  private size = 0
  private staysPlain = false

  constructor(text: string) {
    this.plain = text
  }

  /** UTF-16 units, of a plain one. */
  get plainLength(): number {
    return this.plain?.length ?? 0
  }

  get text(): string {
    if (this.plain !== undefined) return this.plain
    // one of the two is there
    if (last?.of !== this) last = { of: this, text: unpack(this.packed!, this.size) }
    return last.text
  }

  /** It will go soon, and is not worth the work. */
  stayPlain(): void {
    this.staysPlain = true
  }

  /** @returns whether it takes much less than the text */
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

/** Good until the next text. */
function bytesOf(text: string): Uint8Array {
  // a unit has three bytes at most
  if (3 * text.length > MOST_PLAIN) return encoder.encode(text)
  return plainBytes.subarray(0, encoder.encodeInto(text, plainBytes).written)
}

/** What repeats nothing has a byte more for each 255. */
function mostPacked(length: number): number {
  return length + Math.ceil(length / 255) + 16
}

/** A block of LZ4. */
export function pack(bytes: Uint8Array): Uint8Array {
  const { length } = bytes
  const most = mostPacked(length)
  const out = most <= packedBytes.length ? packedBytes : new Uint8Array(most)
  seen.fill(0)
  let at = 0
  /** From here on nothing is written yet. */
  let literals = 0
  let to = 0
  /** Steps that found nothing: what does not repeat itself is passed by ever faster. */
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

/** Bytes as they are, and then a copy of what lies `distance` before. @returns where the next one begins */
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

/** @param size of the plain bytes */
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
    // what is copied may be part of the copy
    for (let end = to + copied + LEAST_COPY, from = to - distance; to < end;) out[to++] = out[from++]!
  }
  return decoder.decode(out.subarray(0, size))
}
