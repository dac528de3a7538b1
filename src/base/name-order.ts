/** Sorts names as Go sorts strings. */
import { sortedItems } from './parts.ts'

const surrogate = /[\ud800-\udfff]/

/** Sorts in place by UTF-8 bytes, as Go does. The order of UTF-16 differs only for surrogates. */
export function sortNames(names: string[]): string[] {
  return names.some((name) => surrogate.test(name)) ? names.sort(compareNames) : names.sort()
}

/** An object's own names, sorted by UTF-8 bytes. Many names are sorted in parts (parts.ts). */
export const sortedKeys = (object: object): string[] => sortedItems(() => Object.keys(object), sortNames, compareNames)

/** Strings that are the items of a loop, sorted by UTF-8 bytes. Many strings are sorted in parts (parts.ts). */
export const sortedTexts = (texts: string[]): string[] => sortedItems(() => texts, sortNames, compareNames)

/** Compares by UTF-8 bytes, which is the order of code points. */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** Surrogates stand for code points above U+FFFF, so they come after all other units. */
const rank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
