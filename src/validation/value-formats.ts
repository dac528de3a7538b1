/** The string formats of schemas that kube-apiserver validates (kube-openapi's pkg/validation/strfmt). */
import { byteLength } from '../base/utf8.ts'
import { lazy } from '../base/lazy.ts'
import { ownValue } from '../base/own.ts'
import { corruptAt } from '../base/base64.ts'
import { parseDuration } from '../schema/time.ts'

/** The format; '' where the format has no effect on values of these types. */
export function effectiveFormat(format: unknown, types: readonly string[]): string {
  if (typeof format !== 'string' || format === '') return ''
  const type = types.length === 1 ? types[0] : ''
  switch (type) {
    case 'integer':
      return format === 'int32' || format === 'int64' ? format : ''
    case 'number':
      return format === 'float' || format === 'double' ? format : ''
    case '':
    case 'string':
      return Object.hasOwn(formats, nameOf(format)) ? format : ''
    default:
      return ''
  }
}

/** Whether kube-apiserver knows the format for values of these types. */
export const isKnownFormat = (format: string, types: readonly string[]): boolean =>
  format === '' || effectiveFormat(format, types) !== ''

/** Dashes do not count: `date-time` is `datetime`. */
const nameOf = (format: string) => format.replaceAll('-', '')

export const hasFormat = (format: string, text: string): boolean => ownValue(formats, nameOf(format))?.(text) ?? true

const matches = (pattern: RegExp) => (text: string) => pattern.test(text)

/** Accepts leading zeros, like Go's parser before 1.17. */
const isIPv4 = (text: string) => /^\d+(?:\.\d+){3}$/.test(text) && text.split('.').every((part) => Number(part) <= 255)

function isIPv6(text: string): boolean {
  if (!text.includes(':')) return false
  const tail = text.lastIndexOf(':')
  let groups = text
  if (text.includes('.')) {
    if (!isIPv4(text.slice(tail + 1))) return false
    groups = `${text.slice(0, tail + 1)}0:0`
  }
  const halves = groups.split('::')
  if (halves.length > 2) return false
  const parts = halves.flatMap((half) => (half === '' ? [] : half.split(':')))
  if (!parts.every((part) => /^[0-9a-f]{1,4}$/i.test(part))) return false
  return halves.length === 2 ? parts.length < 8 : parts.length === 8
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/')
  if (more.length > 0 || !/^\d{1,3}$/.test(bits)) return false
  return isIPv4(address) ? Number(bits) <= 32 : isIPv6(address) && Number(bits) <= 128
}

/** First use compiles it. The engine would compile a literal, with Unicode's tables, at every start. */
const hostname = lazy(
  () =>
    new RegExp(
      String.raw`^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$`,
      'u',
    ),
)

const isHostname = (text: string) =>
  byteLength(text) <= 255 && hostname().test(text) && text.split('.').every((part) => byteLength(part) <= 63)

/** Accepts the addresses of Go's mail.ParseAddress: a plain one, or a name and an address in angle brackets. */
function isEmail(text: string): boolean {
  const inBrackets = /^[^<>]*<([^<>]+)>\s*$/.exec(text)
  const address = (inBrackets?.[1] ?? text).trim()
  return /^(?:[^\s@"(),:;<>[\]\\.]+(?:\.[^\s@"(),:;<>[\]\\.]+)*|"[^"\\]+")@(?:[^\s@"(),:;<>[\]\\.]+(?:\.[^\s@"(),:;<>[\]\\.]+)*|\[[^\]\s]+\])$/.test(
    address,
  )
}

/** Accepts the URIs of Go's url.ParseRequestURI: an absolute URI or an absolute path. */
function isUri(text: string): boolean {
  // eslint-disable-next-line no-control-regex
  if (text === '' || /[\x00-\x1f\x7f]/.test(text) || /%(?![0-9a-f]{2})/i.test(text)) return false
  if (text === '*') return true
  const scheme = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(text)
  if (scheme === null) return text.startsWith('/')
  const rest = scheme[2]!
  if (!rest.startsWith('/')) return rest !== '' || true
  const host = /^\/\/([^/?#]*)/.exec(rest)?.[1]
  return (
    host === undefined ||
    // pattern: the text in brackets has no brackets, so that the search visits each part once
    (!/[\s<>"]/.test(host) && /^(?:[^:[\]]*|.*\[[^[\]]*\])(?::\d*)?$/.test(host.replace(/^.*@/, '')))
  )
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isDate(text: string): boolean {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (found === null) return false
  const [year, month, day] = found.slice(1).map(Number) as [number, number, number]
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return month >= 1 && month <= 12 && day >= 1 && day <= MONTH_DAYS[month - 1]! + (month === 2 && isLeap ? 1 : 0)
}

function isDateTime(text: string): boolean {
  const [date = '', time, ...more] = text.toLowerCase().split('t')
  if (time === undefined || more.length > 0 || !isDate(date)) return false
  const found = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/.exec(time)
  return found !== null && Number(found[1]) <= 23 && Number(found[2]) <= 59 && Number(found[3]) <= 59
}

/** Accepts the durations of Go's time.ParseDuration, or a number and a word: `3 days`. */
function isDuration(text: string): boolean {
  try {
    parseDuration(text)
    return true
  } catch {
    // a match begins only at the first digit of a number; beginning at every digit would take quadratic time
    // pattern: a match begins once in each run of digits
    const words = [...text.matchAll(/(?<!\d)\d+\s*([A-Za-z\u00b5]+)/g)]
    return words.some(([, unit = '']) =>
      /^(?:ns|nano.*|us|\u00b5s|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr.*|hour.*|d|day.*|w|wk.*|week.*)$/i.test(unit),
    )
  }
}

const digitsOf = (text: string) => text.replace(/[\s-]+/g, '')

function isIsbn10(text: string): boolean {
  const digits = digitsOf(text)
  if (!/^(?:\d{9}X|\d{10})$/.test(digits)) return false
  const sum = [...digits].reduce((total, digit, at) => total + (10 - at) * (digit === 'X' ? 10 : Number(digit)), 0)
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = digitsOf(text)
  if (!/^\d{13}$/.test(digits)) return false
  return [...digits].reduce((total, digit, at) => total + Number(digit) * (at % 2 === 0 ? 1 : 3), 0) % 10 === 0
}

const CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(?:222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11}|6[27][0-9]{14})$/

/** A known form of number with a valid Luhn checksum. */
function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '')
  if (!CARD.test(digits)) return false
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

const isMac = matches(
  /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}(?:(?:\1[0-9a-f]{2}){2}|(?:\1[0-9a-f]{2}){14})?|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4})?|[0-9a-f]{4}(?:\.[0-9a-f]{4}){9})$/i,
)

const byte = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9]|0[0-9]{1,2})'

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: matches(/^[0-9a-f]{24}$/i),
  uri: isUri,
  email: isEmail,
  hostname: isHostname,
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  mac: isMac,
  uuid: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid3: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid4: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  uuid5: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: matches(/^\d{3}[- ]\d{2}[- ]\d{4}$/),
  hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: matches(new RegExp(`^rgb\\(\\s*${byte}\\s*,\\s*${byte}\\s*,\\s*${byte}\\s*\\)$`)),
  byte: (text) =>
    /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text) && corruptAt(text) === undefined,
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text),
  k8slongname: (text) =>
    text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text),
}
