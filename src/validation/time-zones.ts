/** Names of time zones, as far as this runtime knows the zones of IANA. */

/** The error in the name of a zone, if there is one. */
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

/** Names are files to kube-apiserver: their case counts. */
function isKnown(name: string): boolean {
  if (name === 'UTC') return true
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
  } catch {
    return false
  }
  return name === name.toUpperCase() || /[A-Z]/.test(name.charAt(0)) || name.startsWith('posix')
}
