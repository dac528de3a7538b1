/**
 * Names and values of headers, compressed (SPDY/3.1, 2.6.10): all blocks of a direction are one zlib stream that begins
 * with a dictionary. The platform inflates, and knows no dictionaries; but a window that a stored block with the
 * dictionary's bytes has filled is the window that zlib would begin with.
 */
import { joined } from '../base/bytes.ts'
import { headerDictionary } from './dictionary.ts'
import { number32, read32 } from './numbers.ts'
import { SpdyError } from './spdy-error.ts'

export type Headers = ReadonlyMap<string, string>

/** Bytes that a block may inflate to. Those of a port-forward have a hundred. */
const LONGEST_BLOCK = 4_096

const FDICT = 0x20
const DEFLATE = 8

/** A block of deflate that is not compressed, and not the last one (RFC 1951, 3.2.4). */
function storedBlock(data: Uint8Array): Uint8Array {
  const [low, high] = [data.length & 0xff, data.length >>> 8]
  return joined([new Uint8Array([0, low, high, ~low & 0xff, ~high & 0xff]), data])
}

/** Reads the blocks of one direction, in their order. */
export class HeaderReader {
  private readonly inflater = new DecompressionStream('deflate-raw')
  private readonly input = this.inflater.writable.getWriter()
  private readonly output = this.inflater.readable.getReader()
  private readonly dictionary = headerDictionary()
  /** Of the dictionary, which comes out first. */
  private toSkip = this.dictionary.length
  private hasBegun = false

  /** @throws SpdyError: no further block can be read then */
  async read(block: Uint8Array): Promise<Headers> {
    this.feed(this.hasBegun ? block : this.firstOf(block))
    let bytes: Uint8Array = new Uint8Array(0)
    for (;;) {
      const headers = parse(bytes)
      if (headers !== undefined) return headers
      bytes = joined([bytes, await this.more()])
      if (bytes.length > LONGEST_BLOCK) throw new SpdyError('the headers are too long')
    }
  }

  close(): void {
    void this.output.cancel().catch(() => {})
    void this.input.abort().catch(() => {})
  }

  /** What stands before the first block says how it is compressed (RFC 1950). */
  private firstOf(block: Uint8Array): Uint8Array {
    const [method = 0, flags = 0] = block
    if (block.length < 2 || (method & 0x0f) !== DEFLATE || ((method << 8) | flags) % 31 !== 0)
      throw new SpdyError('the headers are no zlib stream')
    this.hasBegun = true
    this.feed(storedBlock(this.dictionary))
    return block.subarray((flags & FDICT) === 0 ? 2 : 6)
  }

  /** What is wrong with it is told by the output. */
  private feed(data: Uint8Array): void {
    void this.input.write(new Uint8Array(data)).catch(() => {})
  }

  private async more(): Promise<Uint8Array> {
    for (;;) {
      const { done, value } = await this.output.read().catch(() => ({ done: true, value: undefined }))
      if (done || value === undefined) throw new SpdyError('the headers cannot be inflated')
      const skipped = Math.min(this.toSkip, value.length)
      this.toSkip -= skipped
      if (skipped < value.length) return value.subarray(skipped)
    }
  }
}

/** Undefined where something is missing yet. @throws SpdyError */
function parse(bytes: Uint8Array): Headers | undefined {
  const headers = new Map<string, string>()
  if (bytes.length < 4) return undefined
  let at = 4
  const next = (): string | undefined => {
    if (bytes.length < at + 4) return undefined
    const length = read32(bytes, at)
    if (length > LONGEST_BLOCK) throw new SpdyError('a header is too long')
    if (bytes.length < at + 4 + length) return undefined
    const text = new TextDecoder().decode(bytes.subarray(at + 4, at + 4 + length))
    at += 4 + length
    return text
  }
  for (let left = read32(bytes, 0); left > 0; left--) {
    const [name, value] = [next(), next()]
    if (name === undefined || value === undefined) return undefined
    headers.set(name, value)
  }
  if (at < bytes.length) throw new SpdyError('there is more than headers in a block of headers')
  return headers
}

/** Writes the blocks of one direction. Nothing is compressed, which every reader understands. */
export class HeaderWriter {
  private hasBegun = false

  write(headers: Headers): Uint8Array {
    const text = (words: string): readonly Uint8Array[] => {
      const bytes = new TextEncoder().encode(words)
      return [number32(bytes.length), bytes]
    }
    const data = joined([
      number32(headers.size),
      ...[...headers].flatMap(([name, value]) => [...text(name), ...text(value)]),
    ])
    // an empty block tells readers that wait for a window of data to hand out what they have, as a flush of zlib's does
    const block = joined([storedBlock(data), storedBlock(new Uint8Array(0))])
    if (this.hasBegun) return block
    this.hasBegun = true
    return joined([new Uint8Array([0x78, 0x01]), block])
  }
}
