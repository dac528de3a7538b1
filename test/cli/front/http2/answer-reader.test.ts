import { describe, expect, test } from 'vitest'
import fc from '../../../chance.ts'
import { AnswerReader } from '../../../../src/cli/front/http2/answer-reader.ts'

interface Heard {
  readonly interim: number
  readonly status?: number
  readonly fields?: Readonly<Record<string, string | string[]>>
  readonly isWhole?: boolean
  readonly data: string
  readonly isComplete: boolean
  readonly endsWithConnection: boolean
}

/** Reads an answer in pieces of these sizes. */
function hear(text: string, { isHead = false, sizes = [1 << 16] } = {}): Heard {
  let head: Pick<Heard, 'status' | 'fields' | 'isWhole'> = {}
  let interim = 0
  let data = ''
  const reader = new AnswerReader(isHead, {
    goOn: () => interim++,
    head: (status, fields, isWhole) => (head = { status, fields: Object.fromEntries(fields), isWhole }),
  })
  const octets = Buffer.from(text, 'latin1')
  let isComplete = false
  for (let at = 0, n = 0; at < octets.length; n++) {
    // the buffer of one read is used again for the next
    const piece = Buffer.from(octets.subarray(at, at + sizes[n % sizes.length]!))
    const { content, isLast } = reader.read(piece)
    data += Buffer.concat(content).toString('latin1')
    isComplete = isLast
    at += piece.length
    piece.fill(0)
  }
  return { interim, ...head, data, isComplete, endsWithConnection: reader.endsWithConnection }
}

const OK = 'HTTP/1.1 200 OK\r\n'

describe('an answer', () => {
  test.each<[what: string, text: string, heard: Partial<Heard>]>([
    [
      'with a length',
      `${OK}Content-Length: 2\r\nX-A: 1\r\n\r\nhi`,
      { status: 200, fields: { 'content-length': '2', 'x-a': '1' }, isWhole: false, data: 'hi', isComplete: true },
    ],
    ['of which a part is missing', `${OK}Content-Length: 3\r\n\r\nhi`, { data: 'hi', isComplete: false }],
    ['without content', `${OK}Content-Length: 0\r\n\r\n`, { isWhole: true, data: '', isComplete: true }],
    [
      'that has none by its status',
      'HTTP/1.1 304 Not Modified\r\nEtag: "1"\r\n\r\n',
      { isWhole: true, isComplete: true },
    ],
    [
      'in chunks',
      `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n1\r\n!\r\n0\r\n\r\n`,
      { fields: {}, data: 'hi!', isComplete: true },
    ],
    ['in chunks that go on', `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n`, { data: 'hi', isComplete: false }],
    ['that ends with the connection', `${OK}\r\nhi`, { data: 'hi', isComplete: false, endsWithConnection: true }],
    [
      'without what describes a connection',
      `${OK}Connection: close\r\nKeep-Alive: 1\r\nUpgrade: x\r\nContent-Length: 0\r\n\r\n`,
      { fields: { 'content-length': '0' } },
    ],
    [
      'whose names repeat',
      `${OK}Warning: 1\r\nwarning: 2\r\nWARNING: 3\r\nContent-Length: 0\r\n\r\n`,
      { fields: { warning: ['1', '2', '3'], 'content-length': '0' } },
    ],
    [
      'whose names repeat although they should not',
      `${OK}Etag: 1\r\netag: 2\r\nContent-Length: 0\r\n\r\n`,
      { fields: { etag: '1, 2', 'content-length': '0' } },
    ],
    [
      'behind interim ones',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}Content-Length: 0\r\n\r\n`,
      { interim: 1, status: 200, fields: { 'content-length': '0' } },
    ],
  ])('%s', (_what, text, heard) => {
    for (const sizes of [[1 << 16], [1], [3, 5]]) expect(hear(text, { sizes })).toMatchObject(heard)
  })

  test('of a HEAD has no content, whatever its length says', () =>
    expect(hear(`${OK}Content-Length: 7\r\n\r\n`, { isHead: true })).toMatchObject({
      fields: { 'content-length': '7' },
      isWhole: true,
      isComplete: true,
    }))
})

test('how an answer is cut does not change it', () => {
  const chunk = fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 40 })
  const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 6 }), sizes, (chunks, cut) => {
      const body = chunks.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join('')
      const text = `${OK}X: y\r\nTransfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`
      expect(hear(text, { sizes: cut })).toEqual(hear(text))
      expect(hear(text).data).toBe(chunks.join(''))
    }),
  )
})
