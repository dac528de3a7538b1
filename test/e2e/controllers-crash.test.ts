// The test kills the server right after it stored work for its controllers. They do it after the restart, without a
// new request.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

let dataDir: string
let server: KedgeProcess
let client: ApiClient
let port = '0'

async function start(): Promise<void> {
  server = await startKedge(['--data-dir', dataDir, '--port', port])
  port = new URL(server.url).port
  client = new ApiClient(server.kubeconfig)
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'kedge-controllers-'))
  await start()
})
afterAll(async () => {
  client.close()
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

test.each([0, 20, 100])('a server killed %i ms after a namespace was made completes it', async (milliseconds) => {
  const name = `after-${milliseconds}`
  expect((await client.send('POST', '/api/v1/namespaces', { metadata: { name } })).status).toBe(201)
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  process.kill(-server.process.pid!, 'SIGKILL')
  client.close()
  await start()
  const path = `/api/v1/namespaces/${name}/serviceaccounts/default`
  await expect.poll(async () => (await client.send('GET', path)).status).toBe(200)
})
