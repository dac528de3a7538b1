// What a client of HTTP/2 sends becomes one request of HTTP/1.1 or none, whatever its fields contain.
import { describe, expect, test } from 'vitest'
import fc from '../../../chance.ts'
import { LAST_CHUNK, chunkOf } from '../../../../src/cli/front/chunked-body.ts'
import { requestText } from '../../../../src/cli/front/http2/request-text.ts'
import { MalformedRequest } from '../../../../src/cli/front/http-framing.ts'
import { RequestReader } from '../../../../src/cli/front/request-reader.ts'

const ASKED = [':method', 'GET', ':scheme', 'https', ':authority', 'h:1', ':path', '/a?b']

const textOf = (fields: readonly string[], isWhole = true): string =>
  requestText(fields, isWhole).head.toString('latin1')

describe('a head', () => {
  test.each<[what: string, fields: string[], isWhole: boolean, text: string]>([
    ['without a body', ASKED, true, 'GET /a?b HTTP/1.1\r\nhost: h:1\r\n\r\n'],
    [
      'with fields in their order',
      [...ASKED, 'x-b', '1', 'accept', '', 'x-b', '\xe9\t2'],
      true,
      'GET /a?b HTTP/1.1\r\nhost: h:1\r\nx-b: 1\r\naccept: \r\nx-b: \xe9\t2\r\n\r\n',
    ],
    [
      'with a body whose length is known',
      [...ASKED, 'content-length', '12', 'x', 'y'],
      false,
      'GET /a?b HTTP/1.1\r\nhost: h:1\r\ncontent-length: 12\r\nx: y\r\n\r\n',
    ],
    [
      'with a body whose length is not known',
      [...ASKED, 'x', 'y'],
      false,
      'GET /a?b HTTP/1.1\r\nhost: h:1\r\ntransfer-encoding: chunked\r\nx: y\r\n\r\n',
    ],
    [
      'with a body that is known to be empty',
      [...ASKED, 'content-length', '0'],
      true,
      'GET /a?b HTTP/1.1\r\nhost: h:1\r\ncontent-length: 0\r\n\r\n',
    ],
    ['with a host beside the authority', [...ASKED, 'host', 'x'], true, 'GET /a?b HTTP/1.1\r\nhost: h:1\r\n\r\n'],
    [
      'with a host in place of the authority',
      [':method', 'GET', ':path', '/', 'host', 'x', 'host', 'y'],
      true,
      'GET / HTTP/1.1\r\nhost: x\r\n\r\n',
    ],
    [
      'that asks for a tunnel',
      [':method', 'CONNECT', ':authority', 'h:1'],
      false,
      'CONNECT h:1 HTTP/1.1\r\nhost: h:1\r\ntransfer-encoding: chunked\r\n\r\n',
    ],
  ])('%s', (_what, fields, isWhole, text) => expect(textOf(fields, isWhole)).toBe(text))

  test.each<[what: string, fields: string[], isWhole?: boolean]>([
    ['no method', [':path', '/']],
    ['no path', [':method', 'GET']],
    ['two paths', [...ASKED, ':path', '/b']],
    ['two methods', [...ASKED, ':method', 'POST']],
    ['a pseudo-header that is none', [...ASKED, ':protocol', 'websocket']],
    ['a line break in a value', [...ASKED, 'x', 'y\r\nz: 1']],
    ['a bare CR in a value', [...ASKED, 'x', 'y\r']],
    ['a bare LF in the path', [':method', 'GET', ':path', '/\nx: y']],
    ['a NUL in a value', [...ASKED, 'x', '\0']],
    ['a line break in a name', [...ASKED, 'x\r\ny', '1']],
    ['a colon in a name', [...ASKED, 'upgrade:websocket', '1']],
    ['a blank in a name', [...ASKED, 'content-length ', '1']],
    ['a capital in a name', [...ASKED, 'Host', 'x']],
    ['an empty name', [...ASKED, '', 'x']],
    ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'http2-settings'].map(
      (name): [string, string[]] => [`a header ${name}`, [...ASKED, name, 'chunked']],
    ),
    ['two lengths', [...ASKED, 'content-length', '1', 'content-length', '1'], false],
    ['a length that is none', [...ASKED, 'content-length', '+1'], false],
    ['a length without a body', [...ASKED, 'content-length', '1']],
  ])('with %s is refused', (_what, fields, isWhole = true) =>
    expect(() => requestText(fields, isWhole)).toThrow(MalformedRequest),
  )
})

const oneOf = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values)
const awkward = oneOf(
  ...['\r', '\n', '\r\n', '\r\n\r\n', '\0', ' ', '\t', '\x0b', ':', ';', ',', '\x7f', '\x80', '\xff', '/', '?', '#'],
  ...['chunked', 'close', '0', '5', '100-continue', 'websocket', 'GET /b HTTP/1.1\r\nhost: h\r\n\r\n', ' HTTP/1.1'],
)
const value = fc.oneof(
  awkward,
  fc.array(fc.oneof(awkward, oneOf('a', 'b')), { maxLength: 4 }).map((all) => all.join('')),
)
const name = fc.oneof(
  oneOf('x-a', 'accept', 'host', 'content-length', 'transfer-encoding', 'expect', 'upgrade', 'connection', 'te'),
  oneOf(':path', ':method', ':authority', ':scheme', ':protocol'),
  value,
)
const field = fc.tuple(name, value)
const asked = fc.record({
  method: fc.oneof(oneOf('GET', 'POST'), value),
  path: fc.oneof(oneOf('/', '/a'), value),
  fields: fc.array(field, { maxLength: 4 }),
})

test('one request arrives, with these fields, or none', () => {
  let arrived = 0
  fc.assert(
    fc.property(asked, oneOf('', 'GET /smuggled HTTP/1.1\r\nhost: h\r\n\r\n'), ({ method, path, fields }, content) => {
      const sent = [':method', method, ':path', path, ':authority', 'h', ...fields.flat()]
      const reader = new RequestReader()
      const parts: string[] = []
      try {
        const { head, body } = requestText(sent, content === '')
        // the stream's body must have the length that was stated
        if (typeof body === 'number' && body !== content.length) return
        const data = Buffer.from(content)
        reader.push(head)
        if (data.length > 0) reader.push(body === 'chunked' ? Buffer.concat([chunkOf([data]), LAST_CHUNK]) : data)
        for (let part = reader.next(); part !== undefined; part = reader.next()) {
          parts.push(part.kind)
          if (part.kind !== 'head') continue
          expect(part.head).toMatchObject({ method, target: path, wantsUpgrade: false })
          const kept = fields.filter(([of]) => !/^(?::|host$|content-length$|expect$)/.test(of))
          const lines = part.head.lines.split('\r\n').filter((line) => line !== '' && !line.startsWith('host:'))
          expect(lines).toEqual(kept.map(([of, text]) => `${of}: ${text}`))
        }
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedRequest)
        return
      }
      const heads = parts.filter((kind) => kind === 'head')
      expect(heads).toHaveLength(1)
      expect(reader.length).toBe(0)
      expect(reader.isWithinBody).toBe(false)
      arrived++
    }),
    { numRuns: Number(process.env.KEDGE_RUNS ?? 2_000) },
  )
  expect(arrived).toBeGreaterThan(50)
})
