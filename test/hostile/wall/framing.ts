// The front refuses bytes that front and engine could read as different requests, and closes the connection.
import { connect } from 'node:tls'

export interface Framed {
  readonly rule: string
  readonly bytes: string
  /** The status of each answer on the connection, in order, without 1xx answers. */
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
  // versions
  one('HTTP/1.0 asks once', `GET /version HTTP/1.0\r\n\r\n${SMUGGLED}`, 200),
  one('HTTP/1.0 with chunks', `POST /version HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400),
  one('HTTP/0.9', `GET /version\r\n\r\n${SMUGGLED}`, 400),
  one('HTTP/2 with words', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${SMUGGLED}`, 505),
  ...['HTTP/1.2', 'HTTP/1.10', 'http/1.1', 'HTTP/01.1', 'HTTP/1.1x'].map((version) =>
    one(`the version ${JSON.stringify(version)}`, `GET /version ${version}\r\nHost: h\r\n\r\n${SMUGGLED}`, 505),
  ),
  one('a blank behind the version', `GET /version HTTP/1.1 \r\nHost: h\r\n\r\n${SMUGGLED}`, 400),
  // hosts
  one('no host', `GET /version HTTP/1.1\r\n\r\n${SMUGGLED}`, 400),
  one('two hosts', `GET /version HTTP/1.1\r\nHost: h\r\nHost: evil\r\n\r\n${SMUGGLED}`, 400),
  one('two hosts that are equal', `GET /version HTTP/1.1\r\nHost: h\r\nHOST: h\r\n\r\n${SMUGGLED}`, 400),
  ...['h/api', 'h h', 'h\\x', 'h?x', 'h#x', 'h@x', '<h>'].map((host) =>
    one(`the host ${JSON.stringify(host)}`, `GET /version HTTP/1.1\r\nHost: ${host}\r\n\r\n${SMUGGLED}`, 400),
  ),
  // targets
  one(
    'a target with another host',
    `GET https://evil.example/version HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`,
    200,
    200,
  ),
  one(
    'a target with a name and a password',
    `GET https://a:b@h/version HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`,
    200,
    200,
  ),
  one(
    'a tunnel to elsewhere',
    `CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n${SMUGGLED}`,
    403,
    200,
  ),
  one('TRACE echoes nothing', `TRACE /version HTTP/1.1\r\nHost: h\r\nX: secret\r\n\r\n${SMUGGLED}`, 403, 200),
  one('the server as a whole', `OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`, 403, 200),
  one('a target that is no path', `GET version HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`, 400),
  one('a fragment in a target', `GET /version#x HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`, 403, 200),
  one('no target', `GET  HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`, 400),
  one('a blank before the method', ` GET /version HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`, 400),
  one('a tab in the first line', `GET\t/version HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`, 400),
  one('a method with signs', `G(ET /version HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`, 400),
  // waiting
  one('an expectation that nobody knows', `${START}Expect: 200-ok\r\nContent-Length: 0\r\n\r\n${SMUGGLED}`, 417),
  one(
    'two expectations',
    `${START}Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}${SMUGGLED}`,
    400,
  ),
  one('a body that does not wait', `${START}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}${SMUGGLED}`, 403, 200),
  one(
    'an expectation without a body',
    `GET /version HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n${SMUGGLED}`,
    200,
    200,
  ),
  // upgrades
  one(
    'an upgrade with a body',
    `${START}Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    400,
  ),
  one(
    'an upgrade with chunks',
    `${START}Connection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    400,
  ),
  one(
    'an upgrade that nobody makes',
    `GET /version HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n${SMUGGLED}`,
    200,
    200,
  ),
  one(
    'two upgrades',
    `GET /version HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n\r\n${SMUGGLED}`,
    400,
  ),
  // chunks
  ...['chunked, chunked', 'chunked, identity', 'identity', 'xchunked', 'chunked;q=1', '"chunked"', 'gzip'].map(
    (coding) => one(`the coding ${coding}`, `${START}Transfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n${SMUGGLED}`, 501),
  ),
  one(
    'two codings in two lines',
    `${START}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    400,
  ),
  one('a coding in capitals', `${START}TRANSFER-ENCODING: CHUNKED\r\n\r\n0\r\n\r\n${SMUGGLED}`, 403, 200),
  ...['-1', '+1', '0x1', '1 ', 'g', '', '1;\n', '10000000000000000', '\t1'].map((size) =>
    one(
      `a chunk of ${JSON.stringify(size)}`,
      `${START}Transfer-Encoding: chunked\r\n\r\n${size}\r\na\r\n0\r\n\r\n${SMUGGLED}`,
      400,
    ),
  ),
  one(
    'a chunk that is longer than it says',
    `${START}Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n${SMUGGLED}`,
    400,
  ),
  one(
    'a chunk that ends with a bare line feed',
    `${START}Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n${SMUGGLED}`,
    400,
  ),
  one('a trailer with a bare line feed', `${START}Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\n\r\n${SMUGGLED}`, 400),
  one(
    'a trailer that frames',
    `${START}Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n${SMUGGLED}`,
    403,
    200,
  ),
  // sizes
  one(
    'a head of more than a megabyte',
    `GET /version HTTP/1.1\r\nHost: h\r\nX: ${'x'.repeat(1_100_000)}\r\n\r\n${SMUGGLED}`,
    431,
  ),
  one(
    'many headers of more than a megabyte',
    `GET /version HTTP/1.1\r\nHost: h\r\n${'X: y\r\n'.repeat(200_000)}\r\n${SMUGGLED}`,
    431,
  ),
  one('a head without end', `GET /version HTTP/1.1\r\nHost: h\r\nX: ${'x'.repeat(2_000_000)}`, 431),
  one(
    'a target of more than a megabyte',
    `GET /version?${'x'.repeat(1_100_000)} HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`,
    431,
  ),
  one('a header without a name', `GET /version HTTP/1.1\r\nHost: h\r\n: x\r\n\r\n${SMUGGLED}`, 400),
  one('a header without a colon', `GET /version HTTP/1.1\r\nHost: h\r\nX\r\n\r\n${SMUGGLED}`, 400),
  one('a folded line at the beginning', `GET /version HTTP/1.1\r\n Host: h\r\n\r\n${SMUGGLED}`, 400),
  one('a folded length', `${START}Content-Length:\r\n 5\r\n\r\n${SMUGGLED}`, 400),
  one('empty lines before a request', `\r\n\r\nGET /version HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`, 200, 200),
  one(
    'the header of the front with another dash',
    `GET /version HTTP/1.1\r\nHost: h\r\nKedge_Front_Statement: x\r\n\r\n${SMUGGLED}`,
    400,
  ),
  one('a protocol of the future', `GET /version HTTP/3.0\r\nHost: h\r\n\r\n${SMUGGLED}`, 505),
]

/**
 * The answers of kube-apiserver where they differ from the rows above, which are Kedge's. Go's server accepts a bare
 * line feed as the end of a line, and reports a bad body only when the handler reads it.
 */
export const answersOfKubeApiserver: ReadonlyMap<string, readonly number[]> = new Map([
  ['a length beside chunks', [403, 200]],
  ['a head with bare line feeds', [200, 400]],
  ['a bare line feed in a head', [200, 200]],
  ['a folded line', [200, 200]],
  ['the header of the front', [200, 200]],
  ['HTTP/1.0 with chunks', [403]],
  ['HTTP/2 with words', [403]],
  ['the version "HTTP/1.2"', [200, 200]],
  ['the version "HTTP/1.10"', [400]],
  ['the version "http/1.1"', [400]],
  ['the version "HTTP/01.1"', [400]],
  ['the version "HTTP/1.1x"', [400]],
  ['the server as a whole', [200, 200]],
  ['two expectations', [403]],
  ['a body that does not wait', [403]],
  ['an upgrade with a body', [403]],
  ['an upgrade with chunks', [403, 200]],
  ['two upgrades', [200, 200]],
  ['two codings in two lines', [501]],
  ['a chunk of "-1"', [403]],
  ['a chunk of "+1"', [403]],
  ['a chunk of "0x1"', [403]],
  ['a chunk of "1 "', [403, 200]],
  ['a chunk of "g"', [403]],
  ['a chunk of ""', [403]],
  ['a chunk of "1;\\n"', [403]],
  ['a chunk of "10000000000000000"', [403]],
  ['a chunk of "\\t1"', [403]],
  ['a chunk that is longer than it says', [403]],
  ['a chunk that ends with a bare line feed', [403]],
  ['a trailer with a bare line feed', [403, 200]],
  ['a folded length', [403, 400]],
  ['empty lines before a request', [400]],
  ['the header of the front with another dash', [200, 200]],
])

/** Sends the bytes on a new connection and reads until the server closes it, or sends nothing for half a minute. */
export function answersTo(host: string, port: number, bytes: string): Promise<number[]> {
  return new Promise((resolve, reject) => {
    let read = ''
    const done = (): void => {
      socket.destroy()
      resolve(
        [...read.matchAll(/HTTP\/1\.[01] (\d{3}) /g)]
          .map(([, status]) => Number(status))
          .filter((status) => status >= 200),
      )
    }
    const socket = connect({ host, port, rejectUnauthorized: false }, () => socket.write(Buffer.from(bytes, 'latin1')))
    socket.setEncoding('latin1').setTimeout(30_000, done)
    socket.on('data', (part: string) => (read += part)).on('end', done)
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? done() : reject(error)))
  })
}
