/** Milliseconds that failures may take before the rest waits for the next attempt: a webhook that is dead takes up to 34 s. */
const BUDGET_MS = 30_000

/**
 * Does work for each item, whatever becomes of the others: what admission refuses holds its siblings back no more than in
 * kube-controller-manager, where each has a place of its own in the queue. It begins elsewhere each second, so that no
 * item whose failure takes long keeps the others from their turn.
 * @throws the first failure, when all were tried or failures took too long
 */
export async function forEachAnyway<Item>(
  items: readonly Item[],
  now: () => Date,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  const start = items.length === 0 ? 0 : Math.floor(now().getTime() / 1000) % items.length
  let left = BUDGET_MS
  for (const item of [...items.slice(start), ...items.slice(0, start)]) {
    if (left <= 0) break
    const began = now().getTime()
    try {
      await work(item)
    } catch (error) {
      failures.push(error)
      left -= now().getTime() - began
    }
  }
  if (failures.length > 0) throw failures[0]
}
