/** Whether devices match the selectors of classes and requests. It evaluates each expression once for each device. */
import type { DeviceSelector } from '../../../api/resource/v1.ts'
import { BoundedMap } from '../../../base/bounded-map.ts'
import type { CostBudget, DeviceSelectorProgram, DeviceValue } from '../../../expressions/device-matches.ts'
import type { PoolDevice } from './pools.ts'

/** The search failed for all nodes. The pod is not scheduled, and its condition says why. */
export class AllocationFailed extends Error {}

/** The scheduler loads this module when the first pod needs devices. */
export type SelectorEngine = typeof import('../../../expressions/device-matches.ts')

/** The most expressions, and devices of each expression, whose results are kept. */
const MOST_EXPRESSIONS = 20
const MOST_DEVICES = 5_000

interface Known {
  readonly program: DeviceSelectorProgram
  readonly answers: BoundedMap<PoolDevice, boolean>
}

export class Selectors {
  private readonly known = new BoundedMap<string, Known>({ entries: MOST_EXPRESSIONS })
  private readonly values = new BoundedMap<PoolDevice, DeviceValue>({ entries: MOST_DEVICES })

  constructor(private readonly engine: SelectorEngine) {}

  /**
   * @param whose `class NAME` or `claim NAME`
   * @throws AllocationFailed
   */
  select(whose: string, selectors: readonly DeviceSelector[] = [], device: PoolDevice, budget: CostBudget): boolean {
    return selectors.every(({ cel }, at) => {
      if (cel === undefined)
        throw new AllocationFailed(`${whose}, selector #${at}: CEL expression empty (unsupported selector type?)`)
      try {
        return this.matches(cel.expression ?? '', device, budget)
      } catch (error) {
        if (!(error instanceof this.engine.SelectorFailed)) throw error
        throw new AllocationFailed(`${whose}: selector #${at}: ${error.message}`)
      }
    })
  }

  private matches(expression: string, device: PoolDevice, budget: CostBudget): boolean {
    const { program, answers } = this.knownOf(expression)
    let answer = answers.get(device)
    if (answer === undefined) {
      answer = program.matches(this.valueOf(device), budget)
      answers.set(device, answer)
    }
    return answer
  }

  private knownOf(expression: string): Known {
    const known = this.known.get(expression)
    if (known !== undefined) return known
    const program = this.engine.DeviceSelectorProgram.of(expression)
    const made = { program, answers: new BoundedMap<PoolDevice, boolean>({ entries: MOST_DEVICES }) }
    this.known.set(expression, made)
    return made
  }

  private valueOf(device: PoolDevice): DeviceValue {
    const known = this.values.get(device)
    if (known !== undefined) return known
    const made = new this.engine.DeviceValue(device.driver, device.device)
    this.values.set(device, made)
    return made
  }
}
