import { describe, expect, it } from 'vitest'
import { indexesOf, overlapOf } from '../../../src/registry/batch/indexes.ts'

describe('indexes of a Job', () => {
  it.each([
    ['', []],
    [
      '0,2-4',
      [
        [0, 0],
        [2, 4],
      ],
    ],
    ['5', 'too large index: "5"'],
    ['2,1', 'non-increasing order, previous: 2, current: 1'],
    ['3-3', 'non-increasing order, previous: 3, current: 3'],
    ['a', 'cannot convert string to integer for index: "a"'],
    [
      '1-2-3',
      'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by \'-\'',
    ],
  ] as const)('%s', (text, expected) => expect(indexesOf(text, 5)).toEqual(expected))

  it('finds the first index in both', () => {
    expect(overlapOf('0,2-4', '1,3', 5)).toBe(3)
    expect(overlapOf('0,2', '1,3', 5)).toBeUndefined()
  })
})
