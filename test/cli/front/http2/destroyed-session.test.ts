// A session of Node's library is destroyed a while before it says that it has closed: by an error of its client, or by
// the front. Most of its methods throw then, and the front would end with them.
import { connect } from 'node:http2'
import { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { expect, test } from 'vitest'
import { Http2Connection, MOST_STREAMS } from '../../../../src/cli/front/http2/connection.ts'
import { StreamLine } from '../../../../src/cli/front/http2/stream-line.ts'

const deadlines = { head: 10, idle: 10, answer: 10, body: 10 }

function connectionOver(socket: Duplex): Http2Connection {
  const line = new StreamLine()
  // a session works over any stream
  return new Http2Connection(
    socket as TLSSocket,
    '::1',
    deadlines as never,
    MOST_STREAMS,
    line,
    () => true,
    () => {},
  )
}

type End = Duplex & { bytesRead: number }

/** Two ends of a connection. */
function pair(): [End, End] {
  const end = (other: () => Duplex): End =>
    Object.assign(
      new Duplex({
        read: () => {},
        write: (octets: Buffer, _encoding, done) => {
          setImmediate(() => {
            other().push(octets)
            done()
          })
        },
        final: (done) => {
          other().push(null)
          done()
        },
      }),
      { bytesRead: 0 },
    )
  const one: End = end(() => other)
  const other: End = end(() => one)
  return [one, other]
}

test('nothing is asked of a session that has been destroyed', () => {
  const [socket] = pair()
  const connection = connectionOver(socket)
  connection.destroy()
  expect(() => connection.ask(0)).not.toThrow()
  expect(() => connection.checkDeadline(1e9)).not.toThrow()
  expect(() => connection.finish()).not.toThrow()
  expect(connection.silent).toBeUndefined()
})

test('a request whose session has been destroyed does not begin', async () => {
  const [socket, other] = pair()
  const line = new StreamLine()
  let opened = 0
  const open = () => opened++ >= 0
  const connection = new Http2Connection(socket as never, '::1', deadlines as never, MOST_STREAMS, line, open, () => {})
  const client = connect('http://h', { createConnection: () => other })
  client.on('error', () => {})
  const join = line.join.bind(line)
  const asked = new Promise<void>((resolve) => {
    line.join = (...one) => {
      join(...one)
      connection.destroy()
      resolve()
    }
  })
  const stream = client.request({ ':path': '/' })
  stream.on('error', () => {})
  await asked
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(opened).toBe(0)
  client.destroy()
})

test('a connection may have ended before its session begins', async () => {
  const [socket] = pair()
  socket.destroy()
  expect(() => connectionOver(socket)).not.toThrow()
  await new Promise((resolve) => setTimeout(resolve, 20))
})
