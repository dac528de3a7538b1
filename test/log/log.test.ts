import { expect, test, vi } from 'vitest'
import { logError } from '../../src/log/log.ts'

test('a line is JSON, with the auditID of its request and what was thrown', () => {
  const lines: string[] = []
  vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line))
  logError('a request failed', { auditID: 'a-1', error: new TypeError('two\nlines') })
  logError('another', { error: 'text' })
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 'error', message: 'a request failed', auditID: 'a-1', error: 'two\nlines' },
    { level: 'error', message: 'another', error: 'text' },
  ])
  expect(lines.join('')).not.toContain('\n')
})
