// WebSockets of a client that looks at each frame (RFC 6455), and at what a refused handshake is answered.
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { Duplex } from 'node:stream'

export interface Shaken {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Of a refusal. */
  readonly text?: string
  readonly socket?: Duplex
  readonly head?: Buffer
  readonly key: string
}

export function shakeHands(url: string, token: string, headers: Record<string, string>): Promise<Shaken> {
  return new Promise((resolve, reject) => {
    const key = randomBytes(16).toString('base64')
    const sent = request(url, {
      rejectUnauthorized: false,
      agent: false,
      headers: {
        Authorization: `Bearer ${token}`,
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': key,
        ...headers,
      },
    })
    sent.once('error', reject)
    sent.once('response', (response) => {
      const { statusCode = 0, headers } = response
      text(response).then((text) => resolve({ status: statusCode, headers, text, key }), reject)
    })
    sent.once('upgrade', (response, socket, head) =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, socket, head, key }),
    )
    sent.end()
  })
}

export interface Frame {
  readonly opcode: number
  readonly payload: Buffer
}

export const OPCODES = { text: 1, binary: 2, close: 8 } as const

/** Unmasked frames of a server, as they come (§5.2). */
export async function* framesOf({ socket, head }: Shaken): AsyncGenerator<Frame> {
  let bytes: Buffer = Buffer.alloc(0)
  socket!.unshift(head!)
  for await (const chunk of socket!) {
    bytes = Buffer.concat([bytes, chunk as Buffer])
    for (let frame = frameIn(bytes); frame !== undefined; frame = frameIn(bytes)) {
      bytes = bytes.subarray(frame.end)
      yield frame
    }
  }
}

function frameIn(bytes: Buffer): (Frame & { readonly end: number }) | undefined {
  if (bytes.length < 2) return undefined
  const short = bytes[1]! & 0x7f
  const start = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < start) return undefined
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  const end = start + length
  return bytes.length < end ? undefined : { opcode: bytes[0]! & 0x0f, payload: bytes.subarray(start, end), end }
}

/** A masked frame of a client, with at most 125 octets. */
export function clientFrame(opcode: number, payload: Buffer): Buffer {
  const mask = randomBytes(4)
  const masked = payload.map((octet, index) => octet ^ mask[index % 4]!)
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length]), mask, masked])
}
