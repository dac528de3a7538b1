// Secrets encrypted at rest, on the real engine and its disk: the content of the files, a changed key, a missing key,
// and the command that rewrites every value.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LAUNCHER, startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

const SECRETS = '/api/v1/namespaces/default/secrets'
const PLAIN = 'zebra-crossing-at-midnight'
const ENCODED = Buffer.from(PLAIN).toString('base64')
const key = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`
const [first, second] = [key('first'), key('second')]

let directory: string
let keyFile: string
let server: KedgeProcess | undefined

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'kedge-encryption-'))
  keyFile = join(directory, 'keys')
})
afterAll(async () => {
  await server?.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** Starts the server on the same data, with these keys or none. */
async function startWith(keys: string | undefined): Promise<ApiClient> {
  await server?.stop()
  const flags = keys === undefined ? [] : ['--encryption-keys', keyFile]
  if (keys !== undefined) writeFileSync(keyFile, keys, { mode: 0o600 })
  server = await startKedge(['--port', '0', '--data-dir', join(directory, 'data'), '--history', '1', ...flags])
  return new ApiClient(server.kubeconfig)
}

/** Counts the files below the data directory that contain the text. */
function filesWith(text: string): number {
  const files = readdirSync(join(directory, 'data'), { recursive: true, withFileTypes: true })
  return files.filter((file) => file.isFile() && readFileSync(join(file.parentPath, file.name)).includes(text)).length
}

const secret = (name: string, data: string) => ({ metadata: { name }, type: 'Opaque', data: { word: data } })

test('no file contains a written value as text or as base64', async () => {
  const client = await startWith(first)
  expect((await client.send('POST', SECRETS, secret('new', ENCODED))).status).toBe(201)
  expect((await client.send('GET', `${SECRETS}/new`)).body.data?.['word']).toBe(ENCODED)
  await server?.stop()
  server = undefined
  expect(filesWith('"kedge.dev/sealed":"first"')).toBeGreaterThan(0)
  expect([filesWith(ENCODED), filesWith(PLAIN)]).toEqual([0, 0])
})

test('the server also reads values that were stored unencrypted', async () => {
  const open = await startWith(`identity,${first}`)
  expect((await open.send('POST', SECRETS, secret('old', ENCODED))).status).toBe(201)
  const client = await startWith(first)
  const listed = await client.send('GET', SECRETS)
  expect(listed.body.items?.map(({ data }) => data?.['word'])).toEqual([ENCODED, ENCODED])
})

test('a watch sends the decrypted objects', async () => {
  const client = new ApiClient(server!.kubeconfig)
  const watch = await client.open('GET', `${SECRETS}?watch=1`)
  await client.send('POST', SECRETS, secret('newer', ENCODED))
  await client.send('DELETE', `${SECRETS}/newer`)
  let events = ''
  for await (const part of watch.setEncoding('utf8')) if (/"DELETED".*\n$/.test((events += part as string))) break
  expect(events.split(ENCODED)).toHaveLength(5) // four events: two existing objects, one created and deleted
  expect(events).not.toContain('kedge.dev/sealed')
})

test('the rewrite seals every value with the first key, and then no value needs the old one', async () => {
  await startWith(`${second},${first}`)
  const rewrite = () =>
    promisify(execFile)(process.execPath, [
      LAUNCHER,
      'encryption',
      'rewrite',
      '--data-dir',
      dirname(server!.kubeconfig),
    ])
  expect((await rewrite()).stdout).toContain('secrets: 2 objects, 2 stored anew')
  expect((await rewrite()).stdout).toContain('secrets: 2 objects, 0 stored anew')
  const client = await startWith(second)
  const listed = await client.send('GET', SECRETS)
  expect(listed.body.items?.map(({ data }) => data?.['word'])).toEqual([ENCODED, ENCODED])
})

test('without the key no value is returned, and the error says why', async () => {
  const client = await startWith(undefined)
  for (const path of [`${SECRETS}/old`, SECRETS, '/api/v1/secrets']) {
    const { status, body } = await client.send('GET', path)
    expect([path, status]).toEqual([path, 500])
    expect(body.message).toMatch(/unable to transform the stored value of secrets/)
    expect(JSON.stringify(body)).not.toContain('sealed')
  }
  const watch = await client.open('GET', `${SECRETS}?watch=1&timeoutSeconds=30`)
  let events = ''
  for await (const part of watch.setEncoding('utf8')) events += part as string
  expect(events).toMatch(/^\{"type":"ERROR".*unable to transform the stored value of secrets/)
  const other = await startWith(key('second'))
  const { status, body } = await other.send('GET', `${SECRETS}/old`)
  expect(status).toBe(500)
  expect(body.message).toContain('encryption key "second" does not open it')
})
