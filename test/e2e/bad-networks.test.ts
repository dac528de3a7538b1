// Watches over networks as they are: clients that vanish, that do not read, that come in thousands and go.
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ShardStats } from '../../src/storage/shard-protocol.ts'
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

async function until(holds: () => Promise<boolean>, seconds: number): Promise<boolean> {
  for (let tries = 0; tries < seconds * 5; tries++) {
    if (await holds()) return true
    await pause(200)
  }
  return false
}

const version = async (): Promise<string> =>
  (await client.send('GET', `${CONFIG_MAPS}?limit=1`)).body.metadata.resourceVersion

test('a client that is gone leaves no socket behind', { timeout: 60_000 }, async () => {
  const streams = await Promise.all(
    Array.from({ length: 20 }, async () =>
      client.open('GET', `${CONFIG_MAPS}?watch=1&resourceVersion=${await version()}`),
    ),
  )
  expect(await until(async () => (await sockets()) === 20, 10)).toBe(true)
  for (const stream of streams) stream.on('error', () => {}).destroy()
  expect(await until(async () => (await sockets()) === 0, 40)).toBe(true)
})

test('a client that does not read costs bounded memory and loses nothing', { timeout: 120_000 }, async () => {
  const begin = await version()
  const lazy = await client.open('GET', `${CONFIG_MAPS}?watch=1&resourceVersion=${begin}`)
  lazy.on('error', () => {}).pause()
  const before = usageOf(server.process.pid!).residentBytes
  const value = 'x'.repeat(100_000)
  const writes = 600 // 60 MB that nobody reads
  for (let n = 0; n < writes; n += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, k) =>
        client.send('POST', CONFIG_MAPS, { metadata: { name: `slow-${n + k}` }, data: { value } }),
      ),
    )
  expect(usageOf(server.process.pid!).residentBytes - before).toBeLessThan(250e6)

  // what it reads now, and what it gets when it goes on from there, is everything, once, in order
  const versions: string[] = []
  const collect = (text: string): void => {
    for (const line of text.split('\n')) {
      const found = /"resourceVersion":"(\d+)"/.exec(line)
      if (found?.[1] !== undefined && line.startsWith('{"type":"ADDED"')) versions.push(found[1])
    }
  }
  let first = ''
  lazy.setEncoding('utf8').on('data', (part: string) => (first += part))
  lazy.resume()
  await Promise.race([new Promise((resolve) => lazy.once('close', resolve)), pause(5_000)])
  lazy.destroy()
  collect(first.slice(0, first.lastIndexOf('\n') + 1))
  const last = versions.at(-1) ?? begin
  const rest = await client.open('GET', `${CONFIG_MAPS}?watch=1&timeoutSeconds=5&resourceVersion=${last}`)
  let second = ''
  for await (const part of rest.setEncoding('utf8')) second += part as string
  collect(second)
  expect(versions.length).toBe(writes)
  expect(new Set(versions).size).toBe(writes)
  expect(versions).toEqual([...versions].sort((a, b) => Number(a) - Number(b)))
})

test('thousands of watches come and go and leave nothing', { timeout: 240_000 }, async () => {
  const begin = await version()
  const descriptors = (): number => openDescriptors(server.process.pid!)
  const open = async (): Promise<void> => {
    const stream = await client.open('GET', `${CONFIG_MAPS}?watch=1&resourceVersion=${begin}`)
    stream.on('error', () => {}).destroy()
  }
  for (let n = 0; n < 200; n++) await open() // warm
  await until(async () => (await sockets()) === 0, 40)
  const before = { descriptors: descriptors(), memory: usageOf(server.process.pid!).residentBytes }
  for (let n = 0; n < 100; n++) await Promise.all(Array.from({ length: 100 }, open))
  expect(await until(async () => (await sockets()) === 0, 60)).toBe(true)
  expect(descriptors() - before.descriptors).toBeLessThan(50)
  expect(usageOf(server.process.pid!).residentBytes - before.memory).toBeLessThan(300e6)
})

/** Of the process and all that it started. */
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
