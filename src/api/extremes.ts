/** The least of any number of numbers, where Math.min takes as many as fit on the stack. Infinity for none; NaN where one is. */
export function leastOf(values: Iterable<number>): number {
  let least = Infinity
  for (const value of values) least = Math.min(least, value)
  return least
}

/** The most of them, and of `floor`. */
export function mostOf(values: Iterable<number>, floor = -Infinity): number {
  let most = floor
  for (const value of values) most = Math.max(most, value)
  return most
}
