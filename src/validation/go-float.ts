/**
 * A number as Go's %v prints a float64: with an exponent below 1e-4 and from 1e6 on.
 * @param whole it is an int64 there, printed in full
 */
export function goFloat(value: number, whole = false): string {
  if (whole) return BigInt(value).toString()
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) {
    const [mantissa = '', exponent = ''] = value.toExponential().split('e')
    const digits = exponent.replace(/^[+-]/, '').padStart(2, '0')
    return `${mantissa}e${exponent.startsWith('-') ? '-' : '+'}${digits}`
  }
  return String(value)
}
