// Bodies that the engine streams out of buffers which it uses again: whoever reads them, however slowly, gets every byte.
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'
import { wideDefinition } from './wide-definition.ts'

let server: KedgeProcess
let client: ApiClient

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
/** Characters of one, two, three and four bytes, and no two descriptions alike. */
const description = (field: number): string => `Field ${field}: ${'größe 大きさ 😀 '.repeat(8)}${field * 31}`
const FIELDS = 4_000

const definition = (plural: string) => wideDefinition(plural, 'streamed', FIELDS, description)

beforeAll(async () => {
  server = await startKedge()
  client = new ApiClient(server.kubeconfig)
  for (const plural of ['ones', 'twos', 'threes', 'fours', 'fives']) {
    const { status, body } = await client.send('POST', DEFINITIONS, definition(plural))
    expect(status, body.message).toBe(201)
  }
  for (;;) {
    const { body } = await client.send('GET', '/openapi/v3/apis/streamed.example.com/v1')
    const schemas = Object.keys((body as { components?: { schemas?: object } }).components?.schemas ?? {})
    if (schemas.filter((name) => name.startsWith('com.example.streamed')).length === 10) break
  }
}, 120_000)
afterAll(async () => {
  client?.close()
  await server?.stop()
})

/** @param pause milliseconds after each chunk */
async function read(path: string, encoding: string, pause = 0): Promise<Buffer> {
  const answer = await client.open('GET', path, undefined, { 'Accept-Encoding': encoding })
  expect(answer.statusCode).toBe(200)
  const chunks: Buffer[] = []
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer)
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause))
  }
  const bytes = Buffer.concat(chunks)
  return answer.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
}

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

test.each(['/openapi/v2', '/openapi/v3/apis/streamed.example.com/v1'])(
  '%s',
  async (path) => {
    const first = await read(path, 'identity')
    expect(first.length).toBeGreaterThan(4 * 1024 * 1024)
    const text = first.toString()
    expect(Buffer.from(text).equals(first)).toBe(true) // no character was cut
    JSON.parse(text)
    for (let n = 0; n < FIELDS; n += 97) expect(text.split(description(n)).length - 1).toBe(5)
    const others = await Promise.all([
      read(path, 'identity'),
      read(path, 'gzip'),
      read(path, 'identity', 1),
      read(path, 'gzip', 20),
    ])
    for (const other of others) expect(digest(other)).toBe(digest(first))
  },
  120_000,
)
