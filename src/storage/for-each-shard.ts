/** Shards that are asked at once. */
const AT_ONCE = 8

/** Walks over many shards. When it fails nothing of it is under way any more. */
export async function forEachShard<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const rest = [...items]
  for (let at = 0; at < rest.length; at += AT_ONCE) {
    const ended = await Promise.allSettled(rest.slice(at, at + AT_ONCE).map(work))
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  }
}
