/**
 * Formats a float64 like Go's `%v` and `%g`: the shortest digits that parse to the same value. Numbers below 1e-4 and
 * from 1e6 on have an exponent.
 */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa = '', exponentText = ''] = value.toExponential().split('e')
  const exponent = Number(exponentText)
  // in this range JavaScript writes no exponent either
  if (exponent >= -4 && exponent < 6) return String(value)
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}
