import { expect, test } from 'vitest'
import type { CapacityRequestPolicy } from '../../../../src/api/resource/v1.ts'
import {
  capacityOf,
  capacityTexts,
  consumedOf,
  hasRoom,
  UsedCapacity,
} from '../../../../src/controllers/scheduling/devices/capacity.ts'

const device = (requestPolicy?: CapacityRequestPolicy) => ({
  name: 'x',
  capacity: { memory: { value: '10Gi', ...(requestPolicy && { requestPolicy }) } },
})
const RANGE = { default: '2Gi', validRange: { min: '1Gi', max: '8Gi', step: '1Gi' } }
const VALUES = { default: '1Gi', validValues: ['1Gi', '2Gi', '4Gi'] }

test.each([
  ['all without a request', undefined, undefined, '10Gi', true],
  ['what is asked for', undefined, '3', '3', true],
  ['more than there is', undefined, '11Gi', '11Gi', false],
  ['the default', RANGE, undefined, '2Gi', true],
  ['the least one', RANGE, '1', '1Gi', true],
  ['whole steps', RANGE, '2049Mi', '3Gi', true],
  ['beyond the range', RANGE, '9Gi', '9Gi', false],
  ['the next value', VALUES, '2500Mi', '4Gi', true],
  ['a value', VALUES, '2Gi', '2Gi', true],
  ['beyond all values', VALUES, '5Gi', '5Gi', false],
])('a share of %s', (_, policy, memory, taken, fits) => {
  const asked = memory === undefined ? undefined : { memory }
  expect(capacityTexts(consumedOf(device(policy), asked))).toEqual({ memory: taken })
  expect(hasRoom(device(policy), asked, [])).toBe(fits)
})

test('what shares take is added up, and given back', () => {
  const used = new UsedCapacity()
  const share = capacityOf({ memory: '4Gi' })
  used.add('x', share)
  used.add('x', share)
  expect(hasRoom(device(), { memory: '2Gi' }, [used.of('x')])).toBe(true)
  expect(hasRoom(device(), { memory: '1Gi' }, [used.of('x'), capacityOf({ memory: '2Gi' })])).toBe(false)
  used.remove('x', share)
  expect(hasRoom(device(), { memory: '6Gi' }, [used.of('x')])).toBe(true)
  used.remove('x', share)
  expect(used.of('x')).toBeUndefined()
})
