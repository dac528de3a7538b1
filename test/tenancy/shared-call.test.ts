import { expect, test, vi } from 'vitest'
import { SharedCall } from '../../src/tenancy/shared-call.ts'

/** Calls that end when the test says so. */
function calls() {
  const ends: { resolve(value: string): void; reject(error: Error): void }[] = []
  const shared = new SharedCall<string>(() => Date.now())
  const call = () => new Promise<string>((resolve, reject) => void ends.push({ resolve, reject }))
  return { ends, shared, ask: () => shared.answer(shared.next, call) }
}

const turns = async () => {
  for (let n = 0; n < 10; n++) await Promise.resolve()
}

test('one call serves the first request, one more all that asked during it', async () => {
  const { ends, ask } = calls()
  const first = ask()
  const others = Array.from({ length: 30 }, ask)
  expect(ends).toHaveLength(1)
  ends[0]!.resolve('before')
  expect(await first).toBe('before')
  await turns()
  expect(ends).toHaveLength(2)
  ends[1]!.resolve('after')
  expect(new Set(await Promise.all(others))).toEqual(new Set(['after']))
  expect(ends).toHaveLength(2)
})

test('a request that may use the call in progress waits only for it', async () => {
  const { ends, shared, ask } = calls()
  const first = ask()
  const joined = shared.answer(shared.underWay(1_000)!, () => Promise.reject(new Error('not called')))
  ends[0]!.resolve('shared')
  expect(await Promise.all([first, joined])).toEqual(['shared', 'shared'])
})

test('a failure rejects the requests of that call, and the next call is made', async () => {
  const { ends, ask } = calls()
  const first = ask()
  const second = ask()
  const third = ask()
  ends[0]!.reject(new Error('unavailable'))
  await expect(first).rejects.toThrow('unavailable')
  await turns()
  expect(ends).toHaveLength(2)
  ends[1]!.reject(new Error('still unavailable'))
  await expect(second).rejects.toThrow('still unavailable')
  await expect(third).rejects.toThrow('still unavailable')
})

test('a call that was lost with its client is made again', async () => {
  vi.useFakeTimers()
  try {
    const { ends, ask } = calls()
    void ask()
    const second = ask()
    const third = ask()
    await vi.advanceTimersByTimeAsync(3_000)
    expect(ends).toHaveLength(2)
    ends[1]!.resolve('again')
    expect(await Promise.all([second, third])).toEqual(['again', 'again'])
  } finally {
    vi.useRealTimers()
  }
})
