// A database is damaged on disk while the server is down: the server reports it in /readyz and in its log, and serves
// the other databases.
import { closeSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const PAGE = 4096

let directory: string
let server: KedgeProcess
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'kedge-damaged-'))))
afterEach(async () => {
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
})

const start = async (port = '0'): Promise<ApiClient> => {
  server = await startKedge(['--port', port, '--data-dir', directory])
  return new ApiClient(server.kubeconfig)
}

/** Overwrites the pages, from `fromPage` on, of the databases of a class that contain `text`. */
function damage(className: string, text: string, fromPage: number): void {
  const folder = join(directory, 'objects', `kedge-${className}`)
  const files = readdirSync(folder).filter((file) => /^[0-9a-f]{64}\.sqlite$/.test(file))
  const hit = files.filter((file) => read(folder, file).includes(text))
  expect(hit).toHaveLength(1)
  const path = join(folder, hit[0]!)
  for (const log of ['-wal', '-shm']) rmSync(path + log, { force: true })
  const descriptor = openSync(path, 'r+')
  for (let at = fromPage * PAGE; at < statSync(path).size; at += PAGE)
    writeSync(descriptor, Buffer.alloc(PAGE, 0xa5), 0, PAGE, at)
  closeSync(descriptor)
}

const read = (folder: string, file: string): Buffer =>
  Buffer.concat(
    ['', '-wal'].map((log) => {
      try {
        return readFileSync(join(folder, file + log))
      } catch {
        return Buffer.alloc(0)
      }
    }),
  )

const ready = async (client: ApiClient): Promise<{ status: number; text: string }> => {
  const answer = await client.open('GET', '/readyz?verbose')
  let text = ''
  for await (const part of answer.setEncoding('utf8')) text += part as string
  return { status: answer.statusCode ?? 0, text }
}

test.each([
  ['a page of a shard', 'ResourceShard', 'root/configmaps', 2, 'root/configmaps'],
  ['all of a shard', 'ResourceShard', 'root/configmaps', 0, 'root/configmaps'],
  ['a page of the controllers', 'ControllerManager', 'dependents', 1, 'root/controllers'],
  ['all of the controllers', 'ControllerManager', 'dependents', 0, 'root/controllers'],
])('a server with damage to %s reports it and serves the rest', async (_what, className, text, fromPage, name) => {
  let client = await start()
  for (let n = 0; n < 20; n++)
    await client.send('POST', CONFIG_MAPS, { metadata: { name: `c${n}` }, data: { value: 'x'.repeat(20_000) } })
  await client.send('POST', '/api/v1/namespaces', { metadata: { name: 'going' } })
  await client.send('DELETE', '/api/v1/namespaces/going')
  expect(await ready(client)).toMatchObject({ status: 200 })
  client.close()
  await server.stop()
  damage(className, text, fromPage)
  // The server restarts at the same address: the server writes its address into objects.
  client = await start(new URL(server.url).port)
  const { status, text: said } = await ready(client)
  expect(said).toContain(`[-]database/${name} failed: reason withheld\n`)
  expect(said).toContain('[+]etcd ok\n')
  expect(status).toBe(500)
  expect(server.output()).toContain(`"message":"a database cannot be read","shard":"${name}"`)
  // The other objects are readable.
  expect((await client.send('GET', '/api/v1/namespaces/default/serviceaccounts')).status).toBe(200)
  expect((await ready(client)).status, 'asked again').toBe(500)
  client.close()
})
