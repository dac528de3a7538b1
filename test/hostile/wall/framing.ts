// Bytes that front and engine could read as different requests: refused, and the connection ends.
import { connect } from 'node:tls'

export interface Framed {
  readonly rule: string
  readonly bytes: string
  /** The status lines of all answers on the connection, in order. */
  readonly answers: readonly number[]
}

const START = 'POST /version HTTP/1.1\r\nHost: h\r\n'
const SMUGGLED = 'GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'
const one = (rule: string, bytes: string, ...answers: readonly number[]): Framed => ({ rule, bytes, answers })

export const framing: readonly Framed[] = [
  one('a request is answered', SMUGGLED, 200),
  one('two requests in turn are two', `GET /version HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`, 200, 200),
  one(
    'a length beside chunks',
    `${START}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    400,
  ),
  one('two lengths', `${START}Content-Length: 0\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`, 400),
  one('a list of lengths', `${START}Content-Length: 0, 5\r\n\r\n${SMUGGLED}`, 400),
  ...['-1', '+1', '0x10', '1e1', '1 1', 'x', '9'.repeat(30)].map((length) =>
    one(`the length ${length}`, `${START}Content-Length: ${length}\r\n\r\n${SMUGGLED}`, 400),
  ),
  one('a head with bare line feeds', `GET /version HTTP/1.1\nHost: h\n\n\r\n\r\n${SMUGGLED}`, 400),
  one('a bare line feed in a head', `GET /version HTTP/1.1\r\nHost: h\nA: b\r\n\r\n${SMUGGLED}`, 400),
  one('a bare carriage return in a head', `GET /version HTTP/1.1\r\nHost: h\rA: b\r\n\r\n${SMUGGLED}`, 400),
  one('a folded line', `GET /version HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n${SMUGGLED}`, 400),
  one('a blank before a colon', `${START}Content-Length : 5\r\n\r\n${SMUGGLED}`, 400),
  one('a NUL in a value', `GET /version HTTP/1.1\r\nHost: h\r\nA: b\0c\r\n\r\n${SMUGGLED}`, 400),
  one('a blank in the target', `GET /version x HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`, 400),
  one('a coding beside chunks', `${START}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`, 501),
  one(
    'the header of the front',
    `GET /version HTTP/1.1\r\nHost: h\r\nKedge-Front-Statement: x\r\n\r\n${SMUGGLED}`,
    400,
  ),
  one('a protocol of the future', `GET /version HTTP/3.0\r\nHost: h\r\n\r\n${SMUGGLED}`, 505),
]

/** Sends the bytes on a connection of their own and reads until the server ends it, or nothing comes for 3 s. */
export function answersTo(host: string, port: number, bytes: string): Promise<number[]> {
  return new Promise((resolve, reject) => {
    let read = ''
    const done = (): void => {
      socket.destroy()
      resolve([...read.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)))
    }
    const socket = connect({ host, port, rejectUnauthorized: false }, () => socket.write(Buffer.from(bytes, 'latin1')))
    socket.setEncoding('latin1').setTimeout(3_000, done)
    socket.on('data', (part: string) => (read += part)).on('end', done)
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? done() : reject(error)))
  })
}
