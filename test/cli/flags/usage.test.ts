import { expect, test } from 'vitest'
import { UsageError, parse } from '../../../src/cli/flags/usage.ts'

const options = { 'data-dir': { type: 'string' } } as const

test.each([[['--data-dir', '']], [['--data-dir=']]])('%j is no directory', (args) => {
  expect(() => parse(args, options)).toThrow(new UsageError('--data-dir wants a directory, not "".'))
})

test.each([
  [[], undefined],
  [['--data-dir', '.'], '.'],
])('%j is taken', (args, directory) => {
  expect(parse(args, options)['data-dir']).toBe(directory)
})
