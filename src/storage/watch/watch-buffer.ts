/**
 * Limits the events that wait for the watches of one user whose clients read too slowly. Above the limit the watch
 * that is furthest behind ends; its client comes back and continues. Where the buffers of all users of an isolate are
 * too large, a watch of the user with the most waiting bytes ends.
 */

/** Bytes of all watches of a user. */
const MAX_BYTES = 16 * 1024 * 1024
/** Bytes of all users of all control planes in an isolate. */
const MAX_OF_ALL = 48 * 1024 * 1024

/** Buffers that share one limit. */
export class WatchBuffers {
  /** Buffers with waiting events. Bound: MAX_OF_ALL bytes. */
  private readonly filled = new Set<WatchBuffer>()
  private bytes = 0
  private readonly most: number

  constructor(most = MAX_OF_ALL) {
    this.most = most
  }

  /** A buffer has grown by `bytes`, which may be negative. */
  changed(buffer: WatchBuffer, bytes: number): void {
    this.bytes += bytes
    if (buffer.bytes > 0) this.filled.add(buffer)
    else this.filled.delete(buffer)
    // a negative number comes from a watch that ends
    if (bytes > 0) while (this.bytes > this.most) largest(this.filled, (one) => one.bytes).endOne()
  }
}

/** The list has an element. */
const largest = <One>(all: Iterable<One>, sizeOf: (one: One) => number): One =>
  [...all].reduce((most, one) => (sizeOf(one) > sizeOf(most) ? one : most))

const ofThisIsolate = new WatchBuffers()

export interface BufferedWatch {
  readonly waitingBytes: number
  /** Ends the watch, which then leaves the buffer. */
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

  /** More bytes wait for a watch. */
  hold(watch: BufferedWatch, bytes: number): void {
    this.watches.add(watch)
    this.change(bytes)
    while (this.bytes > this.most) this.endOne()
  }

  /** Ends the watch that is furthest behind. */
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

  /** Drops the waiting bytes of a watch. */
  leave(watch: BufferedWatch): void {
    if (this.watches.delete(watch)) this.change(-watch.waitingBytes)
  }
}
