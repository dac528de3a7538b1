/** Amounts of named resources, with the arithmetic of quotas. */
import { ownValue } from '../../base/own.ts'
import { Quantity } from '../../schema/quantity.ts'

export type Amounts = ReadonlyMap<string, Quantity>

export const ONE = Quantity.of(1)

/** @param texts stored quantities, which validation has checked */
export const amountsOf = (texts: Readonly<Record<string, string>> = {}): Map<string, Quantity> =>
  new Map(Object.entries(texts).map(([name, text]) => [name, Quantity.parse(text)]))

/** The amounts of these names alone. Names without an amount are left out. */
export function amountsNamed(
  names: Iterable<string>,
  texts: Readonly<Record<string, string>> = {},
): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>()
  for (const name of names) {
    const text = ownValue(texts, name)
    if (text !== undefined) amounts.set(name, Quantity.parse(text))
  }
  return amounts
}

/** The amounts as texts by name, in the form that storage keeps. */
export const textsOf = (amounts: Amounts): Record<string, string> =>
  Object.fromEntries([...amounts].sort(byName).map(([name, amount]) => [name, amount.toString()]))

/** Prints amounts as messages show them: `cpu=1,memory=2Gi`. */
export const amountsText = (amounts: Amounts): string =>
  [...amounts]
    .sort(byName)
    .map(([name, amount]) => `${name}=${amount.toString()}`)
    .join(',')

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

function combined(a: Amounts, b: Amounts, both: (a: Quantity, b: Quantity) => Quantity): Map<string, Quantity> {
  const result = new Map(a)
  for (const [name, amount] of b) {
    const before = result.get(name)
    result.set(name, before === undefined ? amount : both(before, amount))
  }
  return result
}

export const sum = (a: Amounts, b: Amounts): Map<string, Quantity> => combined(a, b, (one, other) => one.add(other))

export const larger = (a: Amounts, b: Amounts): Map<string, Quantity> =>
  combined(a, b, (one, other) => (one.compare(other) <= 0 ? other : one))

/** The difference a - b for each name whose amount grew. It has no negative amounts. */
export const growth = (a: Amounts, b: Amounts): Map<string, Quantity> =>
  new Map(
    [...a].map(([name, amount]) => {
      const rest = amount.sub(b.get(name) ?? Quantity.zero)
      return [name, rest.sign > 0 ? rest : Quantity.zero]
    }),
  )

/** Returns only the amounts with these names. */
export const only = (amounts: Amounts, names: { has(name: string): boolean }): Map<string, Quantity> =>
  new Map([...amounts].filter(([name]) => names.has(name)))

export const withoutZeros = (amounts: Amounts): Map<string, Quantity> =>
  new Map([...amounts].filter(([, amount]) => !amount.isZero))

export const isSame = (a: Amounts, b: Amounts): boolean =>
  a.size === b.size && [...a].every(([name, amount]) => b.get(name)?.equals(amount) === true)
