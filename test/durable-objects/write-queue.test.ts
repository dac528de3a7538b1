import { describe, expect, it } from 'vitest'
import { WriteQueue } from '../../durable-objects/write-queue.ts'
import { StorageError } from '../../src/storage/errors.ts'

describe('the queue of writes', () => {
  it('answers each write for itself, after all of them were made', async () => {
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

  it('answers all of them, whatever comes of what follows a write', async () => {
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
})
