// Where answers of the engine, and of servers outside, arrive. Node makes 64 KiB anew for each read of a socket, of which
// an answer seldom fills the half; V8 looks through its whole heap each time that so much memory has come outside of it.
// What arrives on any connection is read into the same place here, and copied.

/** Of all connections: it is copied before anything else is read. */
export const arriving = Buffer.allocUnsafeSlow(64 << 10)

/** Shorter ones share the blocks that Node cuts small buffers from. */
const SHORT = 4 << 10

/** Blocks that nobody looks at. Bound: MOST_FREE. */
const free: Buffer[] = []
const MOST_FREE = 32

/** @returns the octets that arrived, and for long ones what is to be called when nobody looks at them any more */
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
