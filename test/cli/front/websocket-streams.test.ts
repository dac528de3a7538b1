/** Translates a client's WebSocket to the SPDY that a node speaks: octets in, octets out. */
import { Duplex } from 'node:stream'
import { describe, expect, test } from 'vitest'
import fc from '../../chance.ts'
import { dataFrame, goAway, rstStream, synStream } from '../../../src/spdy/frames.ts'
import { HeaderWriter } from '../../../src/spdy/header-blocks.ts'
import { WebSocketReader, acceptOf } from '../../../src/cli/front/websocket-frames.ts'
import { WebSocketStream, handshake } from '../../../src/cli/front/websocket-streams.ts'
import type { WebSocketTranslation } from '../../../src/outgoing/exchange.ts'

const all = { stdin: true, stdout: true, stderr: true, tty: false }

/** A masked frame, as clients send it. */
function masked(payload: Buffer | string, opcode = 2, isLast = true): Buffer {
  const octets = Buffer.from(payload)
  const mask = Buffer.from([1, 2, 3, 4])
  const head =
    octets.length < 126
      ? Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | octets.length])
      : Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | 126, octets.length >> 8, octets.length & 0xff])
  return Buffer.concat([head, mask, Uint8Array.from(octets, (octet: number, at: number) => octet ^ mask[at & 3]!)])
}

/**
 * Joins a client and a node. @returns the node's end of its connection, and the messages and the close that the client
 * gets
 */
function joined(translation: Partial<WebSocketTranslation>) {
  const toNode: Buffer[] = []
  const node = new Duplex({
    read() {},
    write(data: Buffer, _encoding, written) {
      toNode.push(data)
      written()
    },
  })
  const stream = new WebSocketStream(node, Buffer.alloc(0), { key: 'k', ...translation })
  const told: Buffer[] = []
  stream.on('data', (data: Buffer) => told.push(data)).on('error', () => {})
  const closed = new Promise<void>((resolve) => stream.once('close', resolve))
  const framesTold = (): string[] => {
    const frames: string[] = []
    let rest = Buffer.concat(told)
    while (rest.length > 0) {
      const long = rest[1] === 126
      const [from, length] = long ? [4, rest.readUInt16BE(2)] : [2, rest[1]!]
      frames.push(`${rest[0]! & 15}:${rest.toString('latin1', from, from + length)}`)
      rest = rest.subarray(from + length)
    }
    return frames
  }
  return { node, stream, closed, framesTold, toNode: () => Buffer.concat(toNode) }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const CLOSED = '8:\x03\xe8'
/** Stream IDs in the order in which the server opens the streams. */
const [ERROR_STREAM, STDIN_STREAM, STDOUT_STREAM, STDERR_STREAM] = [1, 3, 5, 7] as const
const said = (id: number, text: string, isLast = false): Buffer => Buffer.from(dataFrame(id, Buffer.from(text), isLast))
const reset = (id: number): Buffer => Buffer.from(rstStream(id, 5))

test('the handshake is that of RFC 6455', () => {
  expect(acceptOf('dGhlIHNhbXBsZSBub25jZQ==')).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
  expect(handshake({ key: 'dGhlIHNhbXBsZSBub25jZQ==' }, 'v5.channel.k8s.io').toString()).toBe(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n',
  )
})

test('messages are the same however their octets are split', () => {
  const sent = [
    masked('one'),
    masked('tw', 2, false),
    masked('p', 9),
    masked('o', 0),
    masked(''),
    masked('x'.repeat(300)),
  ]
  const octets = Buffer.concat(sent)
  fc.assert(
    fc.property(fc.array(fc.nat(octets.length), { maxLength: 8 }), (cuts) => {
      const messages: string[] = []
      const reader = new WebSocketReader({
        onPart: (part, begins) =>
          void (begins ? messages.push(String(part)) : (messages[messages.length - 1] += String(part))),
        onPing: (payload) => expect(String(payload)).toBe('p'),
        onClose: () => expect.unreachable(),
      })
      const places = [0, ...cuts.toSorted((a, b) => a - b), octets.length]
      for (const [index, from] of places.slice(0, -1).entries()) reader.read(octets.subarray(from, places[index + 1]))
      expect(messages).toEqual(['one', 'two', 'x'.repeat(300)])
    }),
    { numRuns: 100 },
  )
})

describe('the tunnel of a port-forward', () => {
  test('carries octets as they are, and answers pings', async () => {
    const { node, stream, framesTold, toNode } = joined({})
    stream.write(Buffer.concat([masked('ab'), masked('p', 9), masked('c')]))
    node.push('from the node')
    await turn()
    expect(toNode().toString()).toBe('abc')
    expect(framesTold()).toEqual(['10:p', '2:from the node'])
    stream.write(masked('', 8))
    await turn()
    expect(framesTold().at(-1)).toBe(CLOSED)
    expect(node.destroyed).toBe(true)
  })

  test.each([
    ['no mask', Buffer.from([0x82, 1, 0x61])],
    ['bits that mean nothing', Buffer.from([0xf2, 0x80, 0, 0, 0, 0])],
    ['the middle of no message', masked('a', 0)],
    ['a message within another', Buffer.concat([masked('a', 2, false), masked('b')])],
    ['a ping in parts', masked('a', 9, false)],
    ['a long ping', masked('a'.repeat(126), 9)],
    ['no known frame', masked('a', 3)],
  ])('ends with a frame that has %s', async (_, octets) => {
    const { node, stream, closed } = joined({})
    stream.write(octets)
    await closed
    expect(node.destroyed).toBe(true)
  })
})

describe('the channels of an exec', () => {
  test('are streams that are opened at once, and the client hears of it', async () => {
    const { framesTold, toNode } = joined({ streams: all })
    await turn()
    expect(framesTold()).toEqual(['2:\x01'])
    const names = ['error', 'stdin', 'stdout', 'stderr']
    const headers = new HeaderWriter()
    const opened = names.map((name, index) => synStream(2 * index + 1, headers.write(new Map([['streamtype', name]]))))
    expect(toNode()).toEqual(Buffer.concat(opened))
  })

  test.each([
    [{ ...all, stdout: false }, '2:\x02'],
    [{ ...all, stdout: false, stderr: false }, '2:\x03'],
    [{ ...all, tty: true }, '2:\x01'],
  ])('%j begins on %j', async (streams, first) => {
    const { framesTold } = joined({ streams })
    await turn()
    expect(framesTold()).toEqual([first])
  })

  test('a size goes to the resize stream, and messages on channels closed to clients are dropped', async () => {
    const { stream, toNode } = joined({ streams: { ...all, tty: true } })
    const before = toNode().length
    stream.write(Buffer.concat([masked('\x04{"Width":2}'), masked('\x01no'), masked('\x07no'), masked('\x00in')]))
    await turn()
    // a session with a terminal has no stderr
    expect(toNode().subarray(before)).toEqual(Buffer.concat([said(7, '{"Width":2}'), said(STDIN_STREAM, 'in')]))
  })

  test('an input ends once', async () => {
    const { stream, toNode } = joined({ streams: all })
    const before = toNode().length
    stream.write(Buffer.concat([masked('\x00in'), Buffer.from(masked(Buffer.from([255, 0]))), masked('\x00late')]))
    await turn()
    expect(toNode().subarray(before)).toEqual(Buffer.concat([said(STDIN_STREAM, 'in'), said(STDIN_STREAM, '', true)]))
  })

  test('the status comes last', async () => {
    const { node, framesTold, closed, stream } = joined({ streams: all })
    const status = '{"status":"Failure"}'
    const ping = Buffer.from([0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0, 2])
    for (const octet of Buffer.concat([
      said(ERROR_STREAM, status, true),
      ping,
      said(STDOUT_STREAM, 'out'),
      said(STDERR_STREAM, 'err', true),
      said(STDOUT_STREAM, '', true),
    ]))
      node.push(Buffer.from([octet]))
    await turn()
    stream.end()
    await closed
    const frames = framesTold()
    expect(
      frames
        .filter((one) => one.startsWith('2:\x01'))
        .map((one) => one.slice(3))
        .join(''),
    ).toBe('out')
    expect(frames.slice(-2)).toEqual([`2:\x03${status}`, CLOSED])
  })

  test.each<[string, Buffer[], RegExp]>([
    ['an error stream that ends empty: success', [said(1, '', true), reset(5), reset(7)], /"status":"Success"/],
    ['a node that is gone', [said(5, 'out')], /"status":"Failure".*the connection to the node was lost/],
    ['streams that are reset', [reset(1), reset(5), reset(7)], /"status":"Failure"/],
    ['GOAWAY', [Buffer.from(goAway())], /"status":"Failure"/],
  ])('%s', async (_, octets, status) => {
    const { node, framesTold } = joined({ streams: all })
    for (const one of octets) node.push(one)
    node.push(null)
    await turn()
    await turn()
    expect(framesTold().slice(-2)).toEqual([expect.stringMatching(status), CLOSED])
  })

  test('bytes that are not SPDY end both connections', async () => {
    const { node, closed } = joined({ streams: all })
    node.push(Buffer.from([0x80, 2, 0, 1, 0, 0, 0, 0]))
    await closed
    expect(node.destroyed).toBe(true)
  })
})

describe('what one side does not take, it does not make the other hold', () => {
  test('pings of a client that reads nothing have one answer', async () => {
    const node = new Duplex({ read() {}, write: (_data, _encoding, written) => written() })
    const stream = new WebSocketStream(node, Buffer.alloc(0), { key: 'k', streams: all }).on('error', () => {})
    const pings = Buffer.concat(Array.from({ length: 1_000 }, () => masked('x'.repeat(125), 9)))
    for (let n = 0; n < 20; n++) stream.write(pings)
    stream.write(masked('last', 9))
    await turn()
    expect(stream.readableLength).toBeLessThan(256 * 1024)
    const told: Buffer[] = []
    stream.on('data', (data: Buffer) => told.push(data))
    await turn()
    await turn()
    expect(Buffer.concat(told).subarray(-4).toString()).toBe('last')
  })

  test('a node that pings and reads nothing is left', async () => {
    const node = new Duplex({ read() {}, write() {} })
    const stream = new WebSocketStream(node, Buffer.alloc(0), { key: 'k', streams: all }).on('error', () => {})
    stream.resume()
    const ping = Buffer.from([0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0, 2])
    const pings = Buffer.concat(Array.from({ length: 100_000 }, () => ping))
    for (let n = 0; n < 10 && !node.destroyed; n++) {
      node.push(pings)
      await turn()
    }
    expect(node.destroyed).toBe(true)
  })
})
