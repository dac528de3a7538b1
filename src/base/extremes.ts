/**
 * The minimum of any number of values. Math.min takes only as many as fit on the stack. Without values it is Infinity.
 * If one value is NaN, it is NaN.
 */
export function leastOf(values: Iterable<number>): number {
  let least = Infinity
  for (const value of values) least = Math.min(least, value)
  return least
}

/** The maximum of the values and of `floor`. */
export function mostOf(values: Iterable<number>, floor = -Infinity): number {
  let most = floor
  for (const value of values) most = Math.max(most, value)
  return most
}
