/**
 * Synchronous SHA-256 (FIPS 180-4) of a short text. The platform's is asynchronous, and would make each lookup by a
 * digest asynchronous, too.
 */

const primes = firstPrimes(64)
const fraction = (root: number): number => Math.floor((root - Math.floor(root)) * 2 ** 32) | 0
const INITIAL = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)))
const ROUNDS = primes.map((prime) => fraction(Math.cbrt(prime)))

function firstPrimes(count: number): number[] {
  const found: number[] = []
  // few: 64 primes, once
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n)
  return found
}

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

export function sha256(text: string): Uint8Array {
  const state = Int32Array.from(INITIAL)
  const blocks = paddedBlocks(new TextEncoder().encode(text))
  for (let at = 0; at < blocks.byteLength; at += 64) mix(state, new DataView(blocks.buffer, at, 64))
  const digest = new DataView(new ArrayBuffer(32))
  for (const [at, word] of state.entries()) digest.setInt32(4 * at, word)
  return new Uint8Array(digest.buffer)
}

/** Pads the last block with a one bit, zeros, and the length in bits. */
function paddedBlocks(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  new DataView(padded.buffer).setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n)
  return padded
}

function mix(state: Int32Array, block: DataView): void {
  const words = new Int32Array(64)
  for (let t = 0; t < 16; t++) words[t] = block.getInt32(4 * t)
  for (let t = 16; t < 64; t++) {
    const [early, late] = [words[t - 15]!, words[t - 2]!]
    const small0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)
    const small1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
    words[t] = words[t - 16]! + small0 + words[t - 7]! + small1
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number] // eight words
  for (let t = 0; t < 64; t++) {
    const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const choice = (e & f) ^ (~e & g)
    const first = (h + big1 + choice + ROUNDS[t]! + words[t]!) | 0
    const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + big0 + majority) | 0]
  }
  for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) state[at] = state[at]! + word
}
