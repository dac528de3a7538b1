// Writers fill a disk: every answer to a write is true, and reads go on.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'
import type { Answer } from './api-client.ts'
import { SmallDisk } from './small-disk.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const WRITERS = 8
const DISK_MB = 24
const BALLAST_MB = 8
/** The number of refusals after which the test takes the disk for full. */
const ENOUGH = 200

let dataDir: string
let disk: SmallDisk | undefined
let server: KedgeProcess
let client: ApiClient
let port = '0'

/** The acknowledged writes, name → resourceVersion, and the writes with an uncertain answer. */
const acknowledged = new Map<string, string>()
const refused: Answer[] = []

async function start(): Promise<void> {
  server = await startKedge(['--data-dir', dataDir, '--port', port], process.env, disk!.within)
  port = new URL(server.url).port
  client = new ApiClient(server.kubeconfig)
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'kedge-full-'))
  const objects = join(dataDir, 'objects')
  mkdirSync(objects)
  disk = await SmallDisk.mount(objects, DISK_MB)
  if (disk === undefined) return
  disk.fill(BALLAST_MB)
  await start()
})
afterAll(async () => {
  client?.close()
  await server?.stop()
  disk?.close()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

const configMap = (name: string, size = 20_000): unknown => ({ metadata: { name }, data: { value: 'x'.repeat(size) } })

async function create(name: string): Promise<Answer> {
  const answer = await client.send('POST', CONFIG_MAPS, configMap(name))
  if (answer.status === 201) acknowledged.set(name, answer.body.metadata.resourceVersion)
  else refused.push(answer)
  return answer
}

/** Writes one object after the other until the disk has been full for a while. */
async function fill(writer: number): Promise<void> {
  for (let n = 0; refused.length < ENOUGH; n++) await create(`w${writer}-${n}`)
}

class Watcher {
  readonly seen = new Map<string, string>()
  /** Why the stream ended; undefined while it is open. */
  end: string | undefined

  static async open(query: string): Promise<Watcher> {
    const watcher = new Watcher()
    const stream = await client.open('GET', `${CONFIG_MAPS}?watch=1&${query}`)
    expect(stream.statusCode).toBe(200)
    let rest = ''
    stream.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) watcher.#take(JSON.parse(line) as Event)
    })
    stream.on('close', () => (watcher.end ??= 'closed')).on('error', () => {})
    return watcher
  }

  #take({ type, object }: Event): void {
    if (type === 'DELETED') this.seen.delete(object.metadata.name)
    else if (type === 'ERROR') this.end = JSON.stringify(object)
    else if (type !== 'BOOKMARK') this.seen.set(object.metadata.name, object.metadata.resourceVersion)
  }
}

interface Event {
  readonly type: string
  readonly object: Answer['body']
}

/** Reads in every way until `until` is true. @returns the answers other than 200 */
async function readAll(until: () => boolean): Promise<unknown[]> {
  const problems: unknown[] = []
  while (!until()) {
    const { body: elsewhere } = await client.send('GET', '/api/v1/namespaces?limit=1')
    for (const path of [
      `${CONFIG_MAPS}/kept`,
      CONFIG_MAPS,
      `${CONFIG_MAPS}?limit=5`,
      // The resourceVersion is of another shard: this shard has to catch up with it.
      `${CONFIG_MAPS}?limit=5&resourceVersion=${elsewhere.metadata.resourceVersion}`,
      `${CONFIG_MAPS}/kept?resourceVersion=${elsewhere.metadata.resourceVersion}`,
    ]) {
      try {
        const { status, body } = await client.send('GET', path)
        if (status !== 200) problems.push([path, status, body])
      } catch (error) {
        problems.push(error)
      }
    }
  }
  return problems
}

test('a full disk refuses writes, and nothing else', async ({ skip }) => {
  if (disk === undefined)
    return skip('no file system of our own can be mounted here: it takes root or user name spaces')
  expect((await create('gone')).status).toBe(201)
  expect((await create('kept')).status).toBe(201)
  const watcher = await Watcher.open('resourceVersion=0')
  let isFilled = false
  const reading = readAll(() => isFilled)

  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => fill(writer)))
  expect(acknowledged.size).toBeGreaterThan(50)
  for (const { status, body } of refused)
    expect({ status, kind: body.kind, reason: body.reason, message: body.message }).toEqual({
      status: 500,
      kind: 'Status',
      reason: 'InternalError',
      message: expect.stringMatching(
        /^Internal error occurred: the storage of this resource (is full: no space left|failed)/,
      ),
    })

  // Every other kind of write fails in the same way or succeeds, and its answer says which.
  const last = [...acknowledged.keys()].at(-1)!
  const updated = await client.send('PUT', `${CONFIG_MAPS}/${last}`, configMap(last, 30_000))
  if (updated.status === 200) acknowledged.set(last, updated.body.metadata.resourceVersion)
  else expect(updated).toMatchObject({ status: 500, body: { reason: 'InternalError' } })
  const deleted = await client.send('DELETE', `${CONFIG_MAPS}/gone`)
  if (deleted.status === 200) acknowledged.delete('gone')
  else expect(deleted).toMatchObject({ status: 500, body: { reason: 'InternalError' } })
  const dry = await client.send('POST', `${CONFIG_MAPS}?dryRun=All`, configMap('dry'))
  expect(dry.status).toBe(201)
  expect((await client.send('POST', CONFIG_MAPS, configMap('kept'))).status).toBeOneOf([409, 500])

  // The test tries again and again: a small write may find room.
  for (const until = Date.now() + 4_000; Date.now() < until; await new Promise((resolve) => setTimeout(resolve, 20)))
    expect((await create(`late-${Date.now()}`)).status).toBeOneOf([201, 500])

  // The open watch goes on, and has seen only acknowledged writes. A new watch gets all of them.
  const late = await Watcher.open('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true')
  for (const { seen } of [watcher, late]) await expect.poll(() => withoutRoot(seen)).toEqual(sorted(acknowledged))
  isFilled = true
  // The only failed read is the list that the server was sending when the first write failed.
  expect((await reading).filter((problem) => !isCutOff(problem))).toEqual([])
  expect((await reading).length).toBeLessThanOrEqual(1)
  expect([watcher.end, late.end]).toEqual([undefined, undefined])

  disk.free()
  await expect.poll(async () => (await create(`again-${Date.now()}`)).status).toBe(201)
  for (let n = 0; n < 20; n++) expect((await create(`free-${n}`)).status).toBe(201)
  await expect.poll(() => withoutRoot(watcher.seen)).toEqual(sorted(acknowledged))

  client.close()
  process.kill(-server.process.pid!, 'SIGKILL')
  await start()
  const { body } = await client.send('GET', CONFIG_MAPS)
  const stored = new Map(body.items!.map(({ metadata }) => [metadata.name, metadata.resourceVersion]))
  expect(withoutRoot(stored)).toEqual(sorted(acknowledged))
})

const isCutOff = (problem: unknown): boolean => problem instanceof Error && problem.message === 'aborted'

const sorted = (versions: ReadonlyMap<string, string>): [string, string][] =>
  [...versions].sort(([a], [b]) => (a < b ? -1 : 1))

/** The ConfigMaps without kube-root-ca.crt, which the server makes. */
const withoutRoot = (versions: ReadonlyMap<string, string>): [string, string][] =>
  sorted(versions).filter(([name]) => name !== 'kube-root-ca.crt')
