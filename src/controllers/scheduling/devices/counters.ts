/** Counters that the devices of a pool share: partitions of one piece of hardware use them up. */
import type { CounterSet, Device } from '../../../api/resource/v1.ts'
import { ownValue } from '../../../base/own.ts'
import { Quantity } from '../../../schema/quantity.ts'

interface Counted {
  readonly id: string
  readonly device: Device
}

/** Pairs of `SET/COUNTER` and the amount that a device consumes. */
const consumed = ({ consumesCounters = [] }: Device): [name: string, value: Quantity][] =>
  consumesCounters.flatMap(({ counterSet, counters = {} }) =>
    Object.entries(counters).map(([name, { value = '' }]): [string, Quantity] => [
      `${counterSet}/${name}`,
      Quantity.tryParse(value) ?? Quantity.zero,
    ]),
  )

export class CounterSets {
  private constructor(
    private readonly totals: ReadonlyMap<string, Quantity>,
    /** The devices of the whole pool that consume counters. */
    private readonly devices: readonly Counted[],
  ) {}

  /** Undefined: no device consumes counters. */
  static of(sets: readonly CounterSet[], all: readonly Counted[]): CounterSets | 'invalid' | undefined {
    const devices = all.filter(({ device }) => (device.consumesCounters ?? []).length > 0)
    const names = new Set(sets.map(({ name }) => name))
    if (names.size < sets.length) return 'invalid'
    const isKnown = ({ device }: Counted) =>
      (device.consumesCounters ?? []).every(({ counterSet, counters = {} }) => {
        const set = sets.find(({ name }) => name === counterSet) // few: validation allows 8
        return set !== undefined && Object.keys(counters).every((name) => ownValue(set.counters, name) !== undefined)
      })
    if (!devices.every(isKnown)) return 'invalid'
    const totals = sets.flatMap(({ name, counters = {} }) =>
      Object.entries(counters).map(([counter, { value = '' }]): [string, Quantity] => [
        `${name}/${counter}`,
        Quantity.tryParse(value) ?? Quantity.zero,
      ]),
    )
    return devices.length === 0 ? undefined : new CounterSets(new Map(totals), devices)
  }

  /** The amounts that allocated devices leave of the counters. */
  left(isInUse: (id: string) => boolean): Map<string, Quantity> {
    const left = new Map(this.totals)
    for (const { id, device } of this.devices) if (isInUse(id)) takeCounters(left, device, 1)
    return left
  }
}

/**
 * @param by 1: the device takes its amounts; -1: it gives them back
 * @returns whether there was enough
 */
export function takeCounters(left: Map<string, Quantity>, device: Device, by: 1 | -1): boolean {
  let isEnough = true
  for (const [name, value] of consumed(device)) {
    const now = (left.get(name) ?? Quantity.zero)[by === 1 ? 'sub' : 'add'](value)
    left.set(name, now)
    isEnough &&= now.sign >= 0
  }
  return isEnough
}
