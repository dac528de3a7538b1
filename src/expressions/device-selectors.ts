/**
 * Validates device selectors. The API server refuses selectors that do not compile or that cost too much. Schedulers
 * evaluate them.
 */
import { ownValue } from '../base/own.ts'
import type { PathSizes } from '../cel/estimate.ts'
import { estimateCost } from '../cel/estimate.ts'
import { compile } from '../cel/compile.ts'
import { ProgramError, programOf } from '../cel/evaluation/program.ts'
import type { ExpressionProblem } from './admission-expressions.ts'
import { resultTypeText } from './admission-expressions.ts'
import { deviceEnvironment, deviceEnvironmentWithLists } from './environments.ts'

/** The limit of one evaluation's cost, and of an expression's estimated cost. */
export const COST_LIMIT = 1_000_000

const MAX_DOMAIN_BYTES = 63
const MAX_ID_BYTES = 32
const MAX_DRIVER_BYTES = 63
const MAX_VALUE_BYTES = 64
/** The most attributes of a device. One domain may have all of them. */
const MAX_ATTRIBUTES = 32

/** The maximum size of the values at a path. */
interface Sizes {
  readonly max: number
  readonly keys?: Sizes
  readonly values?: Sizes
  readonly fields?: Readonly<Record<string, Sizes>>
  /** The size of a field that an expression selects by name. */
  readonly anyField?: Sizes
}

const ATTRIBUTE: Sizes = { max: MAX_VALUE_BYTES }
const DOMAIN: Sizes = { max: MAX_DOMAIN_BYTES }
const ID: Sizes = { max: MAX_ID_BYTES }

const DEVICE_SIZES: Sizes = {
  max: 0,
  fields: {
    driver: { max: MAX_DRIVER_BYTES },
    allowMultipleAllocations: { max: 1 },
    attributes: {
      max: MAX_ATTRIBUTES,
      keys: DOMAIN,
      values: { max: MAX_ATTRIBUTES, keys: ID, values: ATTRIBUTE, anyField: ATTRIBUTE },
    },
    // as in kube-apiserver, a capacity that an expression selects by name has no known size
    capacity: { max: MAX_ATTRIBUTES, keys: DOMAIN, values: { max: MAX_ATTRIBUTES, keys: ID, values: { max: 0 } } },
  },
}

const deviceSizes: PathSizes = ([variable, ...path]) => {
  let at: Sizes | undefined = variable === 'device' ? DEVICE_SIZES : undefined
  for (const step of path) at = below(at, step)
  return at && { min: 0, max: at.max }
}

function below(at: Sizes | undefined, step: string): Sizes | undefined {
  switch (step) {
    case '@items':
    case '@values':
      return at?.values
    case '@keys':
      return at?.keys
    default:
      return ownValue(at?.fields ?? {}, step) ?? at?.anyField
  }
}

/**
 * @param withLists whether attributes may be lists
 * @returns undefined if the selector is valid
 */
export function deviceSelectorProblem(
  text: string,
  withLists: boolean,
): ExpressionProblem | 'too expensive' | undefined {
  const environment = withLists ? deviceEnvironmentWithLists() : deviceEnvironment()
  const { expression, issues } = compile(text, environment)
  if (expression === undefined) return { problem: `compilation failed: ${issues}` }
  const { type } = expression
  if (type.kind !== 'bool' && type.kind !== (withLists ? 'dyn' : 'any'))
    return { problem: `must evaluate to bool or the unknown type, not ${resultTypeText(type)}` }
  try {
    programOf(expression, environment)
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error
    return { problem: `program instantiation failed: ${error.message}`, isInternal: true }
  }
  return estimateCost(expression, deviceSizes).max > COST_LIMIT ? 'too expensive' : undefined
}
