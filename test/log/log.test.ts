import { expect, test, vi } from 'vitest'
import { logError, logInfo } from '../../src/log/log.ts'

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

test('values that clients choose do not fill the log', () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  logInfo('HTTP', { auditID: 'a'.repeat(1_000_000), path: `/${'p'.repeat(1_000_000)}`, status: 200 })
  const [line = ''] = log.mock.calls[0] as [string]
  expect(line.length).toBeLessThan(5_000)
  expect(JSON.parse(line)).toMatchObject({ message: 'HTTP', auditID: `${'a'.repeat(64)}…`, status: 200 })
})

test('a line is one line, whatever is in it', () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  logInfo('HTTP', { path: '/a\n{"level":"info","message":"HTTP","user":"admin"}', userAgent: '\r\n\u2028\u0000' })
  expect((log.mock.calls.at(-1) as [string])[0].split(/[\r\n]/)).toHaveLength(1)
})
