// Whatever a hostile server does with its connection, a call ends with an error or gets its own answer.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createPlainServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import { serveOutgoingCalls } from '../../src/cli/outgoing/calls.ts'
import type { OutgoingCalls } from '../../src/cli/outgoing/calls.ts'
import { byFront } from '../../src/webhooks/by-front.ts'
import { outgoingBinding } from '../outgoing-binding.ts'
import { MAX_ANSWER } from '../../src/webhooks/outgoing-call.ts'

const authority = await createAuthority({ commonName: 'webhooks' }, new Date(), 30)
const { key, certificate } = await issue(
  authority,
  { subject: { commonName: 'hook' }, usage: 'server', names: ['127.0.0.1'], days: 30 },
  new Date(),
)

const directory = mkdtempSync(join(tmpdir(), 'kedge-hostile-'))
const path = join(directory, 'outgoing.sock')
let front: OutgoingCalls
beforeAll(async () => void (front = await serveOutgoingCalls(path)))
afterAll(() => {
  front.close()
  rmSync(directory, { recursive: true })
})

const binding = outgoingBinding(path)

const opened = new Set<Socket>()
const servers: Server[] = []
afterEach(() => {
  for (const socket of opened) socket.destroy()
  for (const server of servers.splice(0)) server.close()
})

/** @param serve gets each piece that arrives, and the number of its connection */
async function listening(serve: (socket: Socket, connection: number, piece: string) => void, isPlain = false) {
  let connections = 0
  const accept = (socket: Socket): void => {
    const connection = ++connections
    opened.add(socket)
    socket.on('error', () => {}).on('data', (data) => serve(socket, connection, data.toString('latin1')))
  }
  const server = isPlain ? createPlainServer(accept) : createServer({ key, cert: certificate }, accept)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // it listens on an address
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function called(url: string, { timeoutMs = 60_000, body = 'review' } = {}): Promise<string> {
  const answer = await byFront(binding)({ url, headers: {}, timeoutMs, caBundle: authority.certificate }, body)
  return new TextDecoder().decode(answer.body)
}

const OK = 'HTTP/1.1 200 OK\r\n'
const said = (body: string): string => `${OK}Content-Length: ${body.length}\r\n\r\n${body}`
const malformed = 'malformed HTTP response'
const tooLong = `the answer is longer than ${MAX_ANSWER} bytes`

describe('no answer is', () => {
  test.each<[string, string, string]>([
    ['a head of many headers', `${OK}${'X: y\r\n'.repeat(4000)}\r\n`, malformed],
    ['a head of one long header', `${OK}X: ${'y'.repeat(20_000)}\r\n\r\n`, malformed],
    ['a head that does not end', `${OK}${'X: y\r\n'.repeat(4000)}`, malformed],
    ['a first line that does not end', 'HTTP/1.1 200 '.padEnd(20_000, 'x'), malformed],
    ['interim answers without end', `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)}${said('{}')}`, malformed],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n', malformed],
    ['a length that is said twice', `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, malformed],
    ['a length that is a list', `${OK}Content-Length: 2, 2\r\n\r\n{}`, malformed],
    ['a length below nothing', `${OK}Content-Length: -1\r\n\r\n{}`, malformed],
    ['a length in other digits', `${OK}Content-Length: 0x2\r\n\r\n{}`, malformed],
    ['chunks with a length', `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, malformed],
    ['another coding', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, malformed],
    ['a line that goes on', `${OK}X: y\r\n Content-Length: 2\r\n\r\n{}`, malformed],
    ['a blank before a colon', `${OK}Content-Length : 2\r\n\r\n{}`, malformed],
    ['lines without CR', 'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}'.padEnd(20_000), malformed],
    ['a length beyond all bounds', `${OK}Content-Length: 999999999999999\r\n\r\n{}`, tooLong],
    ['a chunk beyond all bounds', `${OK}Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n`, malformed],
    ['extensions without end', `${OK}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}`, malformed],
    ['trailers without end', `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n${'X: y\r\n'.repeat(10_000)}`, malformed],
    ['a version that is none', 'HTTP/2.0 200 OK\r\n\r\n', malformed],
    ['what another protocol says', '\0\0\0\x04\0\0\0\0\0'.padEnd(20_000), malformed],
  ])('%s', async (_, answer, why) => {
    await expect(called(await listening((socket) => socket.write(answer, 'latin1')))).rejects.toThrow(why)
  })
})

test.each<[string, string]>([
  ['chunks', `${OK}Transfer-Encoding: chunked\r\n\r\n`],
  ['a body up to the end of the connection', `${OK}\r\n`],
])('an endless answer of %s is read up to its bound', async (kind, head) => {
  const octets = Buffer.alloc(64 << 10, 'x')
  const piece = kind === 'chunks' ? Buffer.concat([Buffer.from('10000\r\n'), octets, Buffer.from('\r\n')]) : octets
  const url = await listening((socket) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on('drain', more).write(head)
    more()
  })
  await expect(called(url)).rejects.toThrow(tooLong)
})

describe('a call ends in its time where the server', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => {}],
    ['says one octet now and then', (socket) => void slowly(socket, said('{}'))],
    ['sends less than it promised', (socket) => void socket.write(`${OK}Content-Length: 9\r\n\r\n{}`)],
    ['sends interim answers now and then', (socket) => void slowly(socket, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(5))],
  ])('%s', async (_, serve) => {
    const url = await listening((socket) => serve(socket))
    await expect(called(url, { timeoutMs: 200 })).rejects.toThrow('context deadline exceeded')
  })

  test('does not shake hands', async () => {
    await expect(called(await listening(() => {}, true), { timeoutMs: 200 })).rejects.toThrow(
      'context deadline exceeded',
    )
  })

  test('does not read what it is asked', async () => {
    const url = await listening((socket) => socket.pause())
    await expect(called(url, { timeoutMs: 500, body: 'x'.repeat(16 << 20) })).rejects.toThrow(
      'context deadline exceeded',
    )
  })
})

function slowly(socket: Socket, text: string): void {
  let at = 0
  const timer = setInterval(() => {
    if (socket.destroyed || at === text.length) return clearInterval(timer)
    socket.write(text[at++]!)
  }, 50)
}

describe('an answer that nobody asked for is nobody’s:', () => {
  test('one behind an answer', async () => {
    const url = await listening((socket, connection) => socket.write(said(`own ${connection}`) + said('poison')))
    expect(await called(url)).toBe('own 1')
    expect(await called(url)).toBe('own 2')
  })

  test('one behind an answer that says it has no body', async () => {
    const url = await listening((socket) => socket.write(`HTTP/1.1 204 No Content\r\n\r\n${said('poison')}`))
    expect(await called(url)).toBe('')
    expect(await called(url)).toBe('')
  })

  test('one that comes while the connection waits', async () => {
    const closed = Promise.withResolvers<void>()
    const url = await listening((socket, connection) => {
      socket.once('close', () => closed.resolve())
      socket.write(said(`own ${connection}`))
      if (connection === 1) setTimeout(() => socket.write(said('poison')), 50)
    })
    expect(await called(url)).toBe('own 1')
    await closed.promise
    expect(await called(url)).toBe('own 2')
  })
})
