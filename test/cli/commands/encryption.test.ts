// The command that seals objects anew, from a server that answers as listed.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Server } from '../../../src/cli/commands/backup.ts'
import { rewrite } from '../../../src/cli/commands/encryption.ts'
import { openPki } from '../../../src/cli/data-directory/pki.ts'

const item = (name: string) => ({ metadata: { name, namespace: 'default', resourceVersion: '1' } })
const SECRETS = '/api/v1/secrets?limit=50'

/** By method and path: a status and a body. */
const answers: Readonly<Record<string, readonly [number, unknown]>> = {
  [`GET ${SECRETS}`]: [200, { metadata: { continue: 'old' }, items: [item('a')] }],
  [`GET ${SECRETS}&continue=old`]: [410, { kind: 'Status', reason: 'Expired', metadata: { continue: 'fresh' } }],
  [`GET ${SECRETS}&continue=fresh`]: [200, { metadata: {}, items: [item('b')] }],
}

let keys: string
let server: Server
const written: string[] = []
const close: (() => void)[] = []
beforeAll(async () => {
  keys = mkdtempSync(join(tmpdir(), 'kedge-rewrite-'))
  const pki = await openPki(join(keys, 'pki'), ['127.0.0.1'], new Date())
  const { certificate: cert, key } = pki.server
  const front = createServer({ cert, key }, ({ method = '', url = '' }, answer) => {
    const name = url.slice(url.lastIndexOf('/') + 1)
    if (method === 'PUT') written.push(name)
    const stored = {
      ...item(name),
      metadata: { ...item(name).metadata, resourceVersion: method === 'PUT' ? '2' : '1' },
    }
    const [status, body] = answers[`${method} ${url}`] ?? [200, stored]
    answer.writeHead(status).end(JSON.stringify(body))
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  close.push(
    () => front.closeAllConnections(),
    () => front.close(),
  )
  // it listens on a port
  const url = `https://127.0.0.1:${(front.address() as AddressInfo).port}`
  server = { url, token: '', authority: pki.authorities }
})
afterAll(() => {
  for (const one of close) one()
  rmSync(keys, { recursive: true })
})

test('a rewrite that takes longer than the retention of old versions goes on with the list of now', async () => {
  expect(await rewrite(server, 'secrets')).toEqual({ seen: 2, written: 2 })
  expect(written).toEqual(['a', 'b'])
})
