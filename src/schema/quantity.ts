/**
 * Amounts of resources (apimachinery's resource.Quantity): exact decimal numbers with a suffix, and the text that
 * Kubernetes writes for them. `100m`, `1.5`, `2Gi`, `1e3`.
 */

/** The format of a parsed quantity. Kubernetes writes the quantity in the same format. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

/** The text is no quantity. `message` is kube-apiserver's. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError'
}

const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const WRONG_NUMBER = 'unable to parse numeric part of quantity'
const WRONG_SUFFIX = "unable to parse quantity's suffix"

const decimalSuffixes: readonly (readonly [suffix: string, exponent: number])[] = [
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]
const binarySuffixes: readonly (readonly [suffix: string, exponent: number])[] = [
  ['Ki', 10],
  ['Mi', 20],
  ['Gi', 30],
  ['Ti', 40],
  ['Pi', 50],
  ['Ei', 60],
]
const decimalExponents = new Map(decimalSuffixes)
const binaryExponents = new Map(binarySuffixes)
const decimalSuffixOf = new Map(decimalSuffixes.map(([suffix, exponent]) => [exponent, suffix]))
const binarySuffixOf = new Map(binarySuffixes.map(([suffix, exponent]) => [exponent, suffix]))

/** Quantities have no smaller unit than 10^-9. */
const NANO = -9
const MAX_INT64 = 0x7fff_ffff_ffff_ffffn
/** 18 decimal digits always fit into an int64. kube-apiserver may keep the text of a quantity with no more digits. */
const INT64_DIGITS = 18

/** Go multiplies by these powers of ten at once, and keeps a product that overflows. By others it multiplies step by step. */
const SINGLE_STEPS: ReadonlySet<number> = new Set([1, 2, 3, 6, 9])
/** Go gives up a product that overflows in steps. */
const fitting = (exact: bigint): bigint => (BigInt.asIntN(64, exact) === exact ? exact : 0n)

const pow10 = (exponent: number) => 10n ** BigInt(exponent)
const abs = (value: bigint) => (value < 0n ? -value : value)

/** An immutable amount: `unscaled × 10^scale`. */
export class Quantity {
  static readonly zero = new Quantity(0n, 0, 'DecimalSI')

  private constructor(
    private readonly unscaled: bigint,
    private readonly scale: number,
    readonly format: QuantityFormat,
    /** The parsed text, where kube-apiserver keeps it although it is not canonical (`1.500`, `+1`). */
    private readonly text?: string,
    /** Go parses the text with exact arithmetic, and else as an int64 with a power of ten. */
    private readonly isBig = false,
  ) {}

  /** @throws {QuantityError} */
  static parse(text: string): Quantity {
    if (text === '0') return Quantity.zero
    const { negative, digits, fraction, suffix, hasDigits } = parts(text)
    const shifted = digits + fraction
    const unscaled = BigInt(negative ? `-${shifted}` : shifted)
    const { base, exponent, format } = interpret(suffix, unscaled === 0n)
    if (base === 10) {
      const scale = exponent - fraction.length
      if (shifted.length <= INT64_DIGITS && scale >= NANO) {
        const keep = scale % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0')
        return new Quantity(unscaled, scale, format, keep ? text : undefined)
      }
      if (!hasDigits) throw new QuantityError(WRONG_NUMBER)
      return new Quantity(...roundedUp(unscaled, scale, NANO), format, undefined, true)
    }
    const amount = unscaled * 2n ** BigInt(exponent)
    if (fraction === '' && 15 - digits.length - Math.trunc(Math.fround(exponent) * 0.3) - 1 >= 0)
      return new Quantity(amount, 0, format, (unscaled & 7n) !== 0n ? text : undefined)
    if (!hasDigits) throw new QuantityError(WRONG_NUMBER)
    return Quantity.ofBinary(amount, -fraction.length)
  }

  /** @returns undefined for a text that is no quantity */
  static tryParse(text: string): Quantity | undefined {
    try {
      return Quantity.parse(text)
    } catch (error) {
      if (error instanceof QuantityError) return undefined
      throw error
    }
  }

  /** `value` whole units. */
  static of(value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity(BigInt(value), 0, format)
  }

  /** `value` thousandths. */
  static ofMilli(value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity(BigInt(value), -3, format)
  }

  private static ofBinary(amount: bigint, scale: number): Quantity {
    let [unscaled, at] = roundedUp(amount, scale, NANO)
    const limit = at < 0 ? MAX_INT64 * pow10(-at) : MAX_INT64
    if (abs(unscaled) > limit) [unscaled, at] = [unscaled < 0n ? -MAX_INT64 : MAX_INT64, 0]
    const belowOne = unscaled !== 0n && at < 0 && abs(unscaled) < pow10(-at)
    return new Quantity(unscaled, at, belowOne ? 'DecimalSI' : 'BinarySI', undefined, true)
  }

  /** Go's fields: an integer, its power of ten, and the parsed text where Go keeps it. */
  get parts(): { readonly unscaled: bigint; readonly scale: number; readonly text: string } {
    return { unscaled: this.unscaled, scale: this.scale, text: this.text ?? '' }
  }

  get isZero(): boolean {
    return this.unscaled === 0n
  }

  get sign(): number {
    return this.unscaled < 0n ? -1 : this.unscaled > 0n ? 1 : 0
  }

  /** @returns a negative number, zero or a positive number, for the order of this and the other */
  compare(other: Quantity): number {
    if (this.sign !== other.sign) return this.sign - other.sign
    const magnitude = magnitudeOf(this.unscaled, this.scale) - magnitudeOf(other.unscaled, other.scale)
    if (magnitude !== 0) return magnitude < 0 ? -this.sign : this.sign
    const [a, b] = aligned(this.unscaled, this.scale, other.unscaled, other.scale)
    return a < b ? -1 : a > b ? 1 : 0
  }

  equals(other: Quantity): boolean {
    return this.compare(other) === 0
  }

  add(other: Quantity): Quantity {
    const [a, b, scale] = aligned(this.unscaled, this.scale, other.unscaled, other.scale)
    return new Quantity(a + b, scale, this.isZero ? other.format : this.format)
  }

  sub(other: Quantity): Quantity {
    const [a, b, scale] = aligned(this.unscaled, this.scale, other.unscaled, other.scale)
    return new Quantity(a - b, scale, this.isZero ? other.format : this.format)
  }

  neg(): Quantity {
    return new Quantity(-this.unscaled, this.scale, this.format)
  }

  /** Rounds away from zero to a multiple of 10^scale (-3: thousandths). */
  roundUp(scale: number): Quantity {
    return this.scale >= scale ? this : new Quantity(...roundedUp(this.unscaled, this.scale, scale), this.format)
  }

  isMultipleOf(scale: number): boolean {
    return this.scale >= scale || this.unscaled % pow10(scale - this.scale) === 0n
  }

  /** In units of 10^scale, rounded away from zero. */
  scaledValue(scale: number): bigint {
    const [unscaled, at] = roundedUp(this.unscaled, this.scale, scale)
    return unscaled * pow10(at - scale)
  }

  /**
   * Whether Go's MilliValue of a parsed amount is a multiple of 1000. It is an int64 that may overflow: `1Ei` is no
   * whole number.
   */
  get isWholeByMilliValue(): boolean {
    return this.int64Milli() % 1000n === 0n
  }

  private int64Milli(): bigint {
    const exact = this.scaledValue(-3)
    return this.isBig || SINGLE_STEPS.has(this.scale + 3) ? BigInt.asIntN(64, exact) : fitting(exact)
  }

  /** In whole units, rounded away from zero; precise up to 2^53. */
  value(): number {
    return Number(this.scaledValue(0))
  }

  /** In thousandths, rounded away from zero; precise up to 2^53. */
  milliValue(): number {
    return Number(this.scaledValue(-3))
  }

  /** The nearest floating point number. */
  toNumber(): number {
    return Number(`${this.unscaled}e${this.scale}`)
  }

  /** The result of CEL's asInteger; undefined where it exceeds an int64, and for a text with a fraction. */
  asInt64(): bigint | undefined {
    if (this.scale < 0 || this.scale > INT64_DIGITS || String(abs(this.unscaled)).length > INT64_DIGITS)
      return undefined
    const value = this.unscaled * pow10(this.scale)
    return abs(value) > MAX_INT64 ? undefined : value
  }

  /** kube-apiserver's AsApproximateFloat64, which rounds twice. */
  asApproximateFloat(): number {
    return this.scale === 0 ? Number(this.unscaled) : Number(this.unscaled) * Number(`1e${this.scale}`)
  }

  /** The text that Kubernetes stores and prints. */
  toString(): string {
    return this.text ?? this.canonical()
  }

  toJSON(): string {
    return this.toString()
  }

  private canonical(): string {
    if (this.isZero) return '0'
    const isSmall = this.compare(KIBI) < 0 && this.neg().compare(KIBI) < 0
    const decimal = this.format !== 'BinarySI' || isSmall || !this.isMultipleOf(0)
    if (!decimal) {
      let [amount, exponent] = [this.scaledValue(0), 0]
      while (amount % 1024n === 0n) [amount, exponent] = [amount / 1024n, exponent + 10]
      return `${amount}${binarySuffixOf.get(exponent) ?? ''}`
    }
    let [amount, exponent] = withoutZeros(this.unscaled, this.scale)
    while (exponent % 3 !== 0) [amount, exponent] = [amount * 10n, exponent - 1]
    if (this.format === 'DecimalExponent') return exponent === 0 ? `${amount}` : `${amount}e${exponent}`
    return `${amount}${decimalSuffixOf.get(exponent) ?? ''}`
  }
}

/** Kubernetes writes smaller amounts without a binary suffix. */
const KIBI = Quantity.of(1024)

interface Parts {
  readonly negative: boolean
  readonly digits: string
  readonly fraction: string
  readonly suffix: string
  /** False for a sign or a point alone. kube-apiserver parses these as zero unless it needs exact arithmetic. */
  readonly hasDigits: boolean
}

function parts(text: string): Parts {
  // each part begins with a character that the part before it cannot contain, so the pattern matches a text in only
  // one way
  const match = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]|[-+]).*)?$/s.exec(text)
  const suffix = match?.[4] ?? ''
  if (text === '' || match === null || !/^[eEinumkKMGTP]*[-+]?\d*$/.test(suffix)) throw new QuantityError(WRONG_FORMAT)
  const [, sign, whole = '', fraction = ''] = match
  const digits = withoutLeadingZeros(whole)
  if (digits.length > MAX_DIGITS) throw new QuantityError(WRONG_NUMBER)
  return {
    negative: sign === '-',
    digits: digits || '0',
    fraction: shortened(fraction),
    suffix,
    hasDigits: `${whole}${fraction}` !== '',
  }
}

function withoutLeadingZeros(digits: string): string {
  const first = digits.search(/[^0]/)
  return first < 0 ? '' : digits.slice(first)
}

/** No exponent moves digits beyond MAX_DIGITS up to the ninth decimal place. They only decide whether to round up. */
const shortened = (fraction: string): string =>
  fraction.length <= MAX_DIGITS
    ? fraction
    : `${fraction.slice(0, MAX_DIGITS)}${/[1-9]/.test(fraction.slice(MAX_DIGITS)) ? '1' : ''}`

function interpret(suffix: string, isZero: boolean): { base: 2 | 10; exponent: number; format: QuantityFormat } {
  const decimal = decimalExponents.get(suffix)
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' }
  const binary = binaryExponents.get(suffix)
  if (binary !== undefined) return { base: 2, exponent: binary, format: 'BinarySI' }
  if (/^[eE][+-]?\d+$/.test(suffix)) {
    const written = Number(suffix.slice(1))
    const exponent = isZero ? Math.max(-MAX_EXPONENT, Math.min(written, MAX_EXPONENT)) : written
    // kube-apiserver's exponent overflows at 32 bits; an amount that large is refused here
    if (Math.abs(exponent) <= MAX_EXPONENT) return { base: 10, exponent, format: 'DecimalExponent' }
    throw new QuantityError(WRONG_NUMBER)
  }
  throw new QuantityError(WRONG_SUFFIX)
}

/** Comparing two numbers with this many digits takes microseconds. */
const MAX_EXPONENT = 4096
/**
 * The most digits of a number; parsing refuses longer ones. An exponent can move MAX_EXPONENT digits before the point,
 * and the rest is room for digits behind it.
 */
const MAX_DIGITS = MAX_EXPONENT + 64

/** Rounds away from zero to at most `-to` digits behind the point. */
function roundedUp(unscaled: bigint, scale: number, to: number): [unscaled: bigint, scale: number] {
  if (scale >= to) return [unscaled, scale]
  const drop = to - scale
  if (drop > MAX_EXPONENT + String(unscaled).length) return [unscaled < 0n ? -1n : unscaled > 0n ? 1n : 0n, to]
  const factor = pow10(drop)
  const rest = unscaled % factor
  const quotient = unscaled / factor
  return [rest === 0n ? quotient : quotient + (unscaled < 0n ? -1n : 1n), to]
}

function aligned(a: bigint, aScale: number, b: bigint, bScale: number): [a: bigint, b: bigint, scale: number] {
  const scale = Math.min(aScale, bScale)
  return [a * pow10(aScale - scale), b * pow10(bScale - scale), scale]
}

/** The number of digits before the decimal point; less than one for fractions. */
const magnitudeOf = (unscaled: bigint, scale: number) => (unscaled === 0n ? 0 : String(abs(unscaled)).length + scale)

function withoutZeros(amount: bigint, exponent: number): [amount: bigint, exponent: number] {
  while (amount % 10n === 0n) [amount, exponent] = [amount / 10n, exponent + 1]
  return [amount, exponent]
}
