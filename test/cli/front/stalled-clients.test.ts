import { describe, expect, test } from 'vitest'
import { surplus } from '../../../src/cli/front/stalled-clients.ts'

const stalled = (address: string, ...times: number[]) => times.map((since) => ({ address, since }))

describe('clients that take nothing', () => {
  test('stay where they are few', () => {
    expect(surplus([...stalled('a', 1, 2), ...stalled('b', 3)], 3)).toEqual([])
  })

  test('end where one address has too many of them, the longest first', () => {
    expect(surplus(stalled('a', 3, 1, 4, 2), 2)).toEqual(stalled('a', 2, 1))
  })

  test('end only of the addresses that have most', () => {
    const ended = surplus([...stalled('a', 1, 2, 3, 4, 5, 6), ...stalled('b', 0), ...stalled('c', 0, 1)], 5)
    expect(ended).toEqual(stalled('a', 4, 3, 2, 1))
  })

  test('leave no more than are allowed, however many addresses they have', () => {
    const all = Array.from({ length: 10 }, (_, since) => stalled(`a${since}`, since)).flat()
    const ended = surplus(all, 4)
    expect(ended.map(({ since }) => since)).toEqual([5, 4, 3, 2, 1, 0])
  })
})
