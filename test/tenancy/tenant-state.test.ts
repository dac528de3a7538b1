import { expect, test } from 'vitest'
import { perTenant, weighTenant } from '../../src/tenancy/tenant-state.ts'

const counters = perTenant('forgotten', () => ({ count: 0 }))
const names = perTenant<string[]>('forgotten', () => [])

test('each module has its own part of a control plane', () => {
  counters({ uid: 'a' }).count++
  counters({ uid: 'a' }).count++
  counters({ uid: 'b' }).count++
  names({ uid: 'a' }).push('x')
  expect([counters({ uid: 'a' }).count, counters({ uid: 'b' }).count, names({ uid: 'a' })]).toEqual([2, 1, ['x']])
})

test('control planes that were not used for long are forgotten', () => {
  counters({ uid: 'old' }).count = 7
  for (let n = 0; n < 1_000; n++) {
    counters({ uid: `tenant-${n}` })
    counters({ uid: 'busy' }).count++
  }
  expect(counters({ uid: 'old' }).count).toBe(0)
  expect(counters({ uid: 'busy' }).count).toBe(1_000)
})

test('large ones make room, but the one in use stays', () => {
  counters({ uid: 'first' }).count = 1
  weighTenant({ uid: 'first' }, 'configuration', 40 * 1024 * 1024)
  counters({ uid: 'second' }).count = 2
  weighTenant({ uid: 'second' }, 'configuration', 200 * 1024 * 1024)
  expect(counters({ uid: 'second' }).count).toBe(2)
  expect(counters({ uid: 'first' }).count).toBe(0)
})

test('all that is held of one counts together, as it is now', () => {
  const MIB = 1024 * 1024
  counters({ uid: 'third' }).count = 3
  weighTenant({ uid: 'third' }, 'configuration', 20 * MIB)
  weighTenant({ uid: 'third' }, 'scheduler', 20 * MIB)
  weighTenant({ uid: 'third' }, 'kubelets', 20 * MIB)
  weighTenant({ uid: 'third' }, 'kubelets', 0)
  counters({ uid: 'fourth' }).count = 4
  weighTenant({ uid: 'fourth' }, 'configuration', 20 * MIB)
  expect(counters({ uid: 'third' }).count).toBe(3)
  weighTenant({ uid: 'fourth' }, 'scheduler', 20 * MIB)
  expect([counters({ uid: 'third' }).count, counters({ uid: 'fourth' }).count]).toEqual([0, 4])
})
