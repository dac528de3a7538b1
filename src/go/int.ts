/** The most digits of a 64-bit number. A longer number is out of range, and BigInt takes long for it. */
export const MAX_DIGITS = 20

/** How many digits a text of decimal digits has, without leading zeros. */
export function digitsOf(text: string): number {
  const first = text.search(/[1-9]/)
  return first < 0 ? 0 : text.length - first
}

/** Go's strconv.ParseInt(text, 10, 64). */
export function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text) || digitsOf(text) > MAX_DIGITS) return undefined
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return BigInt.asIntN(64, value) === value ? value : undefined
}

/** The int64 after this one. After the largest comes the smallest. */
export function nextInt64(value: number | bigint): number | bigint {
  if (typeof value === 'number' && value < Number.MAX_SAFE_INTEGER) return value + 1
  const next = BigInt.asIntN(64, BigInt(value) + 1n)
  return Number.isSafeInteger(Number(next)) ? Number(next) : next
}
