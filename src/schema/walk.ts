/**
 * The one walk over values by their type, like structured-merge-diff's pkg/typed. An operation has rules for a scalar,
 * a list and a map. The walk decides which of them a value is, and finds the names and types of its parts.
 */
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { eachName } from '../base/parts.ts'
import type { Atom, ListAtom, MapAtom, ScalarKind } from './atom.ts'
import { keyElement, valueElement } from './path-element.ts'
import type { PathElement } from './path-element.ts'

export interface Rules<Result> {
  scalar(kind: ScalarKind): Result
  list(list: ListAtom): Result
  map(map: MapAtom): Result
}

/** Applies the rule for one value. A null gets the first rule that the type allows. */
export function walk<Result>(atom: Atom, value: Json | undefined, rules: Rules<Result>): Result {
  return choose(readingOf(atom, value), rules)
}

/**
 * Applies the rule for two values of one field, one of which may be absent. Where one is, for example, a list and the
 * other a map, the rules of both run, that of the right value last.
 */
export function walkPair<Result>(
  atom: Atom,
  left: Json | undefined,
  right: Json | undefined,
  rules: Rules<Result>,
): Result {
  const leftReading = readingOf(atom, left)
  const rightReading = readingOf(atom, right)
  if (right === undefined) return choose(leftReading, rules)
  if (left !== undefined && !sameReading(leftReading, rightReading)) choose(leftReading, rules)
  return choose(rightReading, rules)
}

type Reading = { readonly [K in keyof Atom]?: Atom[K] | undefined }

function readingOf(atom: Atom, value: Json | undefined): Reading {
  if (value === undefined || value === null) return atom
  if (Array.isArray(value)) return atom.list === undefined ? atom : { list: atom.list }
  if (isJsonObject(value)) return atom.map === undefined ? atom : { map: atom.map }
  return atom.scalar === undefined ? atom : { scalar: atom.scalar }
}

const sameReading = (a: Reading, b: Reading) => a.scalar === b.scalar && a.list === b.list && a.map === b.map

function choose<Result>(reading: Reading, rules: Rules<Result>): Result {
  if (reading.map !== undefined) return rules.map(reading.map)
  if (reading.scalar !== undefined) return rules.scalar(reading.scalar)
  if (reading.list !== undefined) return rules.list(reading.list)
  throw new Error('a type that allows no value at all')
}

/**
 * Visits the keys of a map with the types of their values. The type is undefined for a key that the map does not allow.
 * @param visit returns false to end the walk
 */
export function eachField(
  map: MapAtom,
  value: JsonObject,
  visit: (name: string, type: Atom | undefined, item: Json, isDeclared: boolean) => boolean | void,
): void {
  eachName(value, Object.keys, (name) => {
    const item = value[name]
    if (item === undefined) return true
    const declared = map.declared(name)
    return visit(name, declared ?? map.others, item, declared !== undefined)
  })
}

/** An element of a list of type map or set has no path element. The message says why. */
export class NamelessElement extends Error {}

/**
 * The path element of an element of a list of type map or set.
 * @throws NamelessElement
 */
export function elementOf(list: ListAtom, item: Json): PathElement {
  return list.keys.length > 0 ? keyedElement(list, item) : setElement(item)
}

function keyedElement(list: ListAtom, item: Json): PathElement {
  if (item === null) throw new NamelessElement('associative list with keys may not have a null element')
  if (!isJsonObject(item)) throw new NamelessElement('associative list with keys may not have non-map elements')
  const fields: [string, Json][] = []
  for (const key of list.keys) {
    const value =
      ownValue(item, key) ?? (Object.hasOwn(item, key) && ownValue(item, key) === null ? null : list.keyDefault(key))
    // an element that lacks an optional key differs from one that has it
    if (value !== undefined) fields.push([key, value])
  }
  if (fields.length === 0)
    throw new NamelessElement(
      `associative list with keys has an element that omits all key fields [${list.keys.map((key) => JSON.stringify(key)).join(' ')}] (and doesn't have default values for any key fields)`,
    )
  return keyElement(fields)
}

function setElement(item: Json): PathElement {
  if (Array.isArray(item)) throw new NamelessElement('not supported: associative list with lists as elements')
  if (item === null) throw new NamelessElement("associative list without keys has an element that's an explicit null")
  if (typeof item === 'object')
    throw new NamelessElement("associative list without keys has an element that's a map type")
  return valueElement(item)
}
