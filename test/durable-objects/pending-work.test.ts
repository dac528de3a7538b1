import { expect, test } from 'vitest'
import { PendingWork } from '../../durable-objects/pending-work.ts'

test('the same work is stored once, until its delivery begins', () => {
  const pending = new PendingWork()
  expect([pending.isNew('a', '1'), pending.isNew('a', '1'), pending.isNew('b', '1'), pending.isNew('a', '2')]).toEqual([
    true,
    false,
    true,
    true,
  ])
  pending.forget()
  expect(pending.isNew('a', '1')).toBe(true)
})
