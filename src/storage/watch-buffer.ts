/**
 * What waits for the watches of one user, whose clients do not take it as fast as it happens. When all of it is too
 * much, the watch that is furthest behind ends; its client comes back and goes on from what it has. Where the buffers of
 * all users of an isolate are too much, it is a watch of the user who has most waiting.
 */

/** Bytes of all watches of a user. */
const MAX_BYTES = 16 * 1024 * 1024
/** Of all users, of all control planes that an isolate serves. */
const MAX_OF_ALL = 48 * 1024 * 1024

/** What shares one bound. */
export class WatchBuffers {
  /** Those of which something waits. Bound: MAX_OF_ALL bytes. */
  private readonly filled = new Set<WatchBuffer>()
  private bytes = 0
  private readonly most: number

  constructor(most = MAX_OF_ALL) {
    this.most = most
  }

  /** A buffer has `bytes` more, or fewer. */
  changed(buffer: WatchBuffer, bytes: number): void {
    this.bytes += bytes
    if (buffer.bytes > 0) this.filled.add(buffer)
    else this.filled.delete(buffer)
    // fewer came of one that ends
    if (bytes > 0) while (this.bytes > this.most) largest(this.filled, (one) => one.bytes).endOne()
  }
}

/** There is one. */
const largest = <One>(all: Iterable<One>, sizeOf: (one: One) => number): One =>
  [...all].reduce((most, one) => (sizeOf(one) > sizeOf(most) ? one : most))

const ofThisIsolate = new WatchBuffers()

export interface BufferedWatch {
  readonly waitingBytes: number
  /** Ends it: it leaves the buffer. */
  tooSlow(): void
}

export class WatchBuffer {
  /** Bound: the open watches of the user. */
  private readonly watches = new Set<BufferedWatch>()
  bytes = 0
  private readonly most: number
  private readonly all: WatchBuffers

  constructor(most = MAX_BYTES, all = ofThisIsolate) {
    this.most = most
    this.all = all
  }

  /** So many bytes more wait for a watch. */
  hold(watch: BufferedWatch, bytes: number): void {
    this.watches.add(watch)
    this.change(bytes)
    while (this.bytes > this.most) this.endOne()
  }

  /** The watch that is furthest behind. */
  endOne(): void {
    largest(this.watches, ({ waitingBytes }) => waitingBytes).tooSlow()
  }

  release(bytes: number): void {
    this.change(-bytes)
  }

  private change(bytes: number): void {
    this.bytes += bytes
    this.all.changed(this, bytes)
  }

  /** What still waits for the watch is dropped. */
  leave(watch: BufferedWatch): void {
    if (this.watches.delete(watch)) this.change(-watch.waitingBytes)
  }
}
