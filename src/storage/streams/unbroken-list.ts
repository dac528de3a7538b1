/**
 * The values of a list in one stream that survives a restart of the shard. Where the stream breaks, the list is read
 * again and continues at the same byte. A shard whose disk takes no writes needs this: each attempted write restarts
 * the object, and breaks every stream that it sends.
 */
import { ON_DEMAND } from './byte-chunks.ts'
import { StorageError } from '../errors.ts'

/** Attempts in a row that may break without a byte. */
const MAX_BREAKS = 5

/** @param again reads the same list at the same revision from its start; its bytes are always the same */
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
  return new ReadableStream(
    {
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
      // a broken stream cannot be cancelled and need not be
      cancel: (reason) => reader.cancel(reason).catch(() => {}),
    },
    ON_DEMAND,
  )
}
