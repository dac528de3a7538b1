/** Calls of functions: what they cost, and the overload that the values choose. */
import type { FunctionDeclaration, Overload, Run } from './declarations.ts'
import { noSuchOverload } from './numbers.ts'
import type { Step } from './program.ts'
import { fitsAtRuntime, runtimeType, runtimeTypeName } from './runtime-types.ts'
import type { Value } from './value.ts'
import { CelError, Duration, Timestamp } from './value.ts'
import { work } from './work.ts'

/** Characters of a text that is read without taking note of it. */
const SHORT = 128

export function calling(
  args: readonly Step[],
  run: Run,
  single: Overload | undefined,
  ambiguous?: Overload['cost'],
): Step {
  const costOf = single === undefined ? ambiguous : single.cost
  const costOfResult = single?.costOfResult
  return (frame) => {
    const values: Value[] = []
    let problem: CelError | undefined
    for (const argument of args) {
      const value = argument(frame)
      if (typeof value === 'string') {
        if (value.length > SHORT) work(value.length >> 1)
      } else if (value instanceof CelError && single?.nonStrict !== true) {
        problem ??= value
        // functions of three and more arguments stop at the first failure
        if (args.length > 2) {
          values.push(value)
          break
        }
      }
      values.push(value)
    }
    const isPaid = values.length === args.length
    if (isPaid && costOfResult === undefined) frame.spend(costOf?.(values) ?? 1)
    const result = problem ?? run(values)
    if (isPaid && costOfResult !== undefined) frame.spend(costOfResult(result))
    return result
  }
}

/** The overload of a call, chosen at run time where the types of its arguments were not known before. */
export function runOf(
  declared: FunctionDeclaration,
  single: Overload | undefined,
  overloads: readonly Overload[],
): Run {
  const { name, run, accepts } = declared
  if (run !== undefined)
    return accepts === undefined
      ? run
      : (args) =>
          accepts(args[0]!)
            ? run(args)
            : hasMethods(args[0]!)
              ? noSuchOverload()
              : new CelError(`no such overload: ${name}`)
  const candidates = single === undefined ? (overloads.length > 0 ? overloads : declared.overloads) : [single]
  return (args) => {
    for (const { run: ofOverload, parameters } of candidates)
      if (ofOverload !== undefined && (declared.unguarded === true || fits(parameters, args))) return ofOverload(args)
    const types = args.map((value) => runtimeTypeName(runtimeType(value)))
    return new CelError(`no such overload: ${name}(${types.join(', ')})`)
  }
}

/** Values that cel-go asks themselves for a function that they do not know. */
const hasMethods = (value: Value): boolean =>
  typeof value === 'string' || value instanceof Timestamp || value instanceof Duration

const fits = (parameters: Overload['parameters'], args: readonly Value[]): boolean =>
  parameters.length === args.length && parameters.every((type, index) => fitsAtRuntime(type, args[index]!))
