/** The range of a shard's keys that a resource type, a namespace or a single object has. */
import type { Selection } from '../src/storage/selectors/selection.ts'
import { exactField } from '../src/storage/selectors/selection.ts'
import type { KeyScope } from '../src/storage/shards/shard-protocol.ts'
import { relationOf } from './relations.ts'
import type { KeyRange, Narrowed, Needles } from './statements.ts'

/** @param start relative to the prefix. A selection of one name within a namespace is one key. */
export function rangeOf({ prefix, namespace, selection }: KeyScope, start = ''): KeyRange {
  const scope = namespace === undefined ? `${prefix}/` : `${prefix}/${namespace}/`
  const name = exactField(selection, 'metadata.name')
  const range =
    name !== undefined && namespace !== undefined ? { from: scope + name, to: `${scope}${name}\0` } : allBelow(scope)
  const begin = start === '' ? range.from : `${prefix}/${start}`
  return { from: inKeyOrder(begin, range.from) ? range.from : begin, to: range.to }
}

/** `0` follows the slash in ASCII. */
export const allBelow = (scope: string): KeyRange => ({ from: scope, to: `${scope.slice(0, -1)}0` })

/** SQLite orders texts by their UTF-8, which is the order of code points. */
function inKeyOrder(a: string, b: string): boolean {
  const [left, right] = [[...a], [...b]]
  const at = left.findIndex((character, index) => character !== right[index])
  if (at === -1) return true
  return at < right.length && left[at]!.codePointAt(0)! < right[at]!.codePointAt(0)!
}

/** The most texts: a statement has at most 100 bound parameters. `matches` checks the others. */
const MAX_NEEDLES = 64

export const narrowedTo = (selection: Selection): Narrowed => ({
  needles: needlesOf(selection),
  relation: relationOf(selection),
})

/**
 * Texts that must occur in the narrow JSON of every object that a selection can match. They only narrow the rows that
 * are parsed; `matches` decides. There are none for values that must be absent.
 */
function needlesOf({ labels, fields, owner }: Selection): Needles {
  const groups: string[][] = []
  for (const { key, operator, values } of labels) {
    if (operator === 'In') groups.push(values.map((value) => member(key, value)))
    else if (operator === 'Exists' || operator === 'Gt' || operator === 'Lt') groups.push([`${JSON.stringify(key)}:`])
  }
  for (const { field, operator, value, place } of fields) {
    // the text may lack a field that the object has
    if (place !== undefined) continue
    // `metadata.` fields come from the key; an absent field equals the empty value
    if (operator === '=' && value !== '' && !field.startsWith('metadata.')) groups.push([member(field, value)])
  }
  if (owner !== undefined) groups.push([JSON.stringify(owner)])
  let room = MAX_NEEDLES
  return groups.filter((group) => group.length > 0 && (room -= group.length) >= 0)
}

const member = (name: string, value: string): string => `${JSON.stringify(name)}:${JSON.stringify(value)}`
