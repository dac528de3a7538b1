/** The errors of decoding, and the list of strict problems: unknown and repeated fields. */
import type { GroupVersionKind } from '../../api/group-version.ts'
import { forAsLong, kept } from '../../base/parts.ts'
import { goQuote } from '../../go/quote.ts'
import type { JsonTree } from '../../json/json.ts'
import { RepeatedMembers } from '../../json/json.ts'
import { NumberLiteral } from '../../json/numbers.ts'

/** A value does not fit its type. `message` is Go's. */
export class DecodeError extends Error {
  override readonly name: string = 'DecodeError'
}

/** encoding/json's UnmarshalTypeError. Its text names the field; the callers of a decoder add the path before it. */
export class TypeMismatch extends DecodeError {
  constructor(
    readonly value: string,
    readonly goType: string,
    readonly struct = '',
    readonly field = '',
  ) {
    const place = struct === '' && field === '' ? 'value' : `struct field ${struct}.${field}`
    super(`json: cannot unmarshal ${value} into Go ${place} of type ${goType}`)
  }
}

export const MAX_STRICT_ERRORS = 100

/** More than the number of fields in any struct. */
export const MANY_NAMES = 256

/**
 * An object or list on the path to the current value, and the number of its members that were read. It refers to the
 * level around it, so that only an error makes the text of a path: there may be 10,000 levels.
 */
interface Level {
  readonly above: Level | undefined
  /** Its name or index in the level above. */
  readonly place: string | number
  readonly members: readonly (JsonTree | undefined)[]
  /** Undefined for a list. */
  readonly names: readonly string[] | undefined
  readonly seen: Set<string> | undefined
  next: number
}

function levelOf(value: object, above: Level | undefined, place: string | number): Level {
  if (Array.isArray(value)) return { above, place, members: value, names: undefined, seen: undefined, next: 0 }
  if (!(value instanceof RepeatedMembers))
    return { above, place, members: Object.values(value), names: Object.keys(value), seen: undefined, next: 0 }
  const { entries } = value
  const members = entries.map(([, one]) => one)
  return { above, place, members, names: entries.map(([name]) => name), seen: new Set(), next: 0 }
}

function pathOf(level: Level, name: string): string {
  const parts: (string | number)[] = [name]
  for (let at: Level | undefined = level; at?.above !== undefined; at = at.above) parts.push(at.place)
  let path = ''
  for (const part of parts.reverse()) path += typeof part === 'number' ? `[${part}]` : path === '' ? part : `.${part}`
  return path
}

/** Reports repeated members without recursion, because a tree may have 10,000 levels. */
export function reportRepeated(tree: JsonTree, strict: string[]): void {
  if (typeof tree !== 'object' || tree === null) return
  const walk = kept(tree, () => ({ level: undefined as Level | undefined, hasBegun: false }))
  const enter = (value: JsonTree | undefined, place: string | number): void => {
    if (typeof value !== 'object' || value === null) return
    if (!(value instanceof NumberLiteral)) walk.level = levelOf(value, walk.level, place)
    else if (!Number.isFinite(Number(value.text))) throw new TypeMismatch(`number ${value.text}`, 'float64')
  }
  if (!walk.hasBegun) enter(tree, '')
  walk.hasBegun = true
  forAsLong(() => {
    const { level } = walk
    if (level === undefined) return false
    const at = level.next++
    if (at === level.members.length) {
      walk.level = level.above
      return true
    }
    const name = level.names?.[at]
    if (name !== undefined && level.seen !== undefined) {
      if (strict.length < MAX_STRICT_ERRORS && level.seen.has(name))
        saveStrict(strict, `duplicate field ${goQuote(pathOf(level, name))}`)
      level.seen.add(name)
    }
    enter(level.members[at], name ?? at)
    return true
  })
}

export function saveStrict(strict: string[], text: string): void {
  if (strict.length < MAX_STRICT_ERRORS && !strict.includes(text)) strict.push(text)
}

/** The error for an untyped object without a kind. */
export class MissingKind extends DecodeError {
  /** @param known the kind that errors name nonetheless */
  constructor(
    text: string,
    readonly known?: GroupVersionKind,
  ) {
    super(`Object 'Kind' is missing in '${text}'`)
  }
}

/** The error for an object with a group and no version. @param text the object, as it was sent */
export const missingVersion = (text: string) => new DecodeError(`Object 'apiVersion' is missing in '${text}'`)
