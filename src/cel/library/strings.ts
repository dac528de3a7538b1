/** cel-go's string functions, version 2. Positions count code points. Empty strings match at the positions as in Go. */
import { isAscii } from '../../base/utf8.ts'
import type { Library, Range } from '../declarations.ts'
import { plus, reading, times } from '../estimate.ts'
import { itemsOf, listFrom } from '../values/collections.ts'
import { noSuchOverload } from '../values/numbers.ts'
import { sizeOf, traversal } from '../values/runtime-size.ts'
import { DYN, INT, listOf, STRING } from '../checker/type.ts'
import type { Value } from '../values/value.ts'
import { visit, work } from '../evaluation/work.ts'
import { CelError, ListValue } from '../values/value.ts'
import { describe } from '../values/describe.ts'
import type { Costs, CostsOfResult } from './costs.ts'
import { readingOf, sameSize, traversing } from './costs.ts'
import { fn, member, overload, unary } from './declare.ts'
import { format, quoted } from './format.ts'
import { checkFormat } from './format-check.ts'

const STRINGS = listOf(STRING)

/** The types of arguments are checked before an overload runs, so these conversions hold. */
const text = (value: Value | undefined): string => value as string
const whole = (value: Value | undefined): number => Number(value as bigint)

const outOfRange = (index: number): CelError => new CelError(`index out of range: ${index}`)

function charAt([string, index]: readonly Value[]): Value {
  const chars = text(string)
  const at = whole(index)
  const units = at < 0 ? undefined : unitsOf(chars, at)
  if (units !== undefined) return String.fromCodePoint(chars.codePointAt(units)!)
  return at === sizeOf(chars) ? '' : outOfRange(at)
}

/** @param from position in code points */
function indexOf(string: string, part: string, from: number): Value {
  if (part === '') return BigInt(from)
  if (from < 0) return outOfRange(from)
  const start = unitsOf(string, from)
  const found = start === undefined ? -1 : string.indexOf(part, start)
  return found === -1 ? -1n : BigInt(sizeOf(string.slice(0, found)))
}

function lastIndexOf(string: string, part: string, from: number | undefined): Value {
  if (part === '') return BigInt(from ?? sizeOf(string))
  if (from === undefined && string.length < part.length) return -1n
  const begin = from ?? sizeOf(string) - 1
  if (begin < 0) return outOfRange(begin)
  const start = unitsOf(string, begin)
  const found = start === undefined ? -1 : string.lastIndexOf(part, start)
  return found === -1 ? -1n : BigInt(sizeOf(string.slice(0, found)))
}

/** The UTF-16 position of the code point at `index`. Undefined: the index is behind the end. */
function unitsOf(string: string, index: number): number | undefined {
  if (!/[\ud800-\udbff]/.test(string)) return index < string.length ? index : undefined
  let units = 0
  for (let i = 0; i < index; i++) {
    const point = string.codePointAt(units)
    if (point === undefined) return undefined
    units += point > 0xffff ? 2 : 1
  }
  return units < string.length ? units : undefined
}

function substring(string: string, start: number, end: number | undefined): Value {
  if (end !== undefined && start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`)
  const units: number[] = []
  for (const index of end === undefined ? [start] : [start, end]) {
    const at =
      index < 0 ? undefined : (unitsOf(string, index) ?? (index === sizeOf(string) ? string.length : undefined))
    if (at === undefined) return outOfRange(index)
    units.push(at)
  }
  return string.slice(units[0], units[1])
}

/** Go's strings.Replace. An empty `old` matches before each character and at the end. */
function replaced(string: string, old: string, by: string, count: number): string {
  if (count === 0 || old === by) return string
  const parts = old === '' ? ['', ...string] : string.split(old)
  const last = old === '' ? [''] : []
  const all = [...parts, ...last]
  const limit = count < 0 ? all.length - 1 : Math.min(count, all.length - 1)
  work(string.length + limit * by.length)
  return (
    all.slice(0, limit + 1).join(by) +
    all
      .slice(limit + 1)
      .map((part) => (old === '' ? part : old + part))
      .join('')
  )
}

/** Go's strings.SplitN. A negative count means all parts. Otherwise the last part is the rest of the text. */
function split(string: string, separator: string, count: number): Value {
  if (count === 0) return listFrom([])
  const parts = separator === '' ? [...string] : string.split(separator)
  if (count < 0 || parts.length <= count) return listFrom(parts)
  const head = parts.slice(0, count - 1)
  return listFrom([...head, parts.slice(count - 1).join(separator)])
}

function joined(list: Value | undefined, separator: string): Value {
  if (!(list instanceof ListValue)) return noSuchOverload()
  const parts: string[] = []
  visit(list.size)
  for (const item of itemsOf(list)) {
    if (typeof item !== 'string') return new CelError(`join: invalid input: ${describe(item)}`)
    work(item.length + separator.length)
    parts.push(item)
  }
  return parts.join(separator)
}

const WHITE_SPACE = '\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
const LEADING = new RegExp(`^[${WHITE_SPACE}]+`)

function trimmed(string: string): string {
  const begin = string.replace(LEADING, '')
  let end = begin.length
  while (end > 0 && LEADING.test(begin[end - 1]!)) end--
  return begin.slice(0, end)
}

const lower = (string: string): string =>
  isAscii(string) ? string.toLowerCase() : string.replace(/[A-Z]+/g, (part) => part.toLowerCase())
const upper = (string: string): string =>
  isAscii(string) ? string.toUpperCase() : string.replace(/[a-z]+/g, (part) => part.toUpperCase())

/** The cost of `replace`. The size of the result ranges from no replacement to the replacement of each character. */
const replacing: Costs = {
  cost: ([string]) => traversal(sizeOf(string!) * 2),
  estimate: (args, sizes) => {
    // the overloads have three parameters or more
    const [string, old, by] = args.slice(0, 3).map((argument) => sizes.sizeOf(argument)) as [Range, Range, Range]
    return { cost: reading(string, 0.2), resultSize: sizeOfReplaced(string, old, by) }
  },
}

/** The size of the result, with kube-apiserver's figures. An empty string matches around each character. */
function sizeOfReplaced(string: Range, old: Range, by: Range): Range {
  let [most, keptAtMost] = [0, 0]
  if (old.min === 0) [most, keptAtMost] = [string.max + 1, string.max]
  else if (by.max <= old.min) keptAtMost = string.max
  else most = Math.ceil(string.max / old.min)
  let [least, keptAtLeast] = [0, 0]
  if (old.max === 0) [least, keptAtLeast] = [string.min + 1, string.min]
  else if (old.max <= by.min) keptAtLeast = string.min
  else least = Math.ceil(string.min / old.max)
  return plus(times({ min: least, max: most }, by), { min: keptAtLeast, max: keptAtMost })
}

const splitting: Costs = {
  cost: ([string]) => traversal(sizeOf(string!) * 2),
  estimate: ([string, , limit], sizes) => {
    const size = sizes.sizeOf(string!)
    const count = limit?.expression.kind === 'literal' ? limit.expression.value : undefined
    const max = typeof count === 'bigint' ? Number(BigInt.asUintN(64, count)) : size.max
    return { cost: reading(size, 0.2), resultSize: { min: 0, max } }
  },
}

const NOTHING: Range = { min: 0, max: 0 }

const joining: CostsOfResult = {
  costOfResult: (result) => traversal(sizeOf(result) * 2),
  estimate: ([items, separator], sizes) => {
    const count = sizes.sizeOf(items!)
    const between = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) }
    const parts = items!.type.kind === 'list' ? times(count, sizes.sizeOfElements(items!)) : NOTHING
    const size = separator === undefined ? parts : plus(parts, times(sizes.sizeOf(separator), between))
    return { cost: reading(size), resultSize: size }
  },
}

export const strings: Library = {
  name: 'strings',
  functions: [
    fn('charAt', member('string_char_at_int', [STRING, INT], STRING, { run: charAt })),
    fn(
      'indexOf',
      member('string_index_of_string', [STRING, STRING], INT, {
        ...traversing,
        run: ([string, part]) => indexOf(text(string), text(part), 0),
      }),
      member('string_index_of_string_int', [STRING, STRING, INT], INT, {
        ...traversing,
        run: ([string, part, from]) => indexOf(text(string), text(part), whole(from)),
      }),
    ),
    fn(
      'lastIndexOf',
      member('string_last_index_of_string', [STRING, STRING], INT, {
        ...traversing,
        run: ([string, part]) => lastIndexOf(text(string), text(part), undefined),
      }),
      member('string_last_index_of_string_int', [STRING, STRING, INT], INT, {
        ...traversing,
        run: ([string, part, from]) => lastIndexOf(text(string), text(part), whole(from)),
      }),
    ),
    fn(
      'lowerAscii',
      member('string_lower_ascii', [STRING], STRING, {
        ...readingOf(0, 1, sameSize),
        run: ([string]) => lower(text(string)),
      }),
    ),
    fn(
      'upperAscii',
      member('string_upper_ascii', [STRING], STRING, {
        ...readingOf(0, 1, sameSize),
        run: ([string]) => upper(text(string)),
      }),
    ),
    fn(
      'trim',
      member('string_trim', [STRING], STRING, {
        ...readingOf(0, 1, sameSize),
        run: ([string]) => trimmed(text(string)),
      }),
    ),
    fn(
      'replace',
      member('string_replace_string_string', [STRING, STRING, STRING], STRING, {
        ...replacing,
        run: ([string, old, by]) => replaced(text(string), text(old), text(by), -1),
      }),
      member('string_replace_string_string_int', [STRING, STRING, STRING, INT], STRING, {
        ...replacing,
        run: ([string, old, by, count]) => replaced(text(string), text(old), text(by), whole(count)),
      }),
    ),
    fn(
      'split',
      member('string_split_string', [STRING, STRING], STRINGS, {
        ...splitting,
        run: ([string, separator]) => split(text(string), text(separator), -1),
      }),
      member('string_split_string_int', [STRING, STRING, INT], STRINGS, {
        ...splitting,
        run: ([string, separator, count]) => split(text(string), text(separator), whole(count)),
      }),
    ),
    fn(
      'substring',
      member('string_substring_int', [STRING, INT], STRING, {
        ...readingOf(0, 1, sameSize),
        run: ([string, start]) => substring(text(string), whole(start), undefined),
      }),
      member('string_substring_int_int', [STRING, INT, INT], STRING, {
        ...readingOf(0, 1, sameSize),
        run: ([string, start, end]) => substring(text(string), whole(start), whole(end)),
      }),
    ),
    {
      ...fn(
        'format',
        member('string_format', [STRING, listOf(DYN)], STRING, {
          ...readingOf(0),
          run: ([string, args]) => (args instanceof ListValue ? format(text(string), args) : noSuchOverload()),
        }),
      ),
      verify: checkFormat,
    },
    fn(
      'strings.quote',
      overload('strings_quote', [STRING], STRING, {
        ...readingOf(0, 1, ({ min, max }) => ({ min: min + 2, max: max * 2 + 2 })),
        run: unary((string) => quoted(text(string))),
      }),
    ),
    fn(
      'join',
      member('list_join', [STRINGS], STRING, { ...joining, run: ([list]) => joined(list, '') }),
      member('list_join_string', [STRINGS, STRING], STRING, {
        ...joining,
        run: ([list, separator]) => joined(list, text(separator)),
      }),
    ),
  ],
}
