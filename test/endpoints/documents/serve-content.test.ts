import { expect, test } from 'vitest'
import { serveContent } from '../../../src/endpoints/documents/serve-content.ts'

const lastModified = new Date('2026-11-21T12:00:00.500Z')
const content = {
  body: new TextEncoder().encode('0123456789'),
  etag: '"AB"',
  lastModified,
  headers: { 'Content-Type': 'application/json' },
}

const ask = (headers: Record<string, string>, method = 'GET') =>
  serveContent(new Request('http://localhost/', { method, headers }), content)

test.each([
  [{}, 200, '0123456789'],
  [{ 'If-None-Match': '"AB"' }, 304, ''],
  [{ 'If-None-Match': 'W/"AB"' }, 304, ''],
  [{ 'If-None-Match': '"X", "AB"' }, 304, ''],
  [{ 'If-None-Match': '*' }, 304, ''],
  [{ 'If-None-Match': '"X"' }, 200, '0123456789'],
  [{ 'If-None-Match': 'nonsense' }, 200, '0123456789'],
  [{ 'If-Match': '"AB"' }, 200, '0123456789'],
  [{ 'If-Match': 'W/"AB"' }, 412, ''],
  [{ 'If-Match': '"X"' }, 412, ''],
  [{ 'If-Modified-Since': 'Sat, 21 Nov 2026 12:00:00 GMT' }, 304, ''],
  [{ 'If-Modified-Since': 'Sat, 21 Nov 2026 11:59:59 GMT' }, 200, '0123456789'],
  [{ 'If-Unmodified-Since': 'Sat, 21 Nov 2026 11:59:59 GMT' }, 412, ''],
  [{ Range: 'bytes=0-3' }, 206, '0123'],
  [{ Range: 'bytes=-2' }, 206, '89'],
  [{ Range: 'bytes=8-' }, 206, '89'],
  [{ Range: 'bytes=20-' }, 416, 'invalid range: failed to overlap\n'],
  [{ Range: 'bytes=x' }, 416, 'invalid range\n'],
  [{ Range: 'bytes=0-3', 'If-Range': '"AB"' }, 206, '0123'],
  [{ Range: 'bytes=0-3', 'If-Range': '"X"' }, 200, '0123456789'],
])('%o → %i', async (headers, status, text) => {
  const response = ask(headers as Record<string, string>)
  expect(response.status).toBe(status)
  expect(await response.text()).toBe(text)
})

test('several ranges come as parts', async () => {
  const response = ask({ Range: 'bytes=0-1,4-5' })
  const boundary = /boundary=(\w+)/.exec(response.headers.get('Content-Type')!)![1]
  expect(response.status).toBe(206)
  expect(await response.text()).toBe(
    `--${boundary}\r\nContent-Range: bytes 0-1/10\r\nContent-Type: application/json\r\n\r\n01` +
      `\r\n--${boundary}\r\nContent-Range: bytes 4-5/10\r\nContent-Type: application/json\r\n\r\n45\r\n--${boundary}--\r\n`,
  )
})

test('a condition on another method than a reading one', () => {
  expect(ask({ 'If-None-Match': '"AB"' }, 'POST').status).toBe(412)
  expect(ask({}, 'POST').status).toBe(200)
})
