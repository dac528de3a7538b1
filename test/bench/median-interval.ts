// The confidence interval of a median by the sign test. It assumes no distribution of the values, so a few turns that
// other processes disturb move it by a few ranks at most.

/**
 * @param values more than five, in any order
 * @param confidence the least probability that the interval contains the true median
 * @returns the lower and the upper bound
 */
export function medianInterval(values: readonly number[], confidence = 0.95): readonly [number, number] {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = lowestRank(sorted.length, (1 - confidence) / 2)
  if (rank < 0) throw new Error(`${values.length} values are too few for an interval of ${confidence}`)
  return [sorted[rank]!, sorted[sorted.length - 1 - rank]!]
}

/**
 * The highest rank (0: the least value) below which the median lies with at most this probability; -1 if there is none.
 */
function lowestRank(count: number, chance: number): number {
  // `below` values lie under the median with the probability of coin tosses: first for 0, then for one more each time
  let logChance = -count * Math.LN2
  let sum = 0
  for (let below = 0; below < count / 2; below++) {
    sum += Math.exp(logChance)
    if (sum > chance) return below - 1
    logChance += Math.log((count - below) / (below + 1))
  }
  return -1
}
