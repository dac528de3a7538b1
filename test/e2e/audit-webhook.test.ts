// A local server sends audit events to a webhook.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { requests } from '../audit/requests.ts'
import { sendRequests } from '../audit/send-requests.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-audit-'))
const ids = new Set<string>()
const tokens = new Set<string | undefined>()
let calls = 0
let largest = 0
/** The first call fails: the server sends its events again. */
const webhook = createServer((request, answer) => {
  let text = ''
  request.setEncoding('utf8').on('data', (part: string) => (text += part))
  request.on('end', () => {
    tokens.add(request.headers.authorization)
    if (calls++ === 0) return void answer.writeHead(503).end()
    // what the server sends is an EventList
    const { items } = JSON.parse(text) as { items: { auditID: string }[] }
    largest = Math.max(largest, items.length)
    for (const { auditID } of items) ids.add(auditID)
    answer.writeHead(200).end()
  })
})
let kedge: KedgeProcess

beforeAll(async () => {
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve))
  const { port } = webhook.address() as AddressInfo // of a server that listens on TCP
  const config = join(directory, 'webhook.yaml')
  writeFileSync(
    config,
    `current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: 'http://127.0.0.1:${port}/'}}]
users: [{name: a, user: {token: secret-of-the-webhook}}]
`,
  )
  const policy = join(import.meta.dirname, '../audit/policy.yaml')
  kedge = await startKedge([
    '--ephemeral',
    '--port',
    '0',
    '--audit-policy-file',
    policy,
    '--audit-webhook-config-file',
    config,
  ])
})
afterAll(async () => {
  await kedge.stop()
  webhook.close()
  rmSync(directory, { recursive: true, force: true })
})

test('audit events arrive in batches, with the token, although a call fails', async () => {
  const pem = (name: string): string => readFileSync(join(dirname(kedge.kubeconfig), 'pki', name), 'utf8')
  const some = requests.slice(0, 20)
  await sendRequests(some, { url: kedge.url, ca: pem('ca.crt'), certificate: pem('admin.crt'), key: pem('admin.key') })
  await eventually(() => expect(some.map(({ name }) => name).filter((name) => !ids.has(name))).toEqual([]))
  expect([...tokens]).toEqual(['Bearer secret-of-the-webhook'])
  expect(largest).toBeGreaterThan(1)
})
