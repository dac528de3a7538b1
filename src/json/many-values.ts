/** Whether a JSON value contains more than `most` values. It visits no more than that. */
export function hasMoreValues(value: unknown, most: number): boolean {
  let left = most
  const fits = (one: unknown): boolean => {
    if (--left < 0) return false
    if (typeof one !== 'object' || one === null) return true
    if (Array.isArray(one)) return one.every(fits)
    // own keys: Object.keys names no others
    return Object.keys(one).every((name) => fits(one[name as keyof typeof one]))
  }
  return !fits(value)
}
