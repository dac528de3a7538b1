/** Evaluates device selectors as kube-scheduler does (dynamic-resource-allocation's cel). */
import type { Device, DeviceAttribute } from '../api/resource/v1.ts'
import { ValueList, ValueMap } from '../cel/values/collections.ts'
import { compile } from '../cel/compile.ts'
import { CostExceeded } from '../cel/evaluation/frame.ts'
import type { Program } from '../cel/evaluation/program.ts'
import { ProgramError, programOf } from '../cel/evaluation/program.ts'
import { runtimeType, runtimeTypeName } from '../cel/values/runtime-types.ts'
import type { Value } from '../cel/values/value.ts'
import { CelError, MapValue } from '../cel/values/value.ts'
import { COST_LIMIT } from './device-selectors.ts'
import { deviceEnvironmentWithLists } from './environments.ts'
import { quantityOf } from './library/quantity.ts'
import { semverOf } from './library/semver.ts'

/** A selector does not compile, or its evaluation fails for a device. */
export class SelectorFailed extends Error {}

/** A cost budget, and how much of it is left. */
export interface CostBudget {
  left: number
}

export class DeviceSelectorProgram {
  private constructor(private readonly program: Program) {}

  /** @throws SelectorFailed */
  static of(text: string): DeviceSelectorProgram {
    // stored selectors may stem from a time at which the feature was on
    const environment = deviceEnvironmentWithLists()
    const { expression, issues } = compile(text, environment)
    if (expression === undefined) throw new SelectorFailed(`CEL compile error: compilation failed: ${issues}`)
    try {
      return new DeviceSelectorProgram(programOf(expression, environment))
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error
      throw new SelectorFailed(`CEL compile error: program instantiation failed: ${error.message}`)
    }
  }

  /** @throws SelectorFailed */
  matches(device: DeviceValue, budget: CostBudget): boolean {
    const value = this.run(device, budget)
    if (typeof value === 'boolean') return value
    throw new SelectorFailed(
      `CEL runtime error: CEL result of type ${runtimeTypeName(runtimeType(value))} could not be converted to bool: type conversion error from '${runtimeTypeName(runtimeType(value))}' to 'bool'`,
    )
  }

  private run({ value: device, failure }: DeviceValue, budget: CostBudget): Value {
    if (failure !== undefined) throw new SelectorFailed(`CEL runtime error: ${failure}`)
    const limit = Math.min(COST_LIMIT, Math.max(0, budget.left))
    try {
      const { value, cost } = this.program.run((name) => (name === 'device' ? device : undefined), limit)
      budget.left -= cost
      if (value instanceof CelError) throw new SelectorFailed(`CEL runtime error: ${value.message}`)
      return value
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error
      budget.left -= error.cost
      if (limit < COST_LIMIT) throw new SelectorFailed('gave up looking for devices: their selectors cost too much')
      throw new SelectorFailed(`CEL runtime error: ${error.message}`)
    }
  }
}

/** The CEL value of a device. `failure` is the error if the device has none. */
export class DeviceValue {
  readonly value: Value
  readonly failure: string | undefined

  constructor(driver: string, { attributes = {}, capacity = {}, allowMultipleAllocations = false }: Device) {
    const failures: string[] = []
    const attributeValues = Object.entries(attributes).map(([name, attribute]) => {
      const value = valueOf(attribute)
      if (value === undefined) failures.push(`attribute ${name}: unsupported attribute value`)
      else if (value instanceof CelError) failures.push(`attribute ${name}: parse semantic version: ${value.message}`)
      return [name, value ?? null] as const
    })
    const capacityValues = Object.entries(capacity).map(([name, { value = '' }]) => [name, quantityOf(value)] as const)
    this.failure = failures[0]
    this.value = ValueMap.of([
      ['driver', driver],
      ['allowMultipleAllocations', allowMultipleAllocations],
      ['attributes', byDomain(attributeValues, driver)],
      ['capacity', byDomain(capacityValues, driver)],
    ])
  }
}

function valueOf(attribute: DeviceAttribute): Value | undefined {
  const { int, bool, string, version, ints, bools, strings, versions } = attribute
  if (int !== undefined) return BigInt(int)
  if (version !== undefined) return semverOf(version)
  const list = ints?.map(BigInt) ?? versions?.map(semverOf) ?? bools ?? strings
  const unreadable = list?.find((value) => value instanceof CelError)
  return list === undefined ? (bool ?? string) : (unreadable ?? new ValueList(list))
}

/** Groups names by domain. A name without a domain belongs to the driver's domain. */
function byDomain(values: readonly (readonly [name: string, value: Value])[], driver: string): MapValue {
  const domains = new Map<string, [id: string, value: Value][]>()
  for (const [name, value] of values) {
    const slash = name.indexOf('/')
    const domain = slash < 0 ? driver : name.slice(0, slash)
    const known = domains.get(domain) ?? []
    known.push([name.slice(slash + 1), value])
    domains.set(domain, known)
  }
  return new WithDefault(ValueMap.of([...domains].map(([domain, members]) => [domain, ValueMap.of(members)])))
}

/** Returns an empty map for an unknown domain. So `device.attributes["a"].b` fails only because `b` is missing. */
class WithDefault extends MapValue {
  constructor(private readonly map: MapValue) {
    super()
  }

  get size(): number {
    return this.map.size
  }

  get(key: Value): Value {
    return this.map.get(key) ?? ValueMap.empty
  }

  keys(): Iterable<Value> {
    return this.map.keys()
  }
}
