// Certificates of other servers, judged as Go's crypto/x509 does, on both ways to call a server.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAuthority, issue } from '../../../src/cli/data-directory/certificate.ts'
import type { Credential } from '../../../src/cli/data-directory/certificate.ts'
import { serveOutgoingCalls } from '../../../src/cli/outgoing/calls.ts'
import { serveOutgoingExchanges } from '../../../src/cli/outgoing/exchanges.ts'
import { wholeAnswer } from '../../../src/outgoing/bounded-answer.ts'
import { exchangeByFront } from '../../../src/outgoing/by-front.ts'
import { byFront } from '../../../src/webhooks/by-front.ts'
import { outgoingBinding } from '../../outgoing-binding.ts'
import { bindingTo } from './streaming-binding.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-trust-'))
const sockets = { calls: join(directory, 'calls.sock'), exchanges: join(directory, 'exchanges.sock') }
const closing: (() => void)[] = []
beforeAll(async () => {
  const calls = await serveOutgoingCalls(sockets.calls)
  const exchanges = await serveOutgoingExchanges(sockets.exchanges)
  closing.push(
    () => calls.close(),
    () => exchanges.close(),
  )
})
afterAll(() => {
  for (const close of closing) close()
  rmSync(directory, { recursive: true })
})

const now = new Date()
const authority = await createAuthority({ commonName: 'root' }, now, 30)
const server = (commonName: string, ...names: string[]): Promise<Credential> =>
  issue(authority, { subject: { commonName }, usage: 'server', names, days: 30 }, now)
const own = await server('hook', '127.0.0.1', 'hook.a.svc')
const other = await server('hook', '127.0.0.1')
const unnamed = await server('hook.a.svc')

async function serving({ certificate, key }: Credential): Promise<string> {
  const listening = createServer({ cert: certificate, key }, (_request, response) => response.end('here'))
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  closing.push(() => (listening.close(), listening.closeAllConnections()))
  return `https://127.0.0.1:${(listening.address() as AddressInfo).port}/` // it listens on TCP
}

type Ask = (url: string, caBundle: string, serverName?: string) => Promise<string>
const ways: Readonly<Record<string, Ask>> = {
  'a webhook': async (url, caBundle, serverName) => {
    const call = { url, headers: {}, timeoutMs: 20_000, caBundle, serverName }
    return new TextDecoder().decode((await byFront(outgoingBinding(sockets.calls))(call, '{}')).body)
  },
  'another server': async (url, caBundle, serverName) => {
    const call = { method: 'GET', url, headers: [], caBundle, serverName }
    return (await wholeAnswer(await exchangeByFront(bindingTo(sockets.exchanges))(call, null), 1 << 20)).text
  },
  'another server, for an upgrade': async (url, caBundle, serverName) => {
    const call = { method: 'GET', url, headers: [], caBundle, serverName, upgrades: true }
    return (await wholeAnswer(await exchangeByFront(bindingTo(sockets.exchanges))(call, null), 1 << 20)).text
  },
}

describe.each(Object.entries(ways))('%s', (_way, ask) => {
  test.each<[what: string, bundle: Credential, served: Credential, serverName: string | undefined, why: string]>([
    ['signed by the bundle’s authority', authority, own, undefined, ''],
    ['that is in the bundle itself', own, own, undefined, ''],
    ['that is not the one in the bundle', own, other, undefined, 'x509: certificate signed by unknown authority'],
    [
      'that is in the bundle, for another name',
      own,
      own,
      'b.a.svc',
      'certificate is valid for hook.a.svc, not b.a.svc',
    ],
    ['with the name only in its subject', authority, unnamed, 'hook.a.svc', 'certificate relies on legacy Common Name'],
    ['without names', authority, unnamed, 'b.a.svc', 'is not valid for any names, but wanted to match b.a.svc'],
  ])('with a certificate %s', async (_what, bundle, served, serverName, why) => {
    const answer = ask(await serving(served), bundle.certificate, serverName)
    await (why === '' ? expect(answer).resolves.toBe('here') : expect(answer).rejects.toThrow(why))
  })
})
