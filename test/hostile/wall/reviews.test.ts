// Authentication webhooks with wrong answers. For kube-apiserver the webhook listens at $HOSTILE_REVIEWS_PORT of this
// machine, which its --authentication-token-webhook-config-file names (v1).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuthority, issue } from '../../../src/cli/data-directory/certificate.ts'
import { lies } from './reviews.ts'
import { World } from './world.ts'

const authority = await createAuthority({ commonName: 'reviews' }, new Date(), 30)
const leaf = { subject: { commonName: 'reviews' }, usage: 'server', names: ['127.0.0.1'], days: 30 } as const
const { key, certificate } = await issue(authority, leaf, new Date())
const directory = mkdtempSync(join(tmpdir(), 'kedge-reviews-'))

/** A redirect leads to an answer that accepts every token. */
const anybody = lies[0]!
const server = createServer({ key, cert: certificate }, (asked, response) => {
  let text = ''
  asked.setEncoding('utf8').on('data', (part: string) => (text += part))
  asked.on('end', () => {
    if (asked.url?.startsWith('/elsewhere') === true) return anybody.tell({}, response)
    // the server under test sends TokenReviews
    const { spec } = JSON.parse(text) as { spec: { token: string } }
    return lies[Number(spec.token.slice('lie-'.length))]?.tell({ spec }, response)
  })
})

let world: World
beforeAll(async () => {
  await new Promise<void>((resolve) =>
    server.listen(Number(process.env['HOSTILE_REVIEWS_PORT'] ?? 0), '127.0.0.1', resolve),
  )
  const { port } = server.address() as AddressInfo // of a server that listens on TCP
  writeFileSync(join(directory, 'ca.crt'), authority.certificate)
  const file = join(directory, 'tokens')
  writeFileSync(
    file,
    `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:${port}/tokens', certificate-authority: ca.crt}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`,
  )
  world = await World.start(
    '--authentication-token-webhook-config-file',
    file,
    '--authentication-token-webhook-version',
    'v1',
  )
})
afterAll(async () => {
  await world?.stop()
  server.closeAllConnections()
  server.close()
  rmSync(directory, { recursive: true, force: true })
})

test.each(lies.map((lie, at) => ({ ...lie, at })))('a webhook that tells $what → $answer', async (lie) => {
  const path = '/api/v1/namespaces/kube-system/configmaps?limit=1'
  const headers = { Authorization: `Bearer lie-${lie.at}` }
  const { status, text } = await world.send('anonymous', 'GET', path, undefined, headers)
  expect(status, text.slice(0, 300)).toBe(world.isKedge ? (lie.own ?? lie.answer) : lie.answer)
})
