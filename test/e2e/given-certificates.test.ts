// A server whose certificate, and whose clients' certificates, come from other authorities than the data directory's.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import type { Credential, Leaf } from '../../src/cli/data-directory/certificate.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { LAUNCHER, startKedge } from '../cli/kedge-process.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-given-'))
const data = join(directory, 'data')
const written = (name: string, text: string): string => {
  const file = join(directory, name)
  writeFileSync(file, text)
  return file
}

const now = new Date()
const authority = (commonName: string) => createAuthority({ commonName }, now, 10)
const client = (commonName: string): Leaf => ({
  subject: { commonName, organizations: ['system:masters'] },
  usage: 'client',
  days: 1,
})

let kedge: KedgeProcess
let servers: Credential
let clients: Credential
beforeAll(async () => {
  servers = await authority('servers')
  clients = await authority('clients')
  const leaf: Leaf = { subject: { commonName: 'api' }, usage: 'server', names: ['127.0.0.1'], days: 1 }
  const server = await issue(servers, leaf, now)
  const flags = {
    'tls-cert-file': written('server.crt', server.certificate + servers.certificate),
    'tls-private-key-file': written('server.key', server.key),
    'client-ca-file': written('clients.crt', clients.certificate),
  }
  const given = Object.entries(flags).flatMap(([flag, file]) => [`--${flag}`, file])
  kedge = await startKedge(['--port', '0', '--data-dir', data, ...given])
})
afterAll(() => kedge?.stop())

interface Answered {
  readonly status: number
  readonly body: { readonly data: Readonly<Record<string, string>>; readonly status?: unknown }
}

/** Trusts the authority of the given certificate alone. */
function send(method: string, path: string, credential: Credential, body?: object): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      kedge.url + path,
      {
        method,
        ca: servers.certificate,
        cert: credential.certificate,
        key: credential.key,
        headers: { 'Content-Type': 'application/json' },
        agent: false,
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => (text += part))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Answered['body'] }),
        )
      },
    )
    outgoing.on('error', reject).end(body && JSON.stringify(body))
  })
}

const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const whoAmI = (credential: Credential) =>
  send('POST', REVIEWS, credential, { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })

const own = (): Credential => ({
  certificate: readFileSync(join(data, 'pki', 'ca.crt'), 'utf8'),
  key: readFileSync(join(data, 'pki', 'ca.key'), 'utf8'),
})

test('clients of the given authority and of the own one are known, others are not', async () => {
  for (const signer of [clients, own()]) {
    const { status, body } = await whoAmI(await issue(signer, client('anna'), now))
    expect(status).toBe(201)
    expect(body.status).toMatchObject({
      userInfo: { username: 'anna', groups: ['system:masters', 'system:authenticated'] },
    })
  }
  for (const signer of [servers, await authority('clients')])
    expect((await whoAmI(await issue(signer, client('anna'), now))).status).toBe(401)
})

test('pods learn the authority of the given certificate, extension servers all authorities of clients', async () => {
  const anna = await issue(clients, client('anna'), now)
  const dataOf = async (name: string) =>
    (await send('GET', `/api/v1/namespaces/kube-system/configmaps/${name}`, anna)).body.data
  expect((await dataOf('kube-root-ca.crt'))['ca.crt']).toContain(servers.certificate)
  expect((await dataOf('kube-root-ca.crt'))['ca.crt']).not.toContain(own().certificate)
  const { 'client-ca-file': known } = await dataOf('extension-apiserver-authentication')
  expect(known).toContain(clients.certificate)
  expect(known).toContain(own().certificate)
  expect(known).not.toContain(servers.certificate)
})

test('kubeconfigs and the commands trust the given certificate', async () => {
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, [LAUNCHER, 'kubeconfig', '--user', 'anna', '--data-dir', data])
  for (const text of [readFileSync(kedge.kubeconfig, 'utf8'), stdout]) {
    const [, encoded = ''] = /"certificate-authority-data": "([^"]+)"/.exec(text) ?? []
    expect(Buffer.from(encoded, 'base64').toString()).toContain(servers.certificate)
  }
  const file = join(directory, 'backup')
  await run(process.execPath, [LAUNCHER, 'backup', '-o', file, '--data-dir', data])
  expect(readFileSync(file).length).toBeGreaterThan(0)
})

test('renewed authorities of clients count without a start, and extension servers learn them', async () => {
  const others = await authority('other clients')
  const [anna, berta] = await Promise.all([issue(clients, client('anna'), now), issue(others, client('berta'), now)])
  const status = async (credential: Credential) => (await whoAmI(credential)).status
  expect([await status(anna), await status(berta)]).toEqual([201, 401])

  written('clients.crt', 'no certificate')
  await expect.poll(() => kedge.output()).toContain('KEDGE_CLIENT_CA must be certificates in PEM')
  expect(await status(anna)).toBe(201)

  written('clients.crt', others.certificate)
  await expect.poll(() => status(berta), { timeout: 20_000 }).toBe(201)
  expect(await status(anna)).toBe(401)
  expect(kedge.output()).not.toContain('ended unexpectedly')
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
  const known = async () => (await send('GET', path, berta)).body.data['client-ca-file']
  await expect.poll(known).toContain(others.certificate)
  expect(await known()).not.toContain(clients.certificate)
})

test('a renewed certificate is shown without a start, and one that does not fit is not', async () => {
  const shown = () =>
    new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(kedge.url)
      const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
        resolve(socket.getPeerX509Certificate()?.toString() ?? '')
        socket.destroy()
      })
      socket.on('error', reject)
    })
  const kubeconfigs = () => readFileSync(kedge.kubeconfig, 'utf8')
  const before = await shown()

  written('server.key', clients.key)
  await expect.poll(() => kedge.output()).toContain('--tls-cert-file and --tls-private-key-file')
  expect(await shown()).toBe(before)

  const others = await authority('other servers')
  const leaf: Leaf = { subject: { commonName: 'renewed' }, usage: 'server', names: ['127.0.0.1'], days: 1 }
  const renewed = await issue(others, leaf, now)
  written('server.crt', renewed.certificate + others.certificate)
  written('server.key', renewed.key)
  await expect.poll(shown).toBe(renewed.certificate)
  const [, encoded = ''] = /"certificate-authority-data": "([^"]+)"/.exec(kubeconfigs()) ?? []
  expect(Buffer.from(encoded, 'base64').toString()).toContain(others.certificate)
})

test('a key of another certificate keeps the server from starting', async () => {
  const [certificate, key] = [join(directory, 'server.crt'), written('other.key', clients.key)]
  const flags = ['--tls-cert-file', certificate, '--tls-private-key-file', key]
  await expect(startKedge(['--port', '0', '--ephemeral', ...flags])).rejects.toThrow(
    '--tls-cert-file and --tls-private-key-file cannot be used: ',
  )
})
