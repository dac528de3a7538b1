import { expect, test } from 'vitest'
import { invalidValue, path } from '../../src/api/field.ts'
import { invalid, notFound } from '../../src/api/status.ts'

test('an answer tells of a megabyte of errors at most, and of one at least', () => {
  const kind = { group: '', kind: 'Pod' }
  const errors = Array.from({ length: 100 }, (_, at) => invalidValue(path('spec').index(at), at, 'x'.repeat(100_000)))
  const { status } = invalid(kind, 'a', errors)
  expect(status.details?.causes).toHaveLength(10)
  expect(status.message?.length).toBeLessThan(1_100_000)
  expect(
    invalid(kind, 'a', [invalidValue(path('spec'), 1, 'x'.repeat(2_000_000))]).status.details?.causes,
  ).toHaveLength(1)
  expect(invalid(kind, 'a', errors.slice(0, 3)).status.details?.causes).toHaveLength(3)
})

test('an answer has no stack, and other errors have theirs after it', () => {
  const frames = ({ stack = '' }: Error): string[] => stack.split('\n').filter((line) => /^ +at /.test(line))
  expect(frames(notFound({ group: '', resource: 'pods' }, 'a'))).toEqual([])
  expect(frames(new Error('a mistake'))).not.toEqual([])
})
