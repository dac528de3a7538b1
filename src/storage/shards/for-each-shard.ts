/** Shards that are called at once. */
const AT_ONCE = 8

/** Calls `work` for many shards. When it fails, none of its calls is still in progress. */
export async function forEachShard<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const rest = [...items]
  for (let at = 0; at < rest.length; at += AT_ONCE) {
    const ended = await Promise.allSettled(rest.slice(at, at + AT_ONCE).map(work))
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  }
}
