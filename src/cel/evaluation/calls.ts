/** Function calls at run time: their cost, and the overload that fits the arguments. */
import type { FunctionDeclaration, Overload, Run } from '../declarations.ts'
import { noSuchOverload } from '../values/numbers.ts'
import type { Step } from './planned.ts'
import { fitsAtRuntime, runtimeType, runtimeTypeName } from '../values/runtime-types.ts'
import type { Value } from '../values/value.ts'
import { CelError, Duration, OpaqueValue, Timestamp } from '../values/value.ts'
import { work, workLeft } from './work.ts'

/** Strings and opaque values up to this length count no work as arguments. */
const SHORT = 128

export function calling(
  args: readonly Step[],
  run: Run,
  single: Overload | undefined,
  /** The number of the call in its expression. */
  call: number,
  ambiguous?: Overload['cost'],
): Step {
  const costOf = single === undefined ? ambiguous : single.cost
  const costOfResult = single?.costOfResult
  return (frame) => {
    const { stops } = frame
    const known = stops?.answerOf(call, frame)
    if (known !== undefined) return known
    const before = stops && { cost: frame.cost, work: workLeft() }
    const values: Value[] = []
    let problem: CelError | undefined
    for (const argument of args) {
      const value = argument(frame)
      if (typeof value === 'string' || value instanceof OpaqueValue) {
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
    if (before !== undefined) stops!.answer(call, result, before, frame)
    return result
  }
}

/** Runs the overload of a call. If the checker left several, the arguments choose at run time. */
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

/** cel-go asks these values for the method, so that an unknown one is `no such overload`. */
const hasMethods = (value: Value): boolean =>
  typeof value === 'string' || value instanceof Timestamp || value instanceof Duration

const fits = (parameters: Overload['parameters'], args: readonly Value[]): boolean =>
  parameters.length === args.length && parameters.every((type, index) => fitsAtRuntime(type, args[index]!))
