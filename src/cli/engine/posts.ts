// Reads the engine's posts to a socket of the front (HTTP/1.1, one request at a time on a connection) without Node's
// server. The sender is trusted, so there is little to check, and Node's message with its streams costs more than the
// call.
import type { Socket } from 'node:net'
import { Ending } from '../outgoing/call-ending.ts'

const END_OF_HEAD = Buffer.from('\r\n\r\n')
// pattern: of heads that the engine writes
const LENGTH = /\r\ncontent-length: *(\d{1,15})\r\n/i
/** Octets: a line of JSON with a bundle, and a review of an object in two versions. */
const MAX_POST = 64 << 20

export interface Posted {
  readonly message: Buffer
  /** Is called when the engine has the message, or does not wait for it any more. */
  readonly taken?: () => void
}

/** @param answer makes the answer to a body; undefined ends the connection */
export function readPosts(socket: Socket, answer: (body: Buffer, ending: Ending) => Promise<Posted | undefined>): void {
  let chunks: Buffer[] = []
  let length = 0
  /** The body of the request that is being read; 0: its head is not complete. */
  let [begin, end] = [0, 0]
  let ending: Ending | undefined
  const serve = async (body: Buffer): Promise<void> => {
    const own = (ending = new Ending())
    const posted = await answer(body, own)
    ending = undefined
    if (posted === undefined) return void socket.destroy()
    const { message, taken } = posted
    if (taken === undefined) return void socket.write(message)
    socket.write(message, () => taken())
    own.during(() => socket.destroy())
  }
  socket.on('error', () => {}) // 'close' follows
  socket.once('close', () => ending?.comes('given up'))
  socket.on('end', () => socket.destroy())
  socket.on('data', (data: Buffer) => {
    chunks.push(data)
    length += data.length
    if (end === 0) {
      const all = chunks.length === 1 ? data : Buffer.concat(chunks, length)
      chunks = [all]
      begin = all.indexOf(END_OF_HEAD) + END_OF_HEAD.length
      if (begin < END_OF_HEAD.length) return
      const size = LENGTH.exec(all.toString('latin1', 0, begin - 2))?.[1]
      end = begin + Number(size)
    }
    // the engine sends a length, and no other request while it waits
    if (!(end <= MAX_POST) || length > end || ending !== undefined) return void socket.destroy()
    if (length < end) return
    const whole = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length)
    chunks = []
    const from = begin
    length = begin = end = 0
    void serve(whole.subarray(from))
  })
}
