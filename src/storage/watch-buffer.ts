/**
 * What waits for the watches of one user, whose clients do not take it as fast as it happens. When all of it is too
 * much, the watch that is furthest behind ends; its client comes back and goes on from what it has.
 */

/** Bytes of all watches of a user. */
const MAX_BYTES = 16 * 1024 * 1024

export interface BufferedWatch {
  readonly waitingBytes: number
  /** Ends it: it leaves the buffer. */
  tooSlow(): void
}

export class WatchBuffer {
  /** Bound: the open watches of the user. */
  private readonly watches = new Set<BufferedWatch>()
  private bytes = 0
  private readonly most: number

  constructor(most = MAX_BYTES) {
    this.most = most
  }

  /** So many bytes more wait for a watch. */
  hold(watch: BufferedWatch, bytes: number): void {
    this.watches.add(watch)
    this.bytes += bytes
    while (this.bytes > this.most)
      [...this.watches].reduce((most, one) => (one.waitingBytes > most.waitingBytes ? one : most)).tooSlow()
  }

  release(bytes: number): void {
    this.bytes -= bytes
  }

  /** What still waits for the watch is dropped. */
  leave(watch: BufferedWatch): void {
    if (this.watches.delete(watch)) this.bytes -= watch.waitingBytes
  }
}
