/**
 * The capacity of devices that requests consume. A device with multiple allocations is shared until it is used up: each
 * share consumes its request, rounded by the device's policy.
 */
import { ownValue } from '../../../base/own.ts'
import type { CapacityRequestPolicy, Device, DeviceCapacity } from '../../../api/resource/v1.ts'
import { Quantity } from '../../../schema/quantity.ts'

/** Amounts by the names of the device's capacities. */
export type Capacity = ReadonlyMap<string, Quantity>
type Asked = Readonly<Record<string, string>> | undefined

export const isShared = ({ allowMultipleAllocations }: Device): boolean => allowMultipleAllocations === true

const read = (text: string | undefined): Quantity => Quantity.tryParse(text ?? '') ?? Quantity.zero

/** The amounts that one share consumes. Without a request that is the policy's default, or everything. */
export const consumedOf = ({ capacity = {} }: Device, asked: Asked): Capacity =>
  new Map(Object.entries(capacity).map(([name, of]) => [name, consumed(ownValue(asked, name), of)]))

function consumed(asked: string | undefined, { value, requestPolicy }: DeviceCapacity): Quantity {
  if (asked === undefined) return read(requestPolicy?.default ?? value)
  const wanted = read(asked)
  const { validRange, validValues } = requestPolicy ?? {}
  if (validRange?.min !== undefined) return roundedUp(wanted, read(validRange.min), validRange.step)
  return validValues?.map(read).find((valid) => wanted.compare(valid) <= 0) ?? wanted
}

/** Rounds up to `least` plus whole steps. */
function roundedUp(wanted: Quantity, least: Quantity, step: string | undefined): Quantity {
  if (wanted.compare(least) < 0) return least
  const size = read(step).scaledValue(0)
  if (size <= 0n) return wanted
  const [from, over] = [least.scaledValue(0), wanted.scaledValue(0) - least.scaledValue(0)]
  return Quantity.of(from + size * ((over + size - 1n) / size), 'BinarySI')
}

/** @param used the capacity that shares of other claims and of this search consume */
export function hasRoom(device: Device, asked: Asked, used: readonly (Capacity | undefined)[]): boolean {
  const capacity = device.capacity ?? {}
  if (!Object.keys(asked ?? {}).every((name) => ownValue(capacity, name) !== undefined)) return false
  for (const [name, taken] of consumedOf(device, asked)) {
    const { value, requestPolicy } = capacity[name]! // own key: consumedOf lists its names
    if (requestPolicy !== undefined && !isValid(taken, requestPolicy)) return false
    const sum = used.reduce((all, of) => all.add(of?.get(name) ?? Quantity.zero), taken)
    if (sum.compare(read(value)) > 0) return false
  }
  return true
}

function isValid(taken: Quantity, { default: usual, validRange, validValues = [] }: CapacityRequestPolicy): boolean {
  if (usual !== undefined && taken.equals(read(usual))) return true
  if (validRange === undefined)
    return validValues.length === 0 || validValues.some((valid) => taken.equals(read(valid)))
  const { min, max, step } = validRange
  if (max !== undefined && taken.compare(read(max)) > 0) return false
  const size = read(step).scaledValue(0)
  return size <= 0n || (taken.scaledValue(0) - read(min).scaledValue(0)) % size === 0n
}

/** The consumed capacity of each device. */
export class UsedCapacity {
  /** By the id of the device. Bound: the devices that are shared. The map lives as long as the run, or the search. */
  private readonly devices = new Map<string, { shares: number; taken: Map<string, Quantity> }>()

  of(device: string): Capacity | undefined {
    return this.devices.get(device)?.taken
  }

  add(device: string, share: Capacity): void {
    const known = this.devices.get(device) ?? { shares: 0, taken: new Map<string, Quantity>() }
    known.shares++
    for (const [name, value] of share) known.taken.set(name, (known.taken.get(name) ?? Quantity.zero).add(value))
    this.devices.set(device, known)
  }

  remove(device: string, share: Capacity): void {
    const known = this.devices.get(device)
    if (known === undefined) return
    for (const [name, value] of share) known.taken.set(name, (known.taken.get(name) ?? Quantity.zero).sub(value))
    if (--known.shares === 0) this.devices.delete(device)
  }
}

/** Capacities as text for a claim's status. `capacityOf` is the inverse. */
export const capacityTexts = (capacity: Capacity): Record<string, string> =>
  Object.fromEntries([...capacity].map(([name, value]) => [name, value.toString()]))

export const capacityOf = (texts: Readonly<Record<string, string>> = {}): Capacity =>
  new Map(Object.entries(texts).map(([name, text]) => [name, read(text)]))
