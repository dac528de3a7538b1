// Watches over bad networks: clients vanish, clients do not read, thousands of clients come and go.
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../eventually.ts'
import type { ShardStats } from '../../src/storage/shards/shard-protocol.ts'
import { usageOf } from '../bench/process-usage.ts'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

let server: KedgeProcess
let client: ApiClient

beforeAll(async () => {
  server = await startKedge()
  client = new ApiClient(server.kubeconfig)
})
afterAll(() => server.stop())

async function sockets(): Promise<number> {
  const { body } = await client.send('GET', '/debug/shards?shard=configmaps')
  const [shard] = (body as unknown as { shards: ShardStats[] }).shards
  return shard?.sockets ?? -1
}

const socketsBecome = (count: number): Promise<boolean> => until(async () => (await sockets()) === count)

const version = async (): Promise<string> =>
  (await client.send('GET', `${CONFIG_MAPS}?limit=1`)).body.metadata.resourceVersion

test('a client that disconnects leaves no socket behind', async () => {
  const streams = await Promise.all(
    Array.from({ length: 20 }, async () =>
      client.open('GET', `${CONFIG_MAPS}?watch=1&resourceVersion=${await version()}`),
    ),
  )
  await socketsBecome(20)
  for (const stream of streams) stream.on('error', () => {}).destroy()
  await socketsBecome(0)
})

/**
 * Opens a watch, waits for its response headers and vanishes like a machine without power: in repair mode the kernel
 * drops a connection without sending a packet (tcp(7), CAP_NET_ADMIN), and answers its later packets with a reset. For
 * the server's end, whose line in /proc/net/tcp has the ports in reverse order, it is still established (01).
 */
const VANISH = `
import socket, ssl, sys, time
host, port, path, token, *more = sys.argv[1:]
context = ssl._create_unverified_context()
client = context.wrap_socket(socket.create_connection((host, int(port))))
client.sendall(f'GET {path} HTTP/1.1\\r\\nHost: {host}\\r\\nAuthorization: Bearer {token}\\r\\n'.encode())
client.sendall(''.join(line + '\\r\\n' for line in more + ['']).encode())
assert client.recv(4096)[9:12] in (b'200', b'101')
time.sleep(1) # all is acknowledged
client.setsockopt(socket.IPPROTO_TCP, 19, 1)
ours = f'0100007F:{client.getsockname()[1]:04X}'
client.close()
lines = [line.split() for line in open('/proc/net/tcp')]
assert [line[3] for line in lines if line[2] == ours] == ['01'], 'the server was told'
`

test('a client that vanished without closing is noticed', async (context) => {
  const { hostname, port } = new URL(server.url)
  const path = `${CONFIG_MAPS}?watch=1&resourceVersion=${await version()}`
  const socket = ['Connection: Upgrade', 'Upgrade: websocket', `Origin: ${server.url}`, 'Sec-WebSocket-Version: 13']
  try {
    for (const more of [[], [...socket, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']])
      execFileSync('python3', ['-c', VANISH, hostname, port, path, client.token, ...more], { stdio: 'pipe' })
  } catch (error) {
    context.skip(`needs python3 and the right to make connections vanish: ${String(error).split('\n').at(-2)}`)
  }
  // by TCP's keepalive after half a minute: neither a stream nor a WebSocket has a heartbeat of its own
  await socketsBecome(0)
})

test('a client that does not read costs bounded memory and loses no event', async () => {
  const begin = await version()
  const lazy = await client.open('GET', `${CONFIG_MAPS}?watch=1&resourceVersion=${begin}`)
  lazy.on('error', () => {}).pause()
  const before = usageOf(server.process.pid!).residentBytes
  const value = 'x'.repeat(100_000)
  const writes = 600 // 60 MB that the client does not read
  for (let n = 0; n < writes; n += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, k) =>
        client.send('POST', CONFIG_MAPS, { metadata: { name: `slow-${n + k}` }, data: { value } }),
      ),
    )
  expect(usageOf(server.process.pid!).residentBytes - before).toBeLessThan(250e6)

  // It now reads on, and gets every event once, in order: the watch goes on, or ends and is begun again.
  const versions: string[] = []
  await client.send('POST', CONFIG_MAPS, { metadata: { name: 'the-end' } })
  for (let watch = lazy, isOver = false; !isOver;) {
    let [text, tail] = ['', '']
    for await (const part of watch.setEncoding('utf8')) {
      text += part as string
      tail = (tail + (part as string)).slice(-2_000)
      isOver = /"name":"the-end".*\n$/.test(tail)
      if (isOver) break
    }
    for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
      const found = /"resourceVersion":"(\d+)"/.exec(line)
      if (found?.[1] !== undefined && line.startsWith('{"type":"ADDED"')) versions.push(found[1])
    }
    if (!isOver) watch = await client.open('GET', `${CONFIG_MAPS}?watch=1&resourceVersion=${versions.at(-1) ?? begin}`)
  }
  versions.pop() // the version of the-end
  expect(versions.length).toBe(writes)
  expect(new Set(versions).size).toBe(writes)
  expect(versions).toEqual([...versions].sort((a, b) => Number(a) - Number(b)))
})

test('thousands of watches come and go and leave no socket', async () => {
  const begin = await version()
  const descriptors = (): number => openDescriptors(server.process.pid!)
  const open = async (): Promise<void> => {
    const stream = await client.open('GET', `${CONFIG_MAPS}?watch=1&resourceVersion=${begin}`)
    stream.on('error', () => {}).destroy()
  }
  for (let n = 0; n < 200; n++) await open() // warm-up
  await socketsBecome(0)
  const before = { descriptors: descriptors(), memory: usageOf(server.process.pid!).residentBytes }
  for (let n = 0; n < 100; n++) await Promise.all(Array.from({ length: 100 }, open))
  await socketsBecome(0)
  await until(() => descriptors() - before.descriptors < 50)
  expect(usageOf(server.process.pid!).residentBytes - before.memory).toBeLessThan(300e6)
})

test('connections beyond the limit get 429', async () => {
  const small = await startKedge(undefined, undefined, ['sh', '-c', 'ulimit -n 600 && exec "$@"', 'sh'])
  const { token } = new ApiClient(small.kubeconfig)
  const open = (path: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${token}` }
      const sent = request(small.url + path, { rejectUnauthorized: false, agent: false, headers }, resolve)
      sent.on('error', reject).end()
    })
  const answers: IncomingMessage[] = []
  try {
    for (let n = 0; n < 15; n++)
      answers.push(...(await Promise.all(Array.from({ length: 20 }, () => open(`${CONFIG_MAPS}?watch=1`)))))
    const refused = answers.filter(({ statusCode }) => statusCode === 429)
    expect(answers.filter(({ statusCode }) => statusCode === 200).length).toBe(200)
    expect(refused.length).toBe(100)
    expect(refused.map(({ headers }) => headers['retry-after'])).toEqual(Array(100).fill('1'))
    // Earlier connections go on. A connection that closes makes room for a new one.
    for (const answer of answers) answer.on('error', () => {}).destroy()
    await until(async () => (await open('/readyz')).resume().statusCode === 200)
  } finally {
    for (const answer of answers) answer.on('error', () => {}).destroy()
    await small.stop()
  }
})

/** Counts the open file descriptors of a process and of its descendants. */
function openDescriptors(root: number): number {
  const children = (pid: number): number[] => {
    try {
      return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
        readChildren(pid, task).flatMap((child) => [child, ...children(child)]),
      )
    } catch {
      return []
    }
  }
  return [root, ...children(root)].reduce((sum, pid) => sum + descriptorsOf(pid), 0)
}

function readChildren(pid: number, task: string): number[] {
  return readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
}

function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}
