/**
 * The devices of a simulated node, from its annotation: `gpu=4;model=a100;memory:80Gi, nic=2`. Each part is a type and
 * its number of devices, then attributes with `=` and capacities with `:`.
 */
import type { Device, DeviceAttribute, DeviceCapacity } from '../../api/resource/v1.ts'
import { Quantity } from '../../schema/quantity.ts'

/**
 * The most devices of a slice, and the most attributes and capacities of a device besides its type, as the API allows.
 */
const MOST_DEVICES = 128
const MOST_FACTS = 31
const LONGEST = 10_000

const NAME = /^[a-z]([-a-z0-9]{0,30}[a-z0-9])?$/
const ID = /^[A-Za-z_][A-Za-z0-9_]{0,31}$/

/** A list that cannot be parsed. */
export class NoDeviceList extends Error {}

/** @throws NoDeviceList */
export function parseDevices(text: string): Device[] {
  if (text.length > LONGEST) throw new NoDeviceList(`a list of devices has at most ${LONGEST} characters`)
  const parts = text.split(',').map((part) => part.trim())
  const devices = parts.filter((part) => part !== '').map(devicesOf)
  const count = devices.reduce((sum, some) => sum + some.length, 0)
  if (count > MOST_DEVICES) throw new NoDeviceList(`a node has at most ${MOST_DEVICES} devices`)
  const all = devices.flat()
  if (new Set(all.map(({ name }) => name)).size < all.length)
    throw new NoDeviceList('a type of devices is listed twice')
  return all
}

function devicesOf(part: string): Device[] {
  const [head = '', ...facts] = part.split(';').map((one) => one.trim())
  const [type = '', count = '', ...more] = head.split('=').map((one) => one.trim())
  if (!NAME.test(type) || !/^[1-9]\d{0,2}$/.test(count) || more.length > 0 || Number(count) > MOST_DEVICES)
    throw new NoDeviceList(`${JSON.stringify(head)} is no TYPE=COUNT`)
  if (facts.length > MOST_FACTS)
    throw new NoDeviceList(`a device has at most ${MOST_FACTS} attributes and capacities beside its type`)
  const attributes = new Map<string, DeviceAttribute>([['type', { string: type }]])
  const capacity = new Map<string, DeviceCapacity>()
  for (const fact of facts) {
    const [, id = '', sign, value = ''] = /^([^=:]*)([=:])(.*)$/.exec(fact) ?? []
    if (!ID.test(id) || value === '' || attributes.has(id) || capacity.has(id)) throw unreadable(fact)
    if (sign === '=') attributes.set(id, attributeOf(value, fact))
    else if (Quantity.tryParse(value) === undefined) throw unreadable(fact)
    else capacity.set(id, { value })
  }
  return Array.from({ length: Number(count) }, (_, at) => ({
    name: `${type}-${at}`,
    attributes: Object.fromEntries(attributes),
    ...(capacity.size === 0 ? {} : { capacity: Object.fromEntries(capacity) }),
  }))
}

const unreadable = (fact: string) =>
  new NoDeviceList(`${JSON.stringify(fact)} is neither ATTRIBUTE=VALUE nor CAPACITY:QUANTITY`)

function attributeOf(value: string, fact: string): DeviceAttribute {
  if (value === 'true' || value === 'false') return { bool: value === 'true' }
  if (/^(0|-?[1-9]\d{0,14})$/.test(value)) return { int: Number(value) }
  if (/^(0|[1-9]\d{0,8})(\.(0|[1-9]\d{0,8})){2}$/.test(value)) return { version: value }
  if (value.length > 64) throw unreadable(fact)
  return { string: value }
}
