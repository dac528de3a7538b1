import { expect, test } from 'vitest'
import { PendingWork } from '../../durable-objects/pending-work.ts'

test('the same work is stored once, until its delivery begins', () => {
  const pending = new PendingWork()
  const isNew = (topic: string, payload: string): boolean => pending.isNew({ topic, payload })
  expect([isNew('a', '1'), isNew('a', '1'), isNew('b', '1'), isNew('a', '2')]).toEqual([true, false, true, true])
  pending.deliveryBegins()
  expect(isNew('a', '1')).toBe(true)
})

test('work that was reported once is stored again only after a rollback', () => {
  const pending = new PendingWork()
  const isNew = (payload: string): boolean => pending.isNew({ topic: 'a', payload, once: true })
  expect([isNew('1'), isNew('1'), isNew('2')]).toEqual([true, false, true])
  pending.deliveryBegins()
  expect(isNew('1')).toBe(false)
  pending.forget()
  expect(isNew('1')).toBe(true)
})
