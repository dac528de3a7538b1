/** Validates names of IANA time zones. The runtime decides which zones exist. */

/** @returns the error text for an invalid name */
export function timeZoneProblem(name: string): string | undefined {
  if (name === '') return 'timeZone must be nil or non-empty string'
  const isWritten = (part: string) =>
    part !== '.' && part !== '..' && /^[A-Za-z._0-9+][-A-Za-z._0-9+]{0,13}$/.test(part)
  if (!name.split('/').every(isWritten)) return `unknown time zone ${name}`
  if (name.toLowerCase() === 'local')
    return 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'
  if (name.includes('..')) return 'time: invalid location name'
  return isKnown(name) ? undefined : `unknown time zone ${name}`
}

/** kube-apiserver opens a file of this name, so names are case-sensitive. */
function isKnown(name: string): boolean {
  if (name === 'UTC') return true
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
  } catch {
    return false
  }
  return name === name.toUpperCase() || /[A-Z]/.test(name.charAt(0)) || name.startsWith('posix')
}
