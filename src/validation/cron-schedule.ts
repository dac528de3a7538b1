/**
 * Parses schedules of CronJobs: five fields or a descriptor. The error texts are those of robfig/cron's standard
 * parser.
 */
import { goQuote } from '../go/quote.ts'

interface Bounds {
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const fieldBounds: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
]

const DESCRIPTORS = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'])

/** @returns the error text for an invalid schedule */
export function scheduleProblem(schedule: string): string | undefined {
  let text = schedule
  if (text === '') return 'empty spec string'
  if (text.startsWith('TZ=') || text.startsWith('CRON_TZ=')) {
    const space = text.indexOf(' ')
    // kube-apiserver's parser panics where no schedule follows the zone
    if (space < 0) return `runtime error: slice bounds out of range [:-1]`
    const zone = text.slice(text.indexOf('=') + 1, space)
    if (!isZone(zone)) return `provided bad location ${zone}: unknown time zone ${zone}`
    text = text.slice(space).trim()
  }
  if (text.startsWith('@')) return descriptorProblem(text)
  const fields = text.split(/\s+/).filter((field) => field !== '')
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`
  for (const [index, field] of fields.entries()) {
    const problem = fieldProblem(field, fieldBounds[index]!)
    if (problem !== undefined) return problem
  }
  return undefined
}

function isZone(name: string): boolean {
  if (name === '' || name === 'Local' || name === 'UTC') return true
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

function descriptorProblem(text: string): string | undefined {
  if (DESCRIPTORS.has(text)) return undefined
  if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`
  const duration = text.slice('@every '.length)
  if (
    /^[-+]?(\d+(\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h))*$|^[-+]?0$/.test(
      duration,
    )
  )
    return undefined
  return `failed to parse duration ${text}: ${durationProblem(duration)}`
}

function durationProblem(text: string): string {
  if (/^[-+]?(\d+(\.\d*)?|\.\d+)$/.test(text)) return `time: missing unit in duration ${goQuote(text)}`
  const unit = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)([^\d.]+)/.exec(text)?.[1]
  return unit === undefined
    ? `time: invalid duration ${goQuote(text)}`
    : `time: unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`
}

function fieldProblem(field: string, bounds: Bounds): string | undefined {
  for (const range of field.split(',').filter((part) => part !== '')) {
    const problem = rangeProblem(range, bounds)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** `*`, `N`, `N-M`, each with `/STEP`. */
function rangeProblem(expression: string, bounds: Bounds): string | undefined {
  const [range = '', step, ...tooMany] = expression.split('/')
  const [low = '', high, ...more] = range.split('-')
  let start = bounds.min
  let end = bounds.max
  if (low !== '*' && low !== '?') {
    const first = numberOf(low, bounds)
    if (typeof first === 'string') return first
    start = end = first
    if (more.length > 0) return `too many hyphens: ${expression}`
    if (high !== undefined) {
      const last = numberOf(high, bounds)
      if (typeof last === 'string') return last
      end = last
    }
  }
  if (tooMany.length > 0) return `too many slashes: ${expression}`
  let every = 1
  if (step !== undefined) {
    const parsed = integer(step)
    if (typeof parsed === 'string') return parsed
    every = parsed
    if (high === undefined) end = bounds.max
  }
  if (start < bounds.min) return `beginning of range (${start}) below minimum (${bounds.min}): ${expression}`
  if (end > bounds.max) return `end of range (${end}) above maximum (${bounds.max}): ${expression}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${expression}`
  return every === 0 ? `step of range should be a positive number: ${expression}` : undefined
}

/** @returns the number, or an error text */
function numberOf(text: string, { names, min }: Bounds): number | string {
  const named = names?.indexOf(text.toLowerCase()) ?? -1
  return named >= 0 ? named + min : integer(text)
}

function integer(text: string): number | string {
  if (!/^[-+]?\d+$/.test(text))
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`
  const value = Number(text)
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER)
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: value out of range`
  return value < 0 ? `negative number (${value}) not allowed: ${text}` : value
}
