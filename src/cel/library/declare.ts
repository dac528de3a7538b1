/** Helpers with which libraries declare functions. */
import type { FunctionDeclaration, Overload, Run } from '../declarations.ts'
import type { Type } from '../checker/type.ts'
import type { Value } from '../values/value.ts'

type Extra = Omit<Overload, 'id' | 'member' | 'parameters' | 'result'>

export const overload = (id: string, parameters: readonly Type[], result: Type, extra: Extra = {}): Overload => ({
  id,
  member: false,
  parameters,
  result,
  ...extra,
})

export const member = (id: string, parameters: readonly Type[], result: Type, extra: Extra = {}): Overload => ({
  ...overload(id, parameters, result, extra),
  member: true,
})

export const fn = (name: string, ...overloads: readonly Overload[]): FunctionDeclaration => ({ name, overloads })

export const unary =
  (run: (value: Value) => Value): Run =>
  ([value]) =>
    run(value!)

export const binary =
  (run: (a: Value, b: Value) => Value): Run =>
  ([a, b]) =>
    run(a!, b!)

/** Sets the cost of calls whose overload is known only at run time. */
export const withCost = (
  cost: NonNullable<Overload['cost']>,
  functions: readonly FunctionDeclaration[],
): readonly FunctionDeclaration[] => functions.map((declaration) => ({ ...declaration, cost }))
