// Compressed lists, as client-go and kubectl request them: every byte arrives, even for a slow reader.
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

let server: KedgeProcess
let client: ApiClient

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
/** A text that gzip compresses badly. */
const value = (n: number): string => createHash('sha512').update(String(n)).digest('base64').repeat(60)

beforeAll(async () => {
  server = await startKedge()
  client = new ApiClient(server.kubeconfig)
  for (let n = 0; n < 150; n++)
    await client.send('POST', CONFIG_MAPS, { metadata: { name: `packed-${n}` }, data: { value: value(n) } })
}, 120_000)
afterAll(async () => {
  client?.close()
  await server?.stop()
})

/** @param pause milliseconds after each chunk */
async function read(path: string, accept: string, encoding: string, pause = 0): Promise<Buffer> {
  const answer = await client.open('GET', path, undefined, { Accept: accept, 'Accept-Encoding': encoding })
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['content-encoding']).toBe(encoding === 'gzip' ? 'gzip' : undefined)
  const chunks: Buffer[] = []
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer)
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause))
  }
  const bytes = Buffer.concat(chunks)
  return encoding === 'gzip' ? gunzipSync(bytes) : bytes
}

test.each(['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'])(
  'a compressed list as %s arrives whole',
  async (accept) => {
    const plain = await read(CONFIG_MAPS, accept, 'identity')
    expect(plain.length).toBeGreaterThan(512 * 1024)
    for (let n = 0; n < 150; n++) expect(plain.includes(value(n))).toBe(true)
    for (const pause of [0, 5]) expect((await read(CONFIG_MAPS, accept, 'gzip', pause)).equals(plain)).toBe(true)
  },
)
