/**
 * The rest of a body that was refused. The platform closes a connection whose answer leaves before its body was read,
 * and the client, which is still sending, may never see the answer. The front of a local server sees to that itself.
 */

/** Bytes that are read of it: more than twice what a body may have. */
export const MOST_UNREAD = 8 * 1024 * 1024
/** Milliseconds that a client has for it. */
export const LONGEST_UNREAD = 5_000

/** Reads and drops the rest of a body, as long as it is no longer than a mistake would be. */
export async function readRest({ body }: Request): Promise<void> {
  if (body === null || body.locked) return
  const reader = body.getReader()
  const giveUp = (): void => void reader.cancel().catch(() => undefined)
  const timer = setTimeout(giveUp, LONGEST_UNREAD)
  try {
    for (let length = 0; length < MOST_UNREAD;) {
      const { done, value } = await reader.read()
      if (done) return
      length += value.length
    }
    giveUp()
  } catch {
    // the client has gone
  } finally {
    clearTimeout(timer)
  }
}
