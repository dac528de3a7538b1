// The read buffer for answers of the engine and of other servers. Node allocates 64 KiB for each read of a socket, of
// which an answer seldom fills half. V8 collects its whole heap each time when that much memory outside of it was
// allocated. So all connections read into the same block, and copy from it.

/** Shared by all connections: the bytes are copied before the next read. */
export const arriving = Buffer.allocUnsafeSlow(64 << 10)

/** Shorter copies use the blocks from which Node cuts small buffers. */
const SHORT = 4 << 10

/** Free blocks. Bound: MOST_FREE. */
const free: Buffer[] = []
const MOST_FREE = 32

/** @returns the octets that arrived, and for long ones a function to call when they are no longer needed */
export function copied(length: number): readonly [copy: Buffer, done?: () => void] {
  if (length < SHORT) {
    const copy = Buffer.allocUnsafe(length)
    arriving.copy(copy, 0, 0, length)
    return [copy]
  }
  const block = free.pop() ?? Buffer.allocUnsafeSlow(arriving.length)
  arriving.copy(block, 0, 0, length)
  return [block.subarray(0, length), () => void (free.length < MOST_FREE && free.push(block))]
}
