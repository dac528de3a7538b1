/** A body that comes in chunks of one octet is passed on in few pieces, and a slow reader slows its server down. */
import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { Writable } from 'node:stream'
import { afterEach, expect, test } from 'vitest'
import { JoinedPieces, Turns } from '../../../src/cli/outgoing/joined-pieces.ts'
import { eventually } from '../../eventually.ts'

const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const octetsOf = (text: string): string => [...text].map((octet) => `1\r\n${octet}\r\n`).join('')

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** The answer of a server that speaks by itself. */
async function answerOf(speak: (socket: Socket) => void): Promise<IncomingMessage> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => speak(socket))
    closing.push(() => void socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => void server.close())
  const { port } = server.address() as AddressInfo // it listens on TCP
  return new Promise((resolve) => get({ host: '127.0.0.1', port, agent: false }, resolve))
}

/** What the server sends without an end, and how much of it was taken. */
function endless(socket: Socket): { readonly taken: number } {
  const many = Buffer.from(octetsOf('x'.repeat(5_000)))
  const sent = { taken: 0 }
  const go = (): void => {
    while (!socket.destroyed && socket.write(many)) sent.taken += many.length
  }
  socket.write(HEAD)
  socket.on('drain', go)
  go()
  return sent
}

test('all octets come, in few pieces', async () => {
  const text = 'abcdefghij'.repeat(20_000)
  const pieces: string[] = []
  const reader = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece.toString())
      done()
    },
  })
  const source = await answerOf((socket) => socket.end(`${HEAD}${octetsOf(text)}0\r\n\r\n`))
  await pipeline(source, new JoinedPieces(source), reader)
  expect(pieces.join('') === text).toBe(true)
  expect(pieces.length).toBeLessThan(text.length / 100)
})

test('a piece is passed on at once', async () => {
  let speaker: Socket | undefined
  const source = await answerOf((socket) => {
    speaker = socket
    socket.write(`${HEAD}${octetsOf('a')}`)
  })
  const joined = new JoinedPieces(source)
  const read: string[] = []
  joined.on('data', (piece: Buffer) => read.push(piece.toString()))
  source.pipe(joined)
  await eventually(() => expect(read).toEqual(['a']))
  speaker!.write(octetsOf('bc'))
  await eventually(() => expect(read.join('')).toBe('abc'))
})

test('a reader that takes nothing stops the server, and one that takes up again gets the rest', async () => {
  let sent = { taken: 0 }
  const source = await answerOf((socket) => void (sent = endless(socket)))
  const joined = new JoinedPieces(source)
  source.pipe(joined)
  let before = -1
  await eventually(() => {
    expect(source.socket.isPaused()).toBe(true)
    const now = sent.taken
    const isStill = now === before
    before = now
    expect(isStill).toBe(true)
  })
  // nothing waits in the source, whose pieces would be small
  expect(source.readableLength).toBe(0)
  expect(joined.readableLength).toBeLessThan(1 << 20)
  let read = 0
  joined.on('data', (piece: Buffer) => (read += piece.length))
  await eventually(() => expect(read).toBeGreaterThan(1 << 20))
})

test('bodies of many small pieces leave turns to others', async () => {
  const sources = await Promise.all(Array.from({ length: 8 }, () => answerOf((socket) => void endless(socket))))
  const reads: number[] = []
  let all = 0
  let inTurn = 0
  let isOver = false
  const count = (): void => {
    reads.push(inTurn)
    inTurn = 0
    if (!isOver) setImmediate(count)
  }
  for (const source of sources) {
    const joined = new JoinedPieces(source)
    joined.on('data', () => {
      all++
      inTurn++
    })
    source.pipe(joined)
  }
  // the first reads of all come at once
  await eventually(() => expect(all).toBeGreaterThan(16))
  inTurn = 0
  setImmediate(count)
  await eventually(() => expect(all).toBeGreaterThan(50))
  isOver = true
  expect(Math.max(...reads)).toBeLessThanOrEqual(2)
})

test('one gets a turn after the other, and one that has ended waits no longer', async () => {
  const turns = new Turns()
  const had: string[] = []
  const [a, b, c] = ['a', 'b', 'c'].map((name) => () => void had.push(name))
  for (const go of [a!, b!, c!]) turns.wait(go)
  turns.leave(b!)
  expect(turns.waiting).toBe(2)
  const next = () => new Promise((resolve) => setImmediate(resolve))
  await next()
  expect(had).toEqual(['a'])
  await next()
  expect(had).toEqual(['a', 'c'])
  expect(turns.waiting).toBe(0)
})
