/** The order of a map's members in YAML. */
import { isDigit, isLetter } from '../../base/unicode.ts'

const codeOf = (character: string) => character.codePointAt(0)!

/**
 * Compares names like kube-apiserver's YAML library: digits by their numeric value, letters after all other characters.
 */
export function compareKeys(a: string, b: string): number {
  const quick = compareLetters(a, b)
  if (quick !== undefined) return quick
  const [x, y] = [[...a], [...b]]
  for (let i = 0; i < x.length && i < y.length; i++) {
    if (x[i] === y[i]) continue
    const [xIsLetter, yIsLetter] = [isLetter(x[i]!), isLetter(y[i]!)]
    if (xIsLetter && yIsLetter) return codeOf(x[i]!) - codeOf(y[i]!)
    if (xIsLetter || yIsLetter) return yIsLetter ? -1 : 1
    return compareNumbers(x, y, i)
  }
  return x.length - y.length
}

/** @returns undefined where names differ first in characters that are not both ASCII letters */
function compareLetters(a: string, b: string): number | undefined {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === length) return a.length - b.length
  return isAsciiLetter(a.charCodeAt(at)) && isAsciiLetter(b.charCodeAt(at))
    ? a.charCodeAt(at) - b.charCodeAt(at)
    : undefined
}

const isAsciiLetter = (code: number): boolean => (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)

/** Compares the numbers that may begin at the first difference. */
function compareNumbers(x: readonly string[], y: readonly string[], at: number): number {
  let start = 0
  if (x[at] === '0' || y[at] === '0')
    for (let j = at - 1; j >= 0 && isDigit(x[j]!); j--)
      if (x[j] !== '0') {
        start = 1
        break
      }
  const [xNumber, xEnd] = numberAt(x, at, start)
  const [yNumber, yEnd] = numberAt(y, at, start)
  if (xNumber !== yNumber) return xNumber - yNumber
  return xEnd !== yEnd ? xEnd - yEnd : codeOf(x[at]!) - codeOf(y[at]!)
}

function numberAt(characters: readonly string[], at: number, start: number): [value: number, end: number] {
  let value = start
  let end = at
  for (; isDigit(characters[end] ?? ''); end++) value = value * 10 + codeOf(characters[end]!) - 48
  return [value, end]
}
