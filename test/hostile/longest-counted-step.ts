/** Finds the longest step of a request to a counted server: the most work that it does without yielding. */
import type * as Target from '../bench/memory-target.ts'
import type { Definition, Put, Send } from '../bench/memory-target.ts'
import type { Counted } from './counted-bundle.ts'
import { countedBundle } from './counted-bundle.ts'

export interface Step {
  readonly status: number
  readonly text: string
  /** Function calls, loop iterations and built-in operations on whole values (counted-bundle.ts). */
  readonly work: number
  /** The call stack that the samples of the step met most often. */
  readonly seen: string
  /** Long lists and maps in which a walk stopped and which its next run built again (src/base/parts.ts). */
  readonly lost: readonly string[]
}

export interface CountedServer {
  readonly send: Send
  readonly put: Put
  longestStep(call: Parameters<Send>[0]): Promise<Step>
  restore(): void
}

export async function countedServer(definitions: readonly Definition[] = []): Promise<CountedServer> {
  const { counted$, lost, memoryTarget } = await countedBundle<typeof Target>('memory-target.ts')
  const restored = countNatives(counted$)
  const send = await memoryTarget({ KEDGE_FEATURE_GATES: 'CBORServingAndStorage=true' }, definitions)
  return {
    send,
    put: send.put,
    longestStep: (call) => longestStep(counted$, lost, send, call),
    restore: () => restored.forEach((restore) => restore()),
  }
}

/** A list of at most so many items may be built again. */
const FEW = 32

async function longestStep(
  counted: Counted,
  lost: typeof Target.lost,
  send: Send,
  call: Parameters<Send>[0],
): Promise<Step> {
  const made: string[] = []
  lost.tell = (owner, items) => {
    if (items > FEW) made.push(`${items} of ${JSON.stringify(owner, withoutNumbers)?.slice(0, 200)}`)
  }
  const EVERY = 500
  const longest = { work: 0, seen: '' }
  let before = counted.work
  let seen = new Map<string, number>()
  let isOver = false
  counted.seen = () => {
    const at = callers()
    seen.set(at, (seen.get(at) ?? 0) + 1)
    counted.next = counted.work + EVERY
  }
  const look = (): void => {
    const work = counted.work - before
    if (work > longest.work) {
      const [most] = [...seen].sort(([, a], [, b]) => b - a)
      Object.assign(longest, { work, seen: most?.[0] ?? '' })
    }
    seen = new Map()
    before = counted.work
    counted.next = before + EVERY
    if (!isOver) setImmediate(look)
  }
  look()
  const { status, text } = await send(call)
  isOver = true
  look()
  counted.next = Infinity
  lost.tell = undefined
  return { ...longest, status, text, lost: made }
}

/** JSON.stringify cannot write a bigint, so its text stands for it. */
const withoutNumbers = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

/** The names of the calling functions, without line numbers: these belong to a bundle that was deleted. */
function callers(): string {
  const { prepareStackTrace } = Error
  Error.prepareStackTrace = (_, frames) =>
    frames
      .slice(3)
      .map((frame) => frame.getFunctionName() ?? 'a function')
      .join(' < ')
  const { stack = '' } = new Error()
  Error.prepareStackTrace = prepareStackTrace
  return stack
}

/**
 * Converts a built-in operation on a whole value into function calls that take as long: some thirty nanoseconds each.
 * V8 keeps an object of many members as a hash table, which costs many times as much to copy as a small object.
 */
const WIDE = 64
const CHARACTERS = 64
const MEMBERS = 16
const OF_WIDE = { keys: 4, values: 4, entries: 10, made: 6, copied: 16, parsed: 8, written: 6, sorted: 8 }

function countNatives(into: Counted): (() => void)[] {
  const { parse, stringify } = JSON
  const { keys, values, entries, fromEntries } = Object
  const { sort } = Array.prototype
  const clone = structuredClone
  const spend = (members: number, ofWide: number): void => {
    into.work += members < WIDE ? members / MEMBERS : members * ofWide
  }
  const listed =
    <Of>(list: (of: object) => Of[], ofWide: number) =>
    (of: object): Of[] => {
      const found = list(of)
      if (Array.isArray(of)) into.work += found.length / MEMBERS
      else spend(found.length, ofWide)
      return found
    }
  const spendWide = (value: unknown, ofWide: number): void => {
    if (typeof value !== 'object' || value === null) return
    const members = values(value)
    if (!Array.isArray(value) && members.length >= WIDE) into.work += members.length * ofWide
    for (const member of members) spendWide(member, ofWide)
  }
  into.copied = (value) => {
    if (Array.isArray(value)) into.work += value.length / MEMBERS
    else if (value instanceof Set || value instanceof Map) into.work += value.size / MEMBERS
    else if (typeof value === 'object' && value !== null && !(Symbol.iterator in value))
      spend(keys(value).length, OF_WIDE.copied)
  }
  JSON.parse = (text: string, ...more) => {
    const value = parse(text, ...more) as unknown
    into.work += text.length / CHARACTERS
    spendWide(value, OF_WIDE.parsed)
    return value
  }
  JSON.stringify = (value: unknown, ...more: never[]): string => {
    const text = stringify(value, ...more)
    into.work += ((text as string | undefined)?.length ?? 0) / CHARACTERS
    spendWide(value, OF_WIDE.written)
    return text
  }
  Object.assign(Object, {
    keys: listed(keys, OF_WIDE.keys),
    values: listed(values, OF_WIDE.values),
    entries: listed(entries, OF_WIDE.entries),
    fromEntries: (pairs: Iterable<readonly [PropertyKey, unknown]>) => {
      const made = fromEntries(pairs) as object
      spend(keys(made).length, OF_WIDE.made)
      return made
    },
  })
  Array.prototype.sort = function (this: unknown[], compare) {
    if (compare === undefined) into.work += this.length * (this.length < WIDE ? 1 : OF_WIDE.sorted)
    return sort.call(this, compare)
  }
  globalThis.structuredClone = (value, options) => {
    // a call may answer nothing
    into.work += (stringify(value) as string | undefined)?.length ?? 0
    return clone(value, options)
  }
  return [
    () => Object.assign(JSON, { parse, stringify }),
    () => Object.assign(Object, { keys, values, entries, fromEntries }),
    () => Object.assign(Array.prototype, { sort }),
    () => Object.assign(globalThis, { structuredClone: clone }),
  ]
}
