/** The front forwards requests for the engine: the tests check what the server receives and what comes back. */
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createAuthority, issue } from '../../../src/cli/data-directory/certificate.ts'
import { serveOutgoingExchanges } from '../../../src/cli/outgoing/exchanges.ts'
import type { ExchangeServer } from '../../../src/cli/outgoing/exchanges.ts'
import { wholeAnswer } from '../../../src/outgoing/bounded-answer.ts'
import { exchangeByFront } from '../../../src/outgoing/by-front.ts'
import type { ExchangeCall } from '../../../src/outgoing/exchange.ts'
import { eventually } from '../../eventually.ts'
import { bindingTo } from './streaming-binding.ts'

const subject = { commonName: 'backends' }
const authority = await createAuthority(subject, new Date(), 30)
const own = await issue(authority, { subject, usage: 'server', names: ['127.0.0.1', 'a.b.svc'], days: 30 }, new Date())
const proxy = await issue(authority, { subject: { commonName: 'proxy' }, usage: 'client', days: 30 }, new Date())

const directory = mkdtempSync(join(tmpdir(), 'kedge-exchanges-'))
const socket = join(directory, 'outgoing.sock')
let front: ExchangeServer
beforeAll(async () => void (front = await serveOutgoingExchanges(socket, { 'front-proxy': proxy })))
afterAll(() => {
  front.close()
  rmSync(directory, { recursive: true })
})

const binding = bindingTo(socket)

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function backend(serve: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(
    { key: own.key, cert: own.certificate, ca: authority.certificate, requestCert: true, rejectUnauthorized: false },
    serve,
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  // the server listens on TCP
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const exchange = exchangeByFront(binding)
const ask = (url: string, more: Partial<ExchangeCall> = {}, body: ReadableStream<Uint8Array> | null = null) =>
  exchange({ method: 'GET', url, headers: [], caBundle: authority.certificate, ...more }, body)
const textOf = async (...call: Parameters<typeof ask>) => (await wholeAnswer(await ask(...call), 1 << 20)).text

const streamOf = (...texts: string[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    },
  })

test('headers come back as the text that their octets are in UTF-8, or else in Latin-1', async () => {
  const url = await backend((_, response) => {
    response.writeHead(200, { 'X-Text': Buffer.from('жürgen').toString('latin1'), 'X-Other': '\xe9\xff' }).end()
  })
  const answer = await ask(url)
  const headers = 'upgraded' in answer ? [] : answer.headers
  expect(headers.filter(([name]) => name.startsWith('X-'))).toEqual([
    ['X-Text', 'жürgen'],
    ['X-Other', 'éÿ'],
  ])
})

test('a request goes out as it is, with each header of a name, the name of the certificate and one of its own', async () => {
  const url = await backend((request, response) => {
    const { authorized, servername } = request.socket as TLSSocket & { servername: string } // its server speaks TLS
    const { 'x-remote-group': groups } = request.headersDistinct
    response.end(JSON.stringify({ target: request.url, method: request.method, groups, authorized, servername }))
  })
  const text = await textOf(`${url}a%20b/../c?q=%2F`, {
    method: 'REPORT',
    headers: [
      ['X-Remote-Group', 'a'],
      ['X-Remote-Group', 'b, c'],
      ['X-Remote-Group', 'жürgen'],
    ],
    serverName: 'a.b.svc',
    credential: 'front-proxy',
  })
  expect(JSON.parse(text)).toEqual({
    target: '/a%20b/../c?q=%2F',
    method: 'REPORT',
    // the header is UTF-8, which Node decodes as latin1
    groups: ['a', 'b, c', Buffer.from('жürgen').toString('latin1')],
    authorized: true,
    servername: 'a.b.svc',
  })
})

test.each(['POST', 'DELETE'])('a %s has its body, whatever its length', async (method) => {
  const url = await backend((request, response) => request.pipe(response))
  const long = 'x'.repeat(300_000)
  expect(await textOf(url, { method }, streamOf('{"a":', `"${long}"}`))).toBe(`{"a":"${long}"}`)
})

test('status, headers and their order come back, octets beyond ASCII too', async () => {
  const url = await backend((_request, response) => {
    response.writeHead(418, ['Warning', '299 - "caf\xe9"', 'Warning', '299 - "b"', 'Date', 'x'])
    response.end('short and stout')
  })
  const answer = await ask(url)
  if ('upgraded' in answer) throw new Error('nothing was upgraded')
  const { status, headers } = answer
  expect(status).toBe(418)
  expect(headers.slice(0, 3)).toEqual([
    ['Warning', '299 - "caf\xe9"'],
    ['Warning', '299 - "b"'],
    ['Date', 'x'],
  ])
})

test('a server that goes on saying that it works is given up after five interim answers', async () => {
  let said = 0
  const url = await backend((_request, response) => {
    const again = setInterval(() => {
      if (response.destroyed) return clearInterval(again)
      said++
      response.writeProcessing()
    }, 1)
  })
  await expect(ask(url)).rejects.toThrow('net/http: too many 1xx informational responses')
  const few = await backend((_request, response) => {
    for (let count = 0; count < 5; count++) response.writeProcessing()
    response.end('done')
  })
  expect(await textOf(few)).toBe('done')
  expect(said).toBeGreaterThan(5)
})

test('a server that does not answer is given up at the timeout', async () => {
  const url = await backend(() => {})
  await expect(ask(url, { timeoutMs: 50 })).rejects.toThrow('context deadline exceeded')
})

test('a connection that the other side closed while it waited is made anew', async () => {
  let count = 0
  const url = await backend((request, response) => {
    count++
    if (count === 2) return void request.socket.destroy()
    response.end(String(count))
  })
  expect(await textOf(url)).toBe('1')
  expect(await textOf(url)).toBe('3')
})

test('a server that closes every connection is said to have done so, however many were kept', async () => {
  const held: ServerResponse[] = []
  let closes = false
  const url = await backend((request, response) => {
    if (closes) request.socket.destroy()
    else held.push(response)
  })
  const kept = [1, 2, 3].map(() => textOf(url))
  await eventually(() => expect(held).toHaveLength(3))
  for (const response of held) response.end('here')
  expect(await Promise.all(kept)).toEqual(['here', 'here', 'here'])
  closes = true
  await expect(ask(url)).rejects.toThrow('EOF')
})

test.each([
  ['another authority', { caBundle: undefined }, 'x509: certificate signed by unknown authority'],
  ['another name', { serverName: 'c.d.svc' }, 'x509: certificate is valid for a.b.svc, not c.d.svc'],
  ['an address of this machine, for a user', { isProxied: true }, 'address not allowed'],
])('%s is refused', async (_what, more, why) => {
  const url = await backend((_request, response) => response.end())
  await expect(ask(url, more)).rejects.toThrow(why)
})

test('a name that turns out to be this machine is refused for a user', async () => {
  const url = await backend((_request, response) => response.end())
  const { port } = new URL(url)
  await expect(ask(`https://localhost:${port}/`, { isProxied: true })).rejects.toThrow('address not allowed')
})

test('a server may answer a request for an upgrade without one', async () => {
  const url = await backend((_request, response) => response.end('plain'))
  const headers = [
    ['Connection', 'Upgrade'],
    ['Upgrade', 'SPDY/3.1'],
  ] as const
  expect(await textOf(url, { upgrades: true, headers })).toBe('plain')
})

test('to all hosts together no more are under way than may be, and one that ends makes room', async () => {
  const path = join(directory, 'few.sock')
  const few = await serveOutgoingExchanges(path, {}, undefined, 3)
  closing.push(() => few.close())
  const held: ServerResponse[] = []
  const silent = () => backend((_request, response) => void held.push(response))
  const urls = [await silent(), await silent(), await silent(), await silent()]
  const askFew = (url: string) =>
    exchangeByFront(bindingTo(path))({ method: 'GET', url, headers: [], caBundle: authority.certificate }, null)
  const waiting = urls.slice(0, 3).map(askFew)
  await eventually(() => expect(held).toHaveLength(3))
  await expect(askFew(urls[3]!)).rejects.toThrow('too many requests to other servers are under way')
  for (const response of held.splice(0)) response.end('done')
  for (const answer of await Promise.all(waiting)) expect((await wholeAnswer(answer, 100)).text).toBe('done')
  const last = askFew(urls[3]!)
  await eventually(() => expect(held).toHaveLength(1))
  held[0]!.end('done')
  expect((await wholeAnswer(await last, 100)).text).toBe('done')
})

test('requests without an end leave room for those with one', async () => {
  const path = join(directory, 'shared.sock')
  const shared = await serveOutgoingExchanges(path, {}, undefined, 4)
  closing.push(() => shared.close())
  const held: ServerResponse[] = []
  const url = await backend((_request, response) => void held.push(response))
  const askShared = (timeoutMs?: number) => {
    const call = { method: 'GET', url, headers: [], caBundle: authority.certificate }
    return exchangeByFront(bindingTo(path))({ ...call, ...(timeoutMs !== undefined && { timeoutMs }) }, null)
  }
  const endless = [askShared(), askShared(), askShared()]
  await eventually(() => expect(held).toHaveLength(3))
  await expect(askShared()).rejects.toThrow('too many requests to other servers are under way')
  const bounded = askShared(60_000)
  await eventually(() => expect(held).toHaveLength(4))
  for (const response of held) response.end('done')
  for (const answer of await Promise.all([...endless, bounded]))
    expect((await wholeAnswer(answer, 100)).text).toBe('done')
  const last = askShared()
  await eventually(() => expect(held).toHaveLength(5))
  held[4]!.end('again')
  expect((await wholeAnswer(await last, 100)).text).toBe('again')
})

describe('users who share the places', () => {
  let started = 0
  const start = async (most: number) => {
    const path = join(directory, `users-${started++}.sock`)
    const shared = await serveOutgoingExchanges(path, {}, undefined, most)
    closing.push(() => shared.close())
    const held: ServerResponse[] = []
    const url = await backend((_request, response) => void held.push(response))
    const askAs = (user: string, more: Partial<ExchangeCall> = {}, plane = 'root') => {
      const call = { method: 'GET', url, headers: [], caBundle: authority.certificate, askedBy: [plane, user] as const }
      return exchangeByFront(bindingTo(path))({ ...call, ...more }, null)
    }
    return { askAs, held }
  }

  test('who has the most gives the oldest up, for a user who has fewer', async () => {
    const { askAs, held } = await start(4)
    const [first, ...others] = ['greedy', 'greedy', 'greedy'].map((user) => askAs(user))
    const ended = first!.then(
      () => 'answered',
      (error: unknown) => String(error),
    )
    await eventually(() => expect(held).toHaveLength(3))
    await expect(askAs('greedy')).rejects.toThrow('too many requests to other servers are under way')
    const modest = askAs('modest')
    expect(await ended).toContain('too many requests to other servers are under way')
    await eventually(() => expect(held).toHaveLength(4))
    for (const response of held) response.end('done')
    for (const answer of await Promise.all([...others, modest]))
      expect((await wholeAnswer(answer, 100)).text).toBe('done')
  })

  test('an answer that has begun ends early', async () => {
    const { askAs, held } = await start(4)
    const begun = ['greedy', 'greedy', 'greedy'].map((user) => askAs(user))
    await eventually(() => expect(held).toHaveLength(3))
    for (const response of held) response.write('begun, ')
    const [first, ...others] = await Promise.all(begun)
    const modest = askAs('modest')
    await eventually(() => expect(held).toHaveLength(4))
    for (const response of held) response.end('done')
    await expect(wholeAnswer(first!, 100)).rejects.toThrow()
    for (const answer of others) expect((await wholeAnswer(answer, 100)).text).toBe('begun, done')
    expect((await wholeAnswer(await modest, 100)).text).toBe('done')
  })

  test('requests with an end are shared, too', async () => {
    const { askAs, held } = await start(4)
    const all = [1, 2, 3, 4].map(() => askAs('greedy', { timeoutMs: 60_000 }).then(wholeText, String))
    await eventually(() => expect(held).toHaveLength(4))
    const modest = askAs('modest', { timeoutMs: 60_000 }).then(wholeText)
    await eventually(() => expect(held).toHaveLength(5))
    for (const response of held) response.end('done')
    expect(await modest).toBe('done')
    expect((await Promise.all(all)).filter((text) => text === 'done')).toHaveLength(3)
  })

  test('control planes share them first, and then their users', async () => {
    const { askAs, held } = await start(4)
    const one = ['a', 'b', 'c'].map((user) => askAs(user).then(wholeText, String))
    await eventually(() => expect(held).toHaveLength(3))
    const other = askAs('a', {}, 'another').then(wholeText)
    await eventually(() => expect(held).toHaveLength(4))
    for (const response of held) response.end('done')
    expect(await other).toBe('done')
    expect((await Promise.all(one)).filter((text) => text === 'done')).toHaveLength(2)
  })
})

const wholeText = async (answer: Awaited<ReturnType<typeof ask>>): Promise<string> =>
  (await wholeAnswer(answer, 100)).text
