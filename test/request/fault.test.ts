import { expect, test, vi } from 'vitest'
import { faultCounts, noteFault } from '../../src/request/fault.ts'
import { ANONYMOUS } from '../../src/request/user-info.ts'

test('a fault that a client’s object causes is logged once a second, and counted each time', () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const at = (now: number) =>
    noteFault('managedFields', new Error('no'), {
      auditId: 'a',
      method: 'PUT',
      user: ANONYMOUS,
      now: new Date(now),
    } as never)
  const counted = faultCounts.get('managedFields') ?? 0
  for (let now = 0; now < 3_000; now += 10) at(now)
  expect(faultCounts.get('managedFields')).toBe(counted + 300)
  expect(log).toHaveBeenCalledTimes(3)
  log.mockRestore()
})
