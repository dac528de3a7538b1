// Aggregated APIs: a test metrics server behind a local server, seen by kubectl and by other clients.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { request } from 'node:https'
import { gzipSync } from 'node:zlib'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import { openPki } from '../../src/cli/data-directory/pki.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'
import type { MetricsServer } from './metrics-server.ts'
import { startMetricsServer } from './metrics-server.ts'
import { Session, skipWithoutKubectl } from './session.ts'

const subject = { commonName: 'metrics' }
const authority = await createAuthority(subject, new Date(), 30)
const names = ['metrics.kube-system.svc', 'outside.default.svc']
const own = await issue(authority, { subject, usage: 'server', names, days: 30 }, new Date())
const caBundle = Buffer.from(authority.certificate).toString('base64')

const directory = mkdtempSync(join(tmpdir(), 'kedge-aggregation-'))
let metrics: MetricsServer
let kedge: KedgeProcess
let api: ApiClient

const APISERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
const apiService = (group: string, version: string, service: object, more: object = { caBundle }) => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: `${version}.${group}` },
  spec: { group, version, service, groupPriorityMinimum: 100, versionPriority: 100, ...more },
})

async function availability(name: string): Promise<{ status?: string; reason?: string; message?: string }> {
  const { body } = await api.send('GET', `${APISERVICES}/${name}`)
  const { status } = body as { status?: { conditions?: { status: string; reason: string; message: string }[] } }
  return status?.conditions?.[0] ?? {}
}

const becomes = (name: string, reason: string) =>
  eventually(async () => expect(await availability(name)).toMatchObject({ reason }))

beforeAll(async () => {
  const { frontProxyAuthority } = await openPki(join(directory, 'pki'), [], new Date())
  metrics = await startMetricsServer(own, frontProxyAuthority.certificate)
  kedge = await startKedge([
    '--data-dir',
    directory,
    '--port',
    '0',
    '--services',
    `kube-system/metrics:443=https://127.0.0.1:${metrics.port}`,
  ])
  api = new ApiClient(kedge.kubeconfig)
  const service = { name: 'metrics', namespace: 'kube-system' }
  const { status } = await api.send('POST', APISERVICES, apiService('metrics.k8s.io', 'v1beta1', service))
  expect(status).toBe(201)
  await becomes('v1beta1.metrics.k8s.io', 'Passed')
  const granted = await api.send('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'developers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'developers' }],
  })
  expect(granted.status).toBe(201)
  // Requests see the new version and its condition a moment later.
  const ready = async () => expect((await api.send('GET', '/apis/metrics.k8s.io/v1beta1/nodes')).status).toBe(200)
  await eventually(ready)
})

afterAll(async () => {
  api?.close()
  await kedge?.stop()
  metrics?.stop()
  rmSync(directory, { recursive: true, force: true })
})

const VERSION = '/apis/metrics.k8s.io/v1beta1'
const last = () => metrics.seen.at(-1)!

const JANE = { 'Impersonate-User': 'jane', 'Impersonate-Uid': 'u-1', 'Impersonate-Group': 'developers' }

/** Sends a request with further headers. */
function send(method: string, path: string, headers: Record<string, string> = {}, body?: string) {
  return new Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>((resolve, reject) => {
    const all = { Authorization: `Bearer ${api.token}`, ...headers }
    const outgoing = request(kedge.url + path, { method, headers: all, rejectUnauthorized: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }))
    })
    outgoing.on('error', reject).end(body)
  })
}

describe('kubectl top', () => {
  beforeAll(async () => {
    for (const name of ['worker-1', 'worker-2'])
      await api.send('POST', '/api/v1/nodes', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name },
        status: { allocatable: { cpu: '4', memory: '8Gi' } },
      })
  })

  test.each([
    ['top nodes', /^NAME +CPU\(cores\).*\nworker-1 +250m .*512Mi .*\nworker-2 /],
    ['top pods', /^NAME +CPU\(cores\).*\nweb +250m +512Mi/],
  ])('%s', async (line, expected) => {
    const kubectl = new Session(kedge.kubeconfig)
    // while kubectl is built, a check of the server's availability may time out
    await eventually(async () => expect(await kubectl.run(line)).toMatch(expected))
    kubectl.close()
  })
  beforeEach(skipWithoutKubectl)
})

describe('the aggregated server', () => {
  test('gets the user from the front proxy, and no identity headers of the client', async () => {
    const { status } = await send('GET', `${VERSION}/nodes?limit=1`, {
      'X-Remote-User': 'system:admin',
      X_Remote_Group: 'system:masters',
      'X-Remote-Extra-A': 'b',
      ...JANE,
      'Impersonate-Extra-Scopes%2fall': 'view',
      'X-Custom': 'kept',
    })
    expect(status).toBe(200)
    const { target, proxy, headers } = last()
    expect({ target, proxy }).toEqual({ target: `${VERSION}/nodes?limit=1`, proxy: 'front-proxy-client' })
    const about = Object.entries(headers).filter(([name]) => /remote|impersonate|authorization|custom/.test(name))
    expect(Object.fromEntries(about)).toEqual({
      'x-custom': ['kept'],
      'x-remote-user': ['jane'],
      'x-remote-uid': ['u-1'],
      'x-remote-group': ['developers', 'system:authenticated'],
      'x-remote-extra-scopes%2fall': ['view'],
    })
  })

  test('gets the body, and the client gets its status, headers and body unchanged', async () => {
    metrics.special.set(`${VERSION}/echo`, (_request, response) => {
      response.writeHead(418, { 'X-Kettle': ['short', 'stout'], 'Content-Encoding': 'gzip' })
      response.end(gzipSync(last().body))
    })
    const answer = await send('PUT', `${VERSION}/echo`, { 'Accept-Encoding': 'gzip' }, 'tea '.repeat(50_000))
    expect(answer).toMatchObject({ status: 418, headers: { 'x-kettle': 'short, stout', 'content-encoding': 'gzip' } })
    expect(last().body).toHaveLength(200_000)
  })

  test('streams: the client gets each part before the next one is written', async () => {
    let more = (): void => {}
    metrics.special.set(`${VERSION}/pods`, (_request, response) => {
      response.write('{"type":"ADDED"}\n')
      more = () => void response.end('{"type":"DELETED"}\n')
    })
    const events = await api.open('GET', `${VERSION}/pods?watch=true`)
    const lines = events.setEncoding('utf8')[Symbol.asyncIterator]()
    expect((await lines.next()).value).toBe('{"type":"ADDED"}\n')
    more()
    expect((await lines.next()).value).toBe('{"type":"DELETED"}\n')
    expect((await lines.next()).done).toBe(true)
  })

  test.each(['websocket', 'SPDY/3.1'])('speaks %s with the client', async (protocol) => {
    const { hostname, port } = new URL(kedge.url)
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
    const head = [
      `GET ${VERSION}/namespaces/default/pods/web/exec?command=ls HTTP/1.1`,
      `Host: ${hostname}`,
      `Authorization: Bearer ${api.token}`,
      'Connection: Upgrade',
      `Upgrade: ${protocol}`,
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version: 13',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    expect(await readUntil(socket, 'hello ')).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
    socket.write('world')
    expect(await readUntil(socket, 'world')).toBe('world')
    expect(last().headers['upgrade']).toEqual([protocol])
    socket.destroy()
  })

  test('cannot redirect a client to another host', async () => {
    metrics.special.set(`${VERSION}/away`, (_request, response) =>
      response.writeHead(302, { Location: 'https://example.com/' }).end(),
    )
    const { status, headers, text } = await send('GET', `${VERSION}/away`)
    expect({ status, location: headers.location, text }).toEqual({
      status: 502,
      location: undefined,
      text: 'the backend attempted to redirect this request, which is not permitted',
    })
  })

  test('that closes a connection causes "error trying to reach service"', async () => {
    metrics.special.set(`${VERSION}/broken`, (request) => request.socket.destroy())
    const { status, headers, text } = await send('GET', `${VERSION}/broken`)
    expect({ status, type: headers['content-type'] }).toEqual({ status: 503, type: 'text/plain; charset=utf-8' })
    expect(text).toBe('error trying to reach service: EOF\n')
  })

  test('that does not answer delays no other request: requests that wait for it hold no seat', async () => {
    const held: ServerResponse[] = []
    metrics.special.set(`${VERSION}/slow`, (_request, response) => void held.push(response))
    // These are more requests than the priority level of ordinary users has seats.
    const waiting = Array.from({ length: 120 }, () => send('GET', `${VERSION}/slow`, JANE))
    await eventually(() => expect(held).toHaveLength(120))
    expect((await send('GET', '/api/v1/namespaces/default', JANE)).status).toBe(200)
    for (const response of held) response.end('{}')
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200)
  })
})

describe('an APIService whose', () => {
  const service = (name: string, port = 443) => ({ name, namespace: 'default', port })
  const create = (kind: string, path: string, metadata: object, more: object) =>
    api.send('POST', path, { kind, metadata, ...more })

  test('Service is not there, or has no endpoints, is not available and says why', async () => {
    await api.send('POST', APISERVICES, apiService('a.example.com', 'v1', service('absent')))
    await becomes('v1.a.example.com', 'ServiceNotFound')
    expect(await send('GET', '/apis/a.example.com/v1/things')).toMatchObject({
      status: 503,
      text: 'service unavailable\n',
    })
    await create(
      'Service',
      '/api/v1/namespaces/default/services',
      { name: 'absent' },
      { apiVersion: 'v1', spec: { ports: [{ port: 443 }] } },
    )
    await becomes('v1.a.example.com', 'EndpointsNotFound')
  })

  test('Service has the type ExternalName is reached at that name', async () => {
    const spec = { type: 'ExternalName', externalName: 'localhost' }
    await create('Service', '/api/v1/namespaces/default/services', { name: 'outside' }, { apiVersion: 'v1', spec })
    metrics.special.set('/apis/b.example.com/v1', (_request, response) => response.end('{"resources":[]}'))
    await api.send('POST', APISERVICES, apiService('b.example.com', 'v1', service('outside', metrics.port)))
    await becomes('v1.b.example.com', 'Passed')
  })

  test('server has a certificate of another CA is not available', async () => {
    const stranger = Buffer.from((await createAuthority(subject, new Date(), 1)).certificate).toString('base64')
    await api.send(
      'POST',
      APISERVICES,
      apiService('c.example.com', 'v1', { name: 'metrics', namespace: 'kube-system' }, { caBundle: stranger }),
    )
    await becomes('v1.c.example.com', 'FailedDiscoveryCheck')
    const url = `https://127.0.0.1:${metrics.port}/apis/c.example.com/v1`
    const why = 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
    expect(await availability('v1.c.example.com')).toMatchObject({
      status: 'False',
      message: `failing or missing response from ${url}: Get "${url}": ${why}`,
    })
  })
})

/** Reads until `end` arrives. */
function readUntil(socket: TLSSocket, end: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const read = (data: Buffer): void => {
      text += data.toString('latin1')
      if (!text.endsWith(end)) return
      socket.off('data', read)
      resolve(text)
    }
    socket.on('data', read)
    socket.once('close', () => reject(new Error(`closed after ${text}`)))
  })
}
