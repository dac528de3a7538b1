/**
 * The values of a list, gone on with where the stream broke. For a shard whose disk takes no writes: each write that
 * tries it ends the object, and with it the streams that it was sending.
 */
import { StorageError } from './errors.ts'

/** How often in a row a stream may break that brings nothing. */
const MAX_BREAKS = 5

/**
 * @param again the same list at the same revision, from its beginning: revisions do not change, so its bytes are the same
 */
export function unbroken(
  first: ReadableStream<Uint8Array>,
  again: () => Promise<ReadableStream<Uint8Array>>,
): ReadableStream<Uint8Array> {
  let reader = first.getReader()
  let passed = 0
  let toSkip = 0
  let breaks = 0
  const reopen = async (error: unknown): Promise<void> => {
    if (++breaks > MAX_BREAKS) throw new StorageError('Unavailable', 0, 0, String(error))
    reader = (await again()).getReader()
    toSkip = passed
  }
  return new ReadableStream({
    async pull(controller) {
      for (;;) {
        let next
        try {
          next = await reader.read()
        } catch (error) {
          await reopen(error)
          continue
        }
        if (next.done) return controller.close()
        const chunk = next.value.subarray(toSkip)
        toSkip = Math.max(0, toSkip - next.value.length)
        if (chunk.length === 0) continue
        breaks = 0
        passed += chunk.length
        return controller.enqueue(chunk)
      }
    },
    // A stream that broke cannot be cancelled, nor need it be.
    cancel: (reason) => reader.cancel(reason).catch(() => {}),
  })
}
