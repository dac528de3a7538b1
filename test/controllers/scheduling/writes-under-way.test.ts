import { expect, test } from 'vitest'
import { turnOfOthers } from '../../../src/base/slices.ts'
import { WritesUnderWay } from '../../../src/controllers/scheduling/writes-under-way.ts'

const open = () => {
  let [end, fail]: [() => void, (why: Error) => void] = [() => {}, () => {}]
  const done = new Promise<void>((resolve, reject) => ([end, fail] = [resolve, reject]))
  return { done, end, fail }
}

test('so many go on side by side, and who wants more waits for one of them', async () => {
  const writes = new WritesUnderWay(2)
  const [a, b] = [open(), open()]
  writes.add(a.done)
  await writes.hasRoom()
  writes.add(b.done)
  let hasRoom = false
  const room = writes.hasRoom().then(() => (hasRoom = true))
  await turnOfOthers()
  expect(hasRoom).toBe(false)
  b.end()
  await room
  let isDone = false
  const done = writes.done().then(() => (isDone = true))
  await turnOfOthers()
  expect(isDone).toBe(false)
  a.end()
  await done
  await writes.done()
})

test('a run that is overdue waits for none of its writes, unless it wants to', async () => {
  const overdue = open()
  const writes = new WritesUnderWay(1, overdue.done)
  const a = open()
  writes.add(a.done)
  const ended = writes.doneOrOverdue()
  overdue.end()
  await ended
  expect([await writes.hasRoom(), writes.size]).toEqual([false, 1])
  let isDone = false
  const done = writes.done().then(() => (isDone = true))
  await turnOfOthers()
  expect(isDone).toBe(false)
  a.end()
  await done
  expect([await writes.hasRoom(), writes.size]).toEqual([true, 0])
})

test('the first failure is told once, when all the others are done', async () => {
  const writes = new WritesUnderWay(8)
  const [a, b] = [open(), open()]
  writes.add(a.done)
  writes.add(b.done)
  a.fail(new Error('first'))
  await turnOfOthers()
  await expect(writes.hasRoom()).rejects.toThrow('first')
  const done = writes.done()
  b.fail(new Error('second'))
  await expect(done).rejects.toThrow('second')
  await writes.done()
})
