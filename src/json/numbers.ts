/**
 * JSON numbers. Whole numbers of 64 bits are exact. A number that JavaScript would write differently keeps its text.
 */

declare global {
  interface JSON {
    /** A value that JSON.stringify writes as this text. */
    rawJSON(text: string): unknown
  }
  interface BigInt {
    toJSON(): unknown
  }
}

/** Makes JSON.stringify write a bigint as a number. */
BigInt.prototype.toJSON = function () {
  return JSON.rawJSON(String(this))
}

/** A number whose text JavaScript would not reproduce: `3.0`, `1e2`, `12345678901234567890`. */
export class NumberLiteral {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): unknown {
    return JSON.rawJSON(this.text)
  }
}

const INT64_MAX = 2n ** 63n - 1n
const INT64_MIN = -(2n ** 63n)

/** The length of INT64_MIN. BigInt takes a third of a second for a body of digits. */
const LONGEST = 20

/**
 * A whole number in the form that objects have in memory. Undefined: it exceeds 64 bits.
 * @param text without leading zeros
 */
export function wholeNumber(text: string): number | bigint | undefined {
  if (text.length < 16) return Number(text) + 0 // `-0` becomes 0, as in Go
  if (text.length > LONGEST) return undefined
  const big = BigInt(text)
  if (big > INT64_MAX || big < INT64_MIN) return undefined
  const small = Number(big)
  return Number.isSafeInteger(small) ? small : big
}

export function numberOf(text: string): number | bigint | NumberLiteral {
  if (!/[.eE]/.test(text)) return wholeNumber(text) ?? new NumberLiteral(text)
  const value = Number(text)
  return String(value) === text ? value : new NumberLiteral(text)
}

export const plainNumber = (text: string): number | bigint =>
  (/[.eE]/.test(text) ? undefined : wholeNumber(text)) ?? Number(text)
