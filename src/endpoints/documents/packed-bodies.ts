/**
 * Keeps the gzip of bodies that are expensive to make. The OpenAPI document of a thousand definitions takes more than
 * a second to make, and much less to inflate. The next client gets the kept bytes, or their plain text.
 */
import { BoundedMap } from '../../base/bounded-map.ts'
import { joined } from '../../base/bytes.ts'
import { drain, recoded } from '../../codec/negotiation/coded-stream.ts'
import type { ByteReader } from '../../storage/streams/byte-chunks.ts'

/** The most bytes of gzip that an isolate keeps. */
export const MAX_KEPT = 8 * 1024 * 1024
/**
 * Bytes of gzip that are inflated at a time: a hundred kilobytes of a repetitive document. The engine keeps all that it
 * makes of a slice, and with four times as much its process stays ten megabytes larger.
 */
const SLICE = 2 * 1024

/** By key of the body. */
const kept = new BoundedMap<string, Uint8Array>({ entries: 16, size: MAX_KEPT, sizeOf: (_, gzip) => gzip.length })
/** Marks a body whose gzip is too large to be kept. */
const TOO_LARGE = new Uint8Array()
/**
 * The most bodies that are gathered at a time, each up to MAX_KEPT. Readers may be slow, or disappear without notice.
 */
const MOST_GATHERED = 2
/** The bodies that are being gathered, by key. Bound: MOST_GATHERED; the oldest one is dropped for a new one. */
const gathering = new Map<string, Gathered>()

/**
 * @param key equal keys mean equal bytes
 * @param make called where the body is not kept
 */
export function packedBody(key: string, make: () => ByteReader): ByteReader {
  const known = kept.get(key)
  if (known !== undefined && known !== TOO_LARGE) return slices(known)
  const gzip = recoded(make(), new CompressionStream('gzip'))
  return known === TOO_LARGE || gathering.has(key) ? gzip : followed(gzip, new Gathered(key))
}

/** Like `packedBody`, but plain. Where the body is not kept, it is packed while it goes to the client. */
export function plainBody(key: string, make: () => ByteReader): ByteReader {
  const known = kept.get(key)
  if (known !== undefined && known !== TOO_LARGE) return recoded(slices(known), new DecompressionStream('gzip'))
  return known === TOO_LARGE || gathering.has(key) ? make() : followed(make(), new PackedBeside(new Gathered(key)))
}

/** Receives each piece of the stream. A piece is valid only during the call. */
interface Follower {
  take(chunk: Uint8Array): void | Promise<void>
  end(): void | Promise<void>
  /** The reader has gone, or the source has failed. */
  drop(): void
}

class Gathered implements Follower {
  /** Bound: MAX_KEPT bytes. */
  private chunks: Uint8Array[] = []
  private length = 0

  constructor(private readonly key: string) {
    for (const oldest of gathering.values()) {
      if (gathering.size < MOST_GATHERED) break
      oldest.drop()
    }
    gathering.set(key, this)
  }

  take(chunk: Uint8Array): void {
    if (!this.isGathered) return
    this.length += chunk.length
    if (this.length > MAX_KEPT) this.chunks = []
    else this.chunks.push(chunk.slice())
  }

  end(): void {
    if (this.isGathered) kept.set(this.key, this.length > MAX_KEPT ? TOO_LARGE : joined(this.chunks))
    this.drop()
  }

  drop(): void {
    this.chunks = []
    if (this.isGathered) gathering.delete(this.key)
  }

  private get isGathered(): boolean {
    return gathering.get(this.key) === this
  }
}

class PackedBeside implements Follower {
  private readonly coder = new CompressionStream('gzip')
  private readonly writer = this.coder.writable.getWriter()
  /** Settles: its one reader awaits it, in its own request. */
  private readonly whole: Promise<void>

  constructor(private readonly gathered: Gathered) {
    this.whole = drain(this.coder.readable, (chunk) => gathered.take(chunk))
    this.whole.catch(() => undefined) // nobody awaits a dropped body; `end` awaits the others
  }

  take(chunk: Uint8Array): Promise<void> {
    return this.writer.write(chunk)
  }

  async end(): Promise<void> {
    await this.writer.close()
    await this.whole
    this.gathered.end()
  }

  drop(): void {
    this.gathered.drop()
    this.writer.abort().catch(() => undefined)
  }
}

function followed(source: ByteReader, follower: Follower): ByteReader {
  return {
    async read() {
      try {
        const piece = await source.read()
        await (piece === undefined ? follower.end() : follower.take(piece))
        return piece
      } catch (error) {
        follower.drop()
        throw error
      }
    },
    async cancel() {
      follower.drop()
      await source.cancel()
    },
  }
}

function slices(bytes: Uint8Array): ByteReader {
  let at = 0
  return {
    read: async () => (at < bytes.length ? bytes.subarray(at, (at += SLICE)) : undefined),
    cancel: async () => {},
  }
}
