import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readWebhook } from '../../../src/cli/flags/audit.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-audit-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function webhook(cluster: object, user: object = {}): unknown {
  const file = join(directory, 'config')
  const config = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  writeFileSync(file, JSON.stringify(config))
  return JSON.parse(readWebhook(file, 'batch'))
}

test('a webhook has the server and the token of the current context', () => {
  const server = 'https://audit.example/'
  expect(webhook({ server }, { token: 't' })).toEqual({ url: server, mode: 'batch', token: 't' })
  expect(webhook({ server })).toEqual({ url: server, mode: 'batch' })
})

test.each([
  [{ 'certificate-authority': 'ca.crt' }, {}],
  [{ 'insecure-skip-tls-verify': true }, {}],
  [{}, { 'client-certificate': 'c', 'client-key': 'k' }],
])('what the engine cannot do is refused: %j, %j', (cluster, user) => {
  expect(() => webhook({ server: 'https://audit.example/', ...cluster }, user)).toThrow('only the server and a token')
})
