// Writers run at full speed, the test kills all processes with kill -9 and restarts the server: no acknowledged write
// may be lost, and a watcher that resumes sees every change once.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'
import type { ApiObject } from './api-client.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const WRITERS = 64
const CRASHES = 20
const WRITE_MS = 800

interface Seen {
  readonly type: string
  readonly name: string
  readonly version: number
}

let dataDir: string
let server: KedgeProcess
let client: ApiClient
let port = '0'

/** The last acknowledged resourceVersion and counter of each object, by name. */
const acknowledged = new Map<string, { version: number; count: number }>()
const seen: Seen[] = []
let newest = 0

async function start(): Promise<void> {
  server = await startKedge(['--data-dir', dataDir, '--port', port])
  port = new URL(server.url).port
  client = new ApiClient(server.kubeconfig)
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'kedge-crash-'))
  await start()
})
afterAll(async () => {
  await server.stop() // with its engine, so that nothing writes any more
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

/** Creates an object and then increments its counter until the server is gone. */
async function write(name: string): Promise<void> {
  const object = (count: number): unknown => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { count: String(count) },
  })
  for (let count = 0; ; count++) {
    const { status, body } = await (count === 0
      ? client.send('POST', CONFIG_MAPS, object(count))
      : client.send('PUT', `${CONFIG_MAPS}/${name}`, object(count)))
    expect([200, 201], body.message).toContain(status)
    acknowledged.set(name, { version: Number(body.metadata.resourceVersion), count })
  }
}

/** Collects events from a resourceVersion on; resolves when the stream is open, with a promise of its end. */
async function watch(from: number): Promise<{ ended: Promise<void> }> {
  const stream = await client.open('GET', `${CONFIG_MAPS}?watch=1&resourceVersion=${from}`)
  expect(stream.statusCode).toBe(200)
  let rest = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { type, object } = JSON.parse(line) as { type: string; object: ApiObject }
      seen.push({ type, name: object.metadata.name, version: Number(object.metadata.resourceVersion) })
    }
  })
  return { ended: new Promise((resolve) => stream.on('close', resolve).on('error', () => {})) }
}

const lastSeen = (from: number): number => seen.at(-1)?.version ?? from

test(`${CRASHES} crashes under ${WRITERS} writers lose nothing`, async () => {
  const before = await client.send('GET', CONFIG_MAPS)
  const began = Number(before.body.metadata.resourceVersion)
  for (let crash = 0; crash < CRASHES; crash++) {
    const watched = await watch(lastSeen(began))
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(`writer-${crash}-${writer}`))
    const broken = Promise.allSettled(writers)
    await new Promise((resolve) => setTimeout(resolve, WRITE_MS))
    // On a busy machine it takes longer until each writer has written.
    await expect.poll(() => acknowledged.size).toBe((crash + 1) * WRITERS)
    process.kill(-server.process.pid!, 'SIGKILL')
    await Promise.all([broken, watched.ended])
    for (const { version } of acknowledged.values()) newest = Math.max(newest, version)
    client.close()
    await start()

    const { body } = await client.send('GET', CONFIG_MAPS)
    const stored = new Map(body.items!.map((object) => [object.metadata.name, object]))
    for (const [name, { version, count }] of acknowledged) {
      const object = stored.get(name)
      // The last write of each object may be stored although its answer was lost.
      expect(Number(object?.data?.['count']), name).toBeOneOf([count, count + 1])
      expect(Number(object?.metadata.resourceVersion), name).toBeGreaterThanOrEqual(version)
    }
    const { body: made } = await client.send('POST', CONFIG_MAPS, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `after-${crash}` },
    })
    expect(Number(made.metadata.resourceVersion)).toBeGreaterThan(newest)
  }
  expect(acknowledged.size).toBe(CRASHES * WRITERS)

  // The watcher catches up. Then it has seen every change of the objects.
  await watch(lastSeen(began))
  const { body } = await client.send('GET', CONFIG_MAPS)
  const last = Number(body.metadata.resourceVersion)
  await expect.poll(() => lastSeen(began)).toBeGreaterThanOrEqual(last)
  const versions = seen.map((event) => event.version)
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
  for (const [name] of acknowledged) {
    const events = seen.filter((event) => event.name === name)
    const object = body.items!.find((item) => item.metadata.name === name)!
    expect(events[0]?.type, name).toBe('ADDED')
    expect(events.slice(1).every((event) => event.type === 'MODIFIED')).toBe(true)
    expect(events.length, name).toBe(Number(object.data?.['count']) + 1)
    expect(events.at(-1)?.version, name).toBe(Number(object.metadata.resourceVersion))
  }
  client.close()
})
