/** Formats durations for tables (apimachinery's duration.HumanDuration). */

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** `30s`, `5m30s`, `4h10m`, `3d`, `2y40d`: two or three significant figures. Below minus one second: `<invalid>`. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / SECOND)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(milliseconds / MINUTE)
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(milliseconds / HOUR)
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 24 * 8) return pair(days, 'd', hours % 24, 'h')
  if (hours < 24 * 365 * 2) return `${days}d`
  const years = Math.trunc(days / 365)
  return hours < 24 * 365 * 8 ? pair(years, 'y', days % 365, 'd') : `${years}y`
}

const pair = (whole: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${whole}${unit}` : `${whole}${unit}${rest}${restUnit}`

/** The age of a time. A field that the encoder always writes is null without a time. */
export const since = (time: string | null | undefined, now: Date): string =>
  time ? humanDuration(now.getTime() - Date.parse(time)) : '<unknown>'
