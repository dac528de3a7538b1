// The retention is one second, writers never stop, and the test kills the server again and again: compaction is always
// under way, and drops only versions that are due.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const WRITERS = 16
const CRASHES = 6
const WRITE_MS = 2_500

let dataDir: string
let server: KedgeProcess
let client: ApiClient
let port = '0'

async function start(): Promise<void> {
  server = await startKedge(['--data-dir', dataDir, '--port', port, '--history', '1'])
  port = new URL(server.url).port
  client = new ApiClient(server.kubeconfig)
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'kedge-compaction-'))
  await start()
})
afterAll(async () => {
  client.close()
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

/** The last acknowledged count of each writer's object. It is the stored count unless the last answer was lost. */
const counts = new Map<string, number>()

async function count(name: string): Promise<void> {
  for (;;) {
    const next = (counts.get(name) ?? -1) + 1
    const object = { metadata: { name }, data: { count: String(next), value: 'x'.repeat(2_000) } }
    const { status, body } = await (next === 0
      ? client.send('POST', CONFIG_MAPS, object)
      : client.send('PUT', `${CONFIG_MAPS}/${name}`, object))
    if (status === 409)
      expect(body.reason).toBe('AlreadyExists') // its first answer was lost
    else expect([200, 201], body.message).toContain(status)
    counts.set(name, next)
  }
}

interface Shard {
  readonly versions: number
  readonly keys: number
}

async function shard(): Promise<Shard> {
  const response = await client.open('GET', '/debug/shards?shard=configmaps')
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += part as string
  // src/storage/shard-protocol: ShardStats
  return (JSON.parse(text) as { shards: [Shard] }).shards[0]
}

test(`${CRASHES} crashes during compaction lose nothing`, async () => {
  for (let crash = 0; crash < CRASHES; crash++) {
    const broken = Promise.allSettled(Array.from({ length: WRITERS }, (_, writer) => count(`writer-${writer}`)))
    await new Promise((resolve) => setTimeout(resolve, WRITE_MS + crash * 130))
    process.kill(-server.process.pid!, 'SIGKILL')
    for (const outcome of await broken)
      expect(String((outcome as PromiseRejectedResult).reason)).not.toContain('expected')
    client.close()
    await start()
    const { body } = await client.send('GET', CONFIG_MAPS)
    const stored = new Map(body.items!.map((object) => [object.metadata.name, Number(object.data?.['count'])]))
    for (const [name, last] of counts) {
      expect(stored.get(name), name).toBeOneOf([last, last + 1])
      counts.set(name, stored.get(name)!)
    }
  }
  // There are no more writes and requests: the alarm alone finishes compaction.
  await expect.poll(shard).toSatisfy(({ versions, keys }: Shard) => versions === keys)
})
