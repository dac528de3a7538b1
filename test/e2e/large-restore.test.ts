// A restore outlives every cached copy of the configuration, and another is killed in the middle: the server never
// serves a part of the backup, earlier watches end, and the same command repeats the restore.
import { execFile } from 'node:child_process'
import { createReadStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LAUNCHER, startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

const CONFIG_MAPS = '/api/v1/namespaces/shop/configmaps'
const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
/** These objects have 45 MB together. */
const OBJECTS = 60
const VALUE = 'x'.repeat(750_000)

let directory: string
let file: string
let port = '0'
let target: KedgeProcess
let client: ApiClient

const kedge = (server: KedgeProcess, ...args: string[]) =>
  promisify(execFile)(process.execPath, [LAUNCHER, ...args, '--data-dir', dirname(server.kubeconfig)])

async function start(): Promise<void> {
  target = await startKedge(['--data-dir', join(directory, 'data'), '--port', port])
  port = new URL(target.url).port
  client = new ApiClient(target.kubeconfig)
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'kedge-large-restore-'))
  file = join(directory, 'backup.jsonl')
  const source = await startKedge()
  const from = new ApiClient(source.kubeconfig)
  await from.send('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } })
  await from.send('POST', ROLES, { metadata: { name: 'clerk' }, rules: [] })
  for (let n = 0; n < OBJECTS; n++)
    await from.send('POST', CONFIG_MAPS, { metadata: { name: `c${n}` }, data: { v: VALUE } })
  await kedge(source, 'backup', '-o', file)
  expect(statSync(file).size).toBeGreaterThan(43e6)
  from.close()
  await source.stop()
  await start()
})
afterAll(async () => {
  client.close()
  await target.stop()
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
})

/** Sends the first `bytes` of the backup, and never the rest. */
function sendHalf(bytes: number): void {
  const sent = request(`${target.url}/restore`, {
    method: 'POST',
    rejectUnauthorized: false,
    headers: { Authorization: `Bearer ${client.token}`, 'Content-Length': statSync(file).size },
  })
  sent.on('error', () => {}) // the server is killed
  createReadStream(file, { end: bytes }).pipe(sent, { end: false })
}

const namespaces = () => client.send('GET', '/api/v1/namespaces')

test('a restore that is killed in the middle serves nothing, before and after the next start', async () => {
  await namespaces()
  sendHalf(Math.floor(statSync(file).size / 2))
  await expect.poll(async () => (await namespaces()).status).toBe(503)
  process.kill(-target.process.pid!, 'SIGKILL')
  client.close()
  await start()
  const refused = await client.open('GET', '/api/v1/namespaces')
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5'])
  const { body } = await namespaces()
  expect(body).toMatchObject({ kind: 'Status', reason: 'ServiceUnavailable' })
  expect(body.message).toContain('kedge restore FILE')
  await expect(kedge(target, 'backup', '-o', join(directory, 'none'))).rejects.toThrow(/is being restored/)
})

test('a repeated restore serves the whole backup at once', async () => {
  const statuses = new Set<number>()
  let isOver = false
  const asking = (async () => {
    while (!isOver) statuses.add((await client.send('GET', `${CONFIG_MAPS}/c${OBJECTS - 1}`)).status)
  })()
  await kedge(target, 'restore', file)
  expect((await client.send('POST', CONFIG_MAPS, { metadata: { name: 'new' } })).status).toBe(201)
  expect((await client.send('GET', `${ROLES}/clerk`)).status).toBe(200)
  expect((await client.send('GET', CONFIG_MAPS)).body.items).toHaveLength(OBJECTS + 2) // and kube-root-ca.crt
  isOver = true
  await asking
  statuses.add((await client.send('GET', `${CONFIG_MAPS}/c0`)).status)
  expect([...statuses].sort()).toEqual([200, 503])
})

test('an abandoned restore leaves an empty control plane, and watches end', async () => {
  const other = await startKedge()
  const there = new ApiClient(other.kubeconfig)
  await there.send('GET', '/api/v1/namespaces')
  const { body } = await there.send('GET', '/api/v1/configmaps')
  const version = body.metadata.resourceVersion
  const watch = await there.open('GET', `/api/v1/configmaps?watch=1&resourceVersion=${version}`)
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, 3)
  expect((await there.open('POST', '/restore', { not: 'a backup' })).statusCode).toBe(400)
  const refused = await new Promise<number | undefined>((resolve, reject) => {
    const sent = request(
      `${other.url}/restore`,
      { method: 'POST', rejectUnauthorized: false, headers: { Authorization: `Bearer ${there.token}` } },
      ({ statusCode }) => resolve(statusCode),
    )
    sent.on('error', reject).end(lines.join('\n'))
  })
  expect(refused).toBe(400)
  let events = ''
  for await (const part of watch.setEncoding('utf8')) events += part as string
  expect(events).toContain('"code":410')
  expect((await there.send('GET', '/api/v1/namespaces')).status).toBe(503)
  await kedge(other, 'restore', '--abandon')
  expect((await there.send('GET', '/api/v1/namespaces/shop')).status).toBe(404)
  expect((await there.send('GET', '/api/v1/namespaces/default')).status).toBe(200)
  there.close()
  await other.stop()
})
