// A SPDY client that compresses its headers with zlib and the SPDY dictionary, against our server side of a connection.
import { createDeflate, constants, createInflate } from 'node:zlib'
import type { Deflate, Inflate } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { headerDictionary } from '../../src/spdy/dictionary.ts'
import { dataFrame } from '../../src/spdy/frames.ts'
import { number32, read32 } from '../../src/spdy/numbers.ts'
import type { ServerStream } from '../../src/spdy/server-connection.ts'
import { SpdyServerConnection } from '../../src/spdy/server-connection.ts'

/** The Adler-32 checksum by which zlib identifies the dictionary (RFC 1950, 2.2). */
function adler32(bytes: Uint8Array): number {
  let [a, b] = [1, 0]
  for (const byte of bytes) {
    a = (a + byte) % 65521
    b = (b + a) % 65521
  }
  return b * 65536 + a
}

test('the dictionary is that of SPDY/3', () => {
  expect(headerDictionary().length).toBe(1423)
  expect(adler32(headerDictionary())).toBe(0xe3c6a7c2)
})

const through = (stream: Deflate | Inflate, bytes: Uint8Array): Promise<Buffer> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = []
    const take = (chunk: Buffer) => chunks.push(chunk)
    stream.on('data', take)
    stream.write(bytes)
    stream.flush(constants.Z_SYNC_FLUSH, () => {
      stream.off('data', take)
      resolve(Buffer.concat(chunks))
    })
  })

function headerBlock(headers: Record<string, string>): Buffer {
  const text = (words: string) => Buffer.concat([number32(words.length), Buffer.from(words)])
  const entries = Object.entries(headers)
  return Buffer.concat([number32(entries.length), ...entries.flatMap(([name, value]) => [text(name), text(value)])])
}

class Client {
  private readonly deflate = createDeflate({ dictionary: headerDictionary() })
  private readonly inflate = createInflate({ dictionary: headerDictionary() })
  readonly log: string[] = []
  private readonly sent: Uint8Array[] = []
  readonly streams: ServerStream[] = []
  readonly server: SpdyServerConnection

  constructor(turn?: () => Promise<void>) {
    const listener = {
      accept: (headers: ReadonlyMap<string, string>) => (stream: ServerStream) => {
        this.streams.push(stream)
        this.log.push(`opened ${stream.id} ${JSON.stringify(Object.fromEntries(headers))}`)
        if (headers.get('streamtype') === 'reset at once') stream.reset()
        return {
          data: (bytes: Uint8Array) => this.log.push(`data ${stream.id} ${Buffer.from(bytes).toString()}`),
          ended: () => this.log.push(`ended ${stream.id}`),
          reset: () => this.log.push(`reset ${stream.id}`),
          gone: () => this.log.push(`gone ${stream.id}`),
        }
      },
    }
    const accept = (headers: ReadonlyMap<string, string>) =>
      headers.get('streamtype') === 'unknown' ? undefined : listener.accept(headers)
    this.server = new SpdyServerConnection((bytes) => this.sent.push(bytes), { accept }, turn)
  }

  async open(id: number, headers: Record<string, string>, flags = 0): Promise<Buffer> {
    const block = await through(this.deflate, headerBlock(headers))
    const body = Buffer.concat([number32(id), number32(0), Buffer.from([0, 0]), block])
    return control(1, body, flags)
  }

  /** Frames that the server sent since the last call. */
  async answers(): Promise<string[]> {
    const told: string[] = []
    for (const frame of this.sent.splice(0)) {
      const [first, second] = [read32(frame, 0), read32(frame, 4)]
      const rest = frame.subarray(8)
      expect(rest.length).toBe(second & 0xffffff)
      if (first < 0x80000000) {
        told.push(`data ${first} ${Buffer.from(rest).toString()}${second >>> 24 ? ' fin' : ''}`)
        continue
      }
      const [kind, id] = [first & 0xffff, read32(rest, 0)]
      if (kind === 2) expect(await through(this.inflate, rest.subarray(4))).toEqual(headerBlock({}))
      told.push([`control ${kind}`, id, ...(kind === 3 ? [read32(rest, 4)] : [])].join(' '))
    }
    return told
  }
}

const control = (kind: number, body: Uint8Array, flags = 0): Buffer =>
  Buffer.concat([number32(0x80030000 + kind), number32((flags << 24) + body.length), body])

describe.each([
  ['whole', Number.POSITIVE_INFINITY],
  ['byte by byte', 1],
  ['in pieces of 7', 7],
])('frames that come %s', (_, size) => {
  async function sendAll(client: Client, ...frames: Uint8Array[]): Promise<void> {
    const bytes = Buffer.concat(frames)
    for (let at = 0; at < bytes.length; at += size) await client.server.receive(bytes.subarray(at, at + size))
  }

  test('open streams, each with headers that build on those before', async () => {
    const client = new Client()
    const frames = []
    for (let id = 1; id <= 9; id += 2)
      frames.push(await client.open(id, { streamtype: id % 4 === 1 ? 'error' : 'data', port: '80', requestid: '0' }))
    await sendAll(client, ...frames)
    expect(client.log).toEqual(
      [1, 3, 5, 7, 9].map(
        (id) => `opened ${id} {"streamtype":"${id % 4 === 1 ? 'error' : 'data'}","port":"80","requestid":"0"}`,
      ),
    )
    expect(await client.answers()).toEqual([1, 3, 5, 7, 9].map((id) => `control 2 ${id}`))
  })

  test('carry data both ways, until both ends are over', async () => {
    const client = new Client()
    await sendAll(client, await client.open(1, {}), dataFrame(1, Buffer.from('hello'), false))
    expect(
      client.log
        .slice(1)
        .map((line) => line.slice(7))
        .join(''),
    ).toBe('hello')
    client.streams[0]!.send(Buffer.from('hi'), true)
    client.streams[0]!.send(Buffer.from('more'))
    await sendAll(client, dataFrame(1, Buffer.from(''), true), dataFrame(1, Buffer.from('late'), false))
    expect(client.log.slice(-2)).toEqual(['ended 1', 'gone 1'])
    expect(await client.answers()).toEqual(['control 2 1', 'data 1 hi fin'])
  })

  test('answer pings of the client alone', async () => {
    const client = new Client()
    await sendAll(client, control(6, number32(7)), control(6, number32(8)), control(4, number32(0)))
    expect(await client.answers()).toEqual(['control 6 7'])
  })
})

test('a stream is refused that nobody wants, that goes back, and the 513th', async () => {
  const client = new Client()
  const open = async (id: number, type: string) => client.server.receive(await client.open(id, { streamtype: type }))
  await open(1, 'unknown')
  await open(3, 'data')
  await open(3, 'data')
  expect(await client.answers()).toEqual(['control 3 1 3', 'control 2 3', 'control 3 3 1'])
  for (let id = 5; id < 5 + 2 * 511; id += 2) await open(id, 'data')
  await client.answers()
  await open(2001, 'data')
  expect(await client.answers()).toEqual(['control 3 2001 3'])
})

test('a reset stream is reported, and so is each stream when the client goes', async () => {
  const client = new Client()
  for (const id of [1, 3, 5]) await client.server.receive(await client.open(id, {}))
  await client.server.receive(control(3, Buffer.concat([number32(3), number32(5)])))
  client.streams[2]!.reset()
  client.server.close()
  expect(client.log.slice(3)).toEqual(['reset 3', 'gone 3', 'gone 5', 'reset 1', 'gone 1'])
  expect((await client.answers()).at(-1)).toBe('control 3 5 5')
})

test('a stream that goes while it is opened is reported, too', async () => {
  const client = new Client()
  await client.server.receive(await client.open(1, { streamtype: 'reset at once' }))
  expect(client.log.slice(1)).toEqual(['reset 1', 'gone 1'])
})

test.each([
  ['another version', Buffer.concat([number32(0x80020001), number32(0)])],
  ['a control frame without end', Buffer.concat([number32(0x80030001), number32(0xffffff)])],
  ['headers that are no zlib stream', control(1, Buffer.alloc(30, 1))],
  ['headers of another method', control(1, Buffer.concat([Buffer.alloc(10), Buffer.from([0x79, 0x9c, 1, 2, 3])]))],
  [
    'headers that cannot be inflated',
    control(1, Buffer.concat([Buffer.alloc(10), Buffer.from([0x78, 0x9c, 7, 7, 7, 7, 7])])),
  ],
  ['a reset without a stream', control(3, Buffer.alloc(1))],
])('%s ends the connection', async (_, bytes) => {
  await expect(new Client().server.receive(bytes)).rejects.toThrow()
})

test.each([5_000, 1_000_000])(
  'headers that inflate to more than anybody has end the connection: %i',
  async (length) => {
    const client = new Client()
    await expect(client.server.receive(await client.open(1, { long: 'x'.repeat(length) }))).rejects.toThrow('too long')
  },
)

test('a client that sends faster than is read is let go', async () => {
  const { server } = new Client(async () => {})
  const sent = Array.from({ length: 6 }, () => server.receive(Buffer.alloc(1_000_000)))
  expect((await Promise.allSettled(sent)).filter(({ status }) => status === 'rejected')).toHaveLength(2)
})

describe('others have their turn between the frames of one message', () => {
  let turns = 0
  const counting = async (): Promise<void> => void turns++
  const many = (frame: Uint8Array, count: number): Buffer => Buffer.concat(Array<Uint8Array>(count).fill(frame))

  test.each([
    ['data', dataFrame(1, new Uint8Array(0), false), 10_000, 38],
    ['pings', control(6, number32(1)), 1_000, 30],
    ['frames of no use', control(9, number32(1)), 1_000, 30],
  ])('%s', async (_, frame, count, least) => {
    turns = 0
    await new Client(counting).server.receive(many(frame, count))
    expect(turns).toBeGreaterThanOrEqual(least)
  })

  test('streams', async () => {
    turns = 0
    const client = new Client(counting)
    const frames = []
    for (let id = 1; id < 2_000; id += 2) frames.push(await client.open(id, { streamtype: 'unknown' }))
    await client.server.receive(Buffer.concat(frames))
    expect(turns).toBeGreaterThanOrEqual(30)
  })

  test('and what waits is not read when the client has gone', async () => {
    const client = new Client(async () => client.server.close())
    await client.server.receive(many(control(6, number32(1)), 1_000))
    expect((await client.answers()).length).toBeLessThan(40)
  })
})
