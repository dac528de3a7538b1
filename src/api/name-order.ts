/** Names in the order in which Go sorts strings. */
import { sortedItems } from './parts.ts'

const surrogate = /[\ud800-\udfff]/

/** Sorts in place by the bytes of UTF-8, as Go sorts strings. UTF-16 differs only where there are surrogates. */
export function sortNames(names: string[]): string[] {
  return names.some((name) => surrogate.test(name)) ? names.sort(compareNames) : names.sort()
}

/** An object's own names, sorted like that; of many in parts (parts.ts). */
export const sortedKeys = (object: object): string[] => sortedItems(() => Object.keys(object), sortNames, compareNames)

/** Texts sorted like that, the items of a loop; of many in parts. */
export const sortedTexts = (texts: string[]): string[] => sortedItems(() => texts, sortNames, compareNames)

/** Order by UTF-8 bytes, which is that of code points. */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** Surrogates stand for code points above all that one unit can say. */
const rank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
