// With --kubelet-certificate-authority a local server connects only to kubelets with certificates of that CA.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-kubelets-'))
const servers: Server[] = []
let asked = 0
let kedge: KedgeProcess
let api: ApiClient

const newAuthority = () => createAuthority({ commonName: 'kubelets' }, new Date(), 1)

/** @returns the port of a kubelet whose certificate has these names */
async function startKubelet(authority: Awaited<ReturnType<typeof newAuthority>>, names: string[]): Promise<number> {
  const leaf = { subject: { commonName: 'system:node:n' }, usage: 'server', names, days: 1 } as const
  const { key, certificate } = await issue(authority, leaf, new Date())
  const server = createServer({ key, cert: certificate }, (_, response) => {
    asked++
    response.end('a line\n')
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port // of a server that listens on TCP
}

const PODS = '/api/v1/namespaces/default/pods'

async function podOn(name: string, port: number): Promise<void> {
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  }
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name }, status }
  expect(await api.send('POST', '/api/v1/nodes', node)).toMatchObject({ status: 201 })
  const spec = { nodeName: name, containers: [{ name: 'main', image: 'i' }] }
  expect(await api.send('POST', PODS, { metadata: { name }, spec })).toMatchObject({ status: 201 })
}

beforeAll(async () => {
  const [authority, other] = [await newAuthority(), await newAuthority()]
  const file = join(directory, 'kubelets.crt')
  writeFileSync(file, authority.certificate)
  kedge = await startKedge(['--ephemeral', '--port', '0', '--kubelet-certificate-authority', file])
  api = new ApiClient(kedge.kubeconfig)
  await podOn('signed', await startKubelet(authority, ['node', '127.0.0.1']))
  await podOn('misnamed', await startKubelet(authority, ['node', '10.0.0.1']))
  await podOn('forged', await startKubelet(other, ['node', '127.0.0.1']))
})

afterAll(async () => {
  api?.close()
  await kedge?.stop()
  for (const server of servers) server.close()
  rmSync(directory, { recursive: true, force: true })
})

function readLog(pod: string): Promise<{ status: number; text: string }> {
  const headers = { Authorization: `Bearer ${api.token}` }
  return new Promise((resolve, reject) => {
    const sent = request(`${kedge.url}${PODS}/${pod}/log`, { headers, rejectUnauthorized: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    sent.on('error', reject).end()
  })
}

test.each([
  ['signed', 200, /^a line\n$/],
  [
    'misnamed',
    500,
    /tls: failed to verify certificate: x509: certificate is valid for .*10\.0\.0\.1, not 127\.0\.0\.1/,
  ],
  ['forged', 500, /tls: failed to verify certificate: x509: certificate signed by unknown authority/],
])('the log of a kubelet whose certificate is %s: %i', async (name, status, text) => {
  const before = asked
  const answer = await readLog(name)
  expect(answer.text).toMatch(text)
  expect(answer.status).toBe(status)
  expect(asked - before).toBe(status === 200 ? 1 : 0)
})
