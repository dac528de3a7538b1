/**
 * Milliseconds that failures may take before the remaining items wait for the next attempt: a call to a dead webhook
 * takes up to 34 s.
 */
const BUDGET_MS = 30_000

/**
 * Does work for each item, even if some fail: an object that admission refuses must not hold back its siblings, which
 * have their own place in the queue of kube-controller-manager. The first item changes each second, so that an item
 * that fails slowly does not always delay the same items.
 * @throws the first failure, after all items were tried or failures took too long
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
