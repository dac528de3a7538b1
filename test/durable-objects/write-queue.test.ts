import { describe, expect, it } from 'vitest'
import { WriteQueue } from '../../durable-objects/write-queue.ts'
import { StorageError } from '../../src/storage/errors.ts'

describe('the queue of writes', () => {
  it('gives each write its own answer, after the commit of all', async () => {
    const told: (readonly number[])[] = []
    const queue = new WriteQueue<number>(
      (write) => write(),
      (outcomes) => told.push(outcomes),
    )
    const failing = () => {
      throw new StorageError('KeyExists')
    }
    const answers = await Promise.allSettled([queue.run(() => 1), queue.run(failing), queue.run(() => 3)])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(told).toEqual([[1, 3]])
  })

  it('answers all writes although the work after a write fails', async () => {
    const queue = new WriteQueue<number>(
      (write) => write(),
      () => {
        throw new Error('nobody could be told')
      },
    )
    const failing = () => {
      throw new StorageError('KeyExists')
    }
    const answers = await Promise.allSettled([queue.run(() => 1), queue.run(failing)])
    expect(answers).toMatchObject([{ reason: { code: 'Uncertain' } }, { reason: { code: 'KeyExists' } }])
    await expect(queue.run(failing)).rejects.toMatchObject({ code: 'KeyExists' })
  })

  it('commits many writes in several turns, in their order, and refuses writes beyond its bound', async () => {
    const told: (readonly number[])[] = []
    const queue = new WriteQueue<number>(
      (write) => write(),
      (outcomes) => told.push(outcomes),
    )
    const answers = await Promise.allSettled(Array.from({ length: 5_000 }, (_, n) => queue.run(() => n)))
    expect(Math.max(...told.map(({ length }) => length))).toBe(256)
    expect(told.flat()).toEqual(Array.from({ length: 4_096 }, (_, n) => n))
    const refused = answers.filter((answer) => answer.status === 'rejected')
    expect(refused).toHaveLength(5_000 - 4_096)
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'Overloaded' })
    await expect(queue.run(() => 7)).resolves.toBe(7)
  })
})
