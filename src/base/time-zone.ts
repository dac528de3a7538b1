/**
 * The offset of a time zone from UTC in seconds, at a time in seconds since 1970. East of UTC it is positive.
 * @param zone a name of the IANA database
 * @throws RangeError for a name that this runtime does not know
 */
export function offsetOfZone(zone: string): (time: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return (time) => {
    const parts = new Map(format.formatToParts(new Date(time * 1000)).map(({ type, value }) => [type, value]))
    const part = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name))
    const local = new Date(0)
    local.setUTCFullYear(parts.get('era') === 'BC' ? 1 - part('year') : part('year'), part('month') - 1, part('day'))
    local.setUTCHours(part('hour'), part('minute'), part('second'))
    return local.getTime() / 1000 - time
  }
}
