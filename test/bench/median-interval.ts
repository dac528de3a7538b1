// How far a median can be trusted: the interval that a sign test does not refuse. It supposes nothing of how the values
// are spread, so a few turns in which the machine did something else move it by a few ranks and no more.

/**
 * @param values any number above five, in any order
 * @param confidence that the median of all values that there could be lies within; at least this
 * @returns the least and the most
 */
export function medianInterval(values: readonly number[], confidence = 0.95): readonly [number, number] {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = lowestRank(sorted.length, (1 - confidence) / 2)
  if (rank < 0) throw new Error(`${values.length} values are too few for an interval of ${confidence}`)
  return [sorted[rank]!, sorted[sorted.length - 1 - rank]!]
}

/** The highest rank (0: the least value) below which the median lies with at most this chance; -1: there is none. */
function lowestRank(count: number, chance: number): number {
  // of `below` values under the median, as tosses of a coin: the chance of 0, then of one more
  let logChance = -count * Math.LN2
  let sum = 0
  for (let below = 0; below < count / 2; below++) {
    sum += Math.exp(logChance)
    if (sum > chance) return below - 1
    logChance += Math.log((count - below) / (below + 1))
  }
  return -1
}
