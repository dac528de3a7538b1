import { describe, expect, test } from 'vitest'
import {
  ClientMessages,
  arrivingMessages,
  LONGEST_MESSAGE,
  MOST_ARRIVING,
} from '../../../src/cli/front/client-messages.ts'
import { OPCODES } from '../../../src/cli/front/websocket-frames.ts'

class Client {
  isEnded = false
  private readonly messages: ClientMessages

  constructor(all = arrivingMessages()) {
    this.messages = new ClientMessages(all, () => (this.isEnded = true))
  }

  get octets(): number {
    return this.messages.octets
  }

  send(data: Buffer, size = data.length): void {
    for (let at = 0; at < data.length; at += size) this.messages.follow(data.subarray(at, at + size))
  }

  leave(): void {
    this.messages.end()
  }
}

/** A client's frame, or its beginning. */
function frame(opcode: number, length: number, isLast = true, sent = length): Buffer {
  const head = Buffer.alloc(length < 126 ? 6 : length < 1 << 16 ? 8 : 14)
  head[0] = opcode | (isLast ? 0x80 : 0)
  head[1] = 0x80 | (length < 126 ? length : length < 1 << 16 ? 126 : 127)
  if (head.length === 8) head.writeUInt16BE(length, 2)
  if (head.length === 14) head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, Buffer.alloc(sent)])
}

const { binary, continuation, ping, close } = OPCODES

describe.each([
  ['whole', Number.POSITIVE_INFINITY],
  ['byte by byte', 1],
  ['in pieces of 7', 7],
])('frames that come %s', (_, size) => {
  test('are counted as long as their message is not whole', () => {
    const client = new Client()
    for (const length of [0, 1, 125, 126, 300, 70_000]) {
      client.send(frame(binary, length), size)
      expect(client.octets).toBe(0)
    }
    client.send(frame(binary, 300, false), size)
    client.send(frame(ping, 100), size)
    client.send(frame(continuation, 200, false), size)
    expect(client.octets).toBe(500)
    client.send(frame(continuation, 10, true, 4), size)
    expect(client.octets).toBe(504)
    client.send(Buffer.alloc(6), size)
    expect(client.octets).toBe(0)
    client.send(frame(close, 2), size)
    expect(client.isEnded).toBe(false)
  })
})

test('a message may be as long as in kube-apiserver', () => {
  const client = new Client()
  client.send(frame(binary, LONGEST_MESSAGE))
  client.send(frame(binary, LONGEST_MESSAGE, false))
  client.send(frame(continuation, 0))
  expect(client.isEnded).toBe(false)
})

test.each([
  ['of one frame', [frame(binary, LONGEST_MESSAGE + 1, true, 0)]],
  ['of several', [frame(binary, LONGEST_MESSAGE, false), frame(continuation, 1, true, 0)]],
  ['that says it is longer than any number', [Buffer.from([0x82, 0xff, ...Array<number>(8).fill(0xff), 0, 0, 0, 0])]],
  ['of a control frame', [frame(ping, 126, true, 0)]],
])('a longer message %s ends its client before it comes', (_, frames) => {
  const client = new Client()
  for (const one of frames) client.send(one)
  expect([client.isEnded, client.octets]).toEqual([true, 0])
})

test('messages that are too long together end the client with the longest, and others go on', () => {
  const all = arrivingMessages()
  const many = Array.from({ length: MOST_ARRIVING / LONGEST_MESSAGE }, () => new Client(all))
  for (const client of many) client.send(frame(binary, LONGEST_MESSAGE, false))
  const short = new Client(all)
  short.send(frame(binary, 100, false))
  expect(many.map(({ isEnded }) => isEnded)).toEqual([true, ...Array<boolean>(many.length - 1).fill(false)])
  expect(short.isEnded).toBe(false)
  for (const client of many) client.leave()
  const later = Array.from({ length: MOST_ARRIVING / LONGEST_MESSAGE - 1 }, () => new Client(all))
  for (const client of later) client.send(frame(binary, LONGEST_MESSAGE, false))
  expect(later.some(({ isEnded }) => isEnded)).toBe(false)
})
