/** Go's strconv.ParseInt(text, 10, 64). */
export function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return BigInt.asIntN(64, value) === value ? value : undefined
}

/** The int64 after this one. After the largest comes the smallest. */
export function nextInt64(value: number | bigint): number | bigint {
  if (typeof value === 'number' && value < Number.MAX_SAFE_INTEGER) return value + 1
  const next = BigInt.asIntN(64, BigInt(value) + 1n)
  return Number.isSafeInteger(Number(next)) ? Number(next) : next
}
