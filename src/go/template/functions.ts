/**
 * Functions of Go templates: those of text/template itself, and those of sprig that stages use. None makes a text of more
 * than MOST_TEXT characters on its way.
 */
import { ownValue } from '../../base/own.ts'
import { goQuote } from '../quote.ts'
import { TemplateError } from './tokens.ts'

export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value }
/** Characters of what a template writes, and of what a function makes. */
export const MOST_TEXT = 200_000

type Call = (...args: readonly Value[]) => Value

export const isMap = (value: Value | undefined): value is { readonly [name: string]: Value } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** As {{if}} has it: what is empty is not true. */
export function isTrue(value: Value | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return false
  if (Array.isArray(value)) return value.length > 0
  return !isMap(value) || keysOf(value).length > 0
}

/** Of maps that nobody changes: a template asks for them again and again. */
const known = new WeakMap<object, readonly string[]>()

/** In the order in which Go goes through them. */
export function keysOf(map: { readonly [name: string]: Value }): readonly string[] {
  let keys = known.get(map)
  if (keys === undefined) known.set(map, (keys = Object.keys(map).sort((a, b) => (a < b ? -1 : 1))))
  return keys
}

/** @throws TemplateError */
function joined(texts: Iterable<string>, separator = ''): string {
  let all = ''
  let isFirst = true
  for (const one of texts) {
    all += isFirst ? one : separator + one
    isFirst = false
    if (all.length > MOST_TEXT) throw new TemplateError(`more than ${MOST_TEXT} characters`)
  }
  return all
}

/** One at a time, as they are asked for. */
function* each<Item>(items: readonly Item[], make: (item: Item) => string): Generator<string> {
  for (const item of items) yield make(item)
}

/** As fmt.Print has it. */
export function printed(value: Value | undefined): string {
  if (value === null || value === undefined) return '<no value>'
  if (Array.isArray(value)) return `[${joined(each(value as readonly Value[], printed), ' ')}]`
  if (!isMap(value)) return String(value)
  return `map[${joined(
    each(keysOf(value), (key) => `${key}:${printed(ownValue(value, key))}`),
    ' ',
  )}]`
}

const isObject = (value: Value | undefined): boolean => typeof value === 'object' && value !== null

/** As sprig's: of a list and a map it is 0. */
const number = (value: Value | undefined): number => {
  if (isObject(value)) return 0
  const found = Number(typeof value === 'boolean' ? Number(value) : (value ?? 0))
  return Number.isFinite(found) ? Math.trunc(found) : 0
}
/** A parameter that is a text. Go converts no list and no map to one. @throws TemplateError */
function text(value: Value | undefined): string {
  if (isObject(value)) throw new TemplateError('a list or a map where a text is expected')
  return value === null || value === undefined ? '' : printed(value)
}

/** What is printed is a part of what the function makes, so it counts. */
const shown = (value: Value | undefined): string => (value === null || value === undefined ? '' : printed(value))

function isEqual(a: Value, b: Value): boolean {
  if (typeof a === 'object' && a !== null) throw new TemplateError('eq compares no lists and no maps')
  return a === b
}

function compared(a: Value | undefined, b: Value | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0
  throw new TemplateError('lt, le, gt and ge compare two numbers or two texts')
}

function indexed(value: Value, keys: readonly Value[]): Value {
  let now = value
  for (const key of keys) {
    if (Array.isArray(now)) {
      if (typeof key !== 'number' || !Object.hasOwn(now, key))
        throw new TemplateError(`index out of range: ${printed(key)}`)
      now = (now as readonly Value[])[key] ?? null
    } else if (isMap(now)) now = ownValue(now, text(key)) ?? null
    else throw new TemplateError('index of what is no list and no map')
  }
  return now
}

function sized(value: Value | undefined): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  if (isMap(value)) return keysOf(value).length
  throw new TemplateError('len of what has no length')
}

/** Verbs s, v, d, q, t and %, with a width. @throws TemplateError for others */
function formatted(format: Value | undefined, args: readonly Value[]): string {
  let next = 0
  let length = 0
  const counted = (shown: string): string => {
    length += shown.length
    if (length > MOST_TEXT) throw new TemplateError(`more than ${MOST_TEXT} characters`)
    return shown
  }
  return text(format).replaceAll(/%(-?0?)(\d{0,3})(.?)/g, (all, flags: string, width: string, verb: string) => {
    if (verb === '%') return '%'
    if (!/^[svdqt]$/.test(verb)) throw new TemplateError(`printf does not know ${all}`)
    const arg = args[next++] ?? null
    const one = verb === 'q' ? goQuote(shown(arg)) : printed(arg)
    if (flags.startsWith('-')) return counted(one.padEnd(Number(width)))
    return counted(one.padStart(Number(width), flags === '0' ? '0' : ' '))
  })
}

/** Lists within lists would double with each call. @throws TemplateError */
function flat(args: readonly Value[]): readonly Value[] {
  if (args.some(isObject)) throw new TemplateError('list and dict take texts, numbers and truth values')
  return args
}

function dict(...args: readonly Value[]): Value {
  const entries: [string, Value][] = []
  flat(args)
  for (let at = 0; at < args.length; at += 2) entries.push([text(args[at]), args[at + 1] ?? ''])
  return Object.fromEntries(entries)
}

const divided = (a: Value | undefined, b: Value | undefined, divide: (a: number, b: number) => number): number => {
  if (number(b) === 0) throw new TemplateError('division by zero')
  return divide(number(a), number(b))
}

const listed = (value: Value | undefined): readonly Value[] => (Array.isArray(value) ? (value as readonly Value[]) : [])

/** `and` and `or` are evaluated where they are called. */
export const builtIns: ReadonlyMap<string, Call> = new Map<string, Call>([
  ['and', () => null],
  ['or', () => null],
  ['not', (a = null) => !isTrue(a)],
  ['eq', (a = null, ...others) => others.some((b) => isEqual(a, b))],
  ['ne', (a = null, b = null) => !isEqual(a, b)],
  ['lt', (a, b) => compared(a, b) < 0],
  ['le', (a, b) => compared(a, b) <= 0],
  ['gt', (a, b) => compared(a, b) > 0],
  ['ge', (a, b) => compared(a, b) >= 0],
  ['index', (value = null, ...keys) => indexed(value, keys)],
  ['len', (value) => sized(value)],
  ['print', (...args) => joined(each(args, printed))],
  ['printf', (format, ...args) => formatted(format, args)],
  // sprig's, whose last argument is what is piped in
  ['dict', dict],
  ['list', (...args) => flat(args)],
  ['default', (other = null, value = null) => (isTrue(value) ? value : other)],
  ['coalesce', (...args) => args.find(isTrue) ?? null],
  ['empty', (value) => !isTrue(value)],
  ['ternary', (yes = null, no = null, value) => (isTrue(value) ? yes : no)],
  ['lower', (value) => text(value).toLowerCase()],
  ['upper', (value) => text(value).toUpperCase()],
  ['trim', (value) => text(value).trim()],
  [
    'trimPrefix',
    (prefix, value) => (text(value).startsWith(text(prefix)) ? text(value).slice(text(prefix).length) : text(value)),
  ],
  [
    'trimSuffix',
    (suffix, value) =>
      text(value).endsWith(text(suffix)) ? text(value).slice(0, text(value).length - text(suffix).length) : text(value),
  ],
  ['contains', (part, value) => text(value).includes(text(part))],
  ['hasPrefix', (prefix, value) => text(value).startsWith(text(prefix))],
  ['hasSuffix', (suffix, value) => text(value).endsWith(text(suffix))],
  [
    'quote',
    (...args) =>
      joined(
        each(
          args.filter((arg) => arg !== null),
          (arg) => goQuote(shown(arg)),
        ),
        ' ',
      ),
  ],
  ['toString', (value) => shown(value)],
  ['int', (value) => number(value)],
  ['int64', (value) => number(value)],
  ['add', (...args) => args.reduce<number>((sum, arg) => sum + number(arg), 0)],
  ['sub', (a, b) => number(a) - number(b)],
  ['mul', (...args) => args.reduce<number>((product, arg) => product * number(arg), 1)],
  ['div', (a, b) => divided(a, b, (x, y) => Math.trunc(x / y))],
  ['mod', (a, b) => divided(a, b, (x, y) => x % y)],
  ['hasKey', (map, key) => isMap(map) && Object.hasOwn(map, text(key))],
  ['get', (map, key) => (isMap(map) ? (ownValue(map, text(key)) ?? '') : '')],
  ['first', (value) => listed(value)[0] ?? null],
  ['last', (value) => listed(value).at(-1) ?? null],
  ['join', (separator, value) => joined(each(listed(value), shown), text(separator))],
])
