/** Milliseconds that failures may take before the rest waits for the next attempt: a webhook that is dead takes up to 34 s. */
const BUDGET_MS = 30_000

/**
 * Does work for each item, even if some fail: an object that admission refuses holds back its siblings no more than in
 * kube-controller-manager, where each has its own place in the queue. It begins with another item each second, so that
 * an item whose failure takes long does not keep the others waiting.
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
