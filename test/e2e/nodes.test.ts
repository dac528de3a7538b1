// A test kubelet and a pod's server: logs, streams and proxies through a local API server.
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createServer as createHttpServer } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issue } from '../../src/cli/data-directory/certificate.ts'
import { openPki } from '../../src/cli/data-directory/pki.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'
import { OPCODES, framesOf, shakeHands } from './raw-socket.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-nodes-'))
const asked: { target: string; client: string | undefined; headers: IncomingMessage['headers'] }[] = []
/** An address of this machine that is not loopback: a proxy connects to no loopback address. */
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address

const servers: Server[] = []
let kedge: KedgeProcess
let api: ApiClient
let kubeletPort: number
let podPort: number

async function listening(server: Server, host: string): Promise<number> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return (server.address() as AddressInfo).port // of a server that listens on TCP
}

async function startKubelet(): Promise<number> {
  const { authority } = await openPki(join(directory, 'pki'), [], new Date())
  const { key, certificate } = await issue(
    authority,
    { subject: { commonName: 'node' }, usage: 'server', names: ['node'], days: 1 },
    new Date(),
  )
  const kubelet = createServer({ key, cert: certificate, ca: authority.certificate, requestCert: true })
  const note = ({ url: target = '', headers, socket }: IncomingMessage): void => {
    const { subject } = (socket as TLSSocket).getPeerCertificate() // its server speaks TLS
    asked.push({ target, client: subject === undefined ? undefined : String(subject.CN), headers })
  }
  kubelet.on('request', (message, response) => {
    note(message)
    if (message.url?.includes('/missing/')) response.writeHead(404).end('no such pod')
    else response.end('line 1\nline 2\n')
  })
  kubelet.on('upgrade', (message: IncomingMessage, socket: Duplex) => {
    note(message)
    if (message.url?.includes('/missing/'))
      return void socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 12\r\nConnection: close\r\n\r\nno such pod\n')
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nready `)
    socket.on('error', () => {}).pipe(socket)
  })
  return listening(kubelet, '127.0.0.1')
}

const startPod = (): Promise<number> => {
  const server = createHttpServer((message, response) => {
    if (message.url === '/away') response.writeHead(302, { Location: '/login?next=%2Faway' }).end()
    else response.end(JSON.stringify({ method: message.method, target: message.url, headers: message.headers }))
  })
  return listening(server, outside ?? '127.0.0.1')
}

const create = async (path: string, object: object): Promise<void> => {
  const { status, body } = await api.send('POST', path, object)
  if (status !== 201) throw new Error(JSON.stringify(body))
}
const PODS = '/api/v1/namespaces/default/pods'

async function createPod(name: string, nodeName: string, podIP?: string): Promise<void> {
  const spec = { nodeName, containers: [{ name: 'main', image: 'i', ports: [{ containerPort: podPort }] }] }
  await create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec })
  if (podIP === undefined) return
  const { body } = await api.send('GET', `${PODS}/${name}`)
  const { status } = await api.send('PUT', `${PODS}/${name}/status`, {
    ...body,
    status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }] },
  })
  expect(status).toBe(200)
}

const createNode = (name: string, address: string, port: number) =>
  create('/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: {
      addresses: [{ type: 'InternalIP', address }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    },
  })

beforeAll(async () => {
  kubeletPort = await startKubelet()
  podPort = await startPod()
  kedge = await startKedge(['--data-dir', directory, '--port', '0'])
  api = new ApiClient(kedge.kubeconfig)
  await createNode('here', '127.0.0.1', kubeletPort)
  // The port of a closed server is free.
  const gone = createHttpServer()
  const nobody = await listening(gone, '127.0.0.1')
  await new Promise((resolve) => gone.close(resolve))
  await createNode('gone', '127.0.0.1', nobody)
  await createPod('web', 'here', outside)
  await createPod('missing', 'here')
  await createPod('lost', 'gone', '127.0.0.1')
})

afterAll(async () => {
  api?.close()
  await kedge?.stop()
  for (const server of servers) server.close()
  rmSync(directory, { recursive: true, force: true })
})

function get(path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: IncomingMessage['headers']; text: string }>((resolve, reject) => {
    const all = { Authorization: `Bearer ${api.token}`, ...headers }
    const outgoing = request(kedge.url + path, { headers: all, rejectUnauthorized: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }))
    })
    outgoing.on('error', reject).end()
  })
}

const message = ({ text }: { text: string }): string => (JSON.parse(text) as { message: string }).message

describe('the log of a pod', () => {
  test('comes from its kubelet', async () => {
    const answer = await get(`${PODS}/web/log?tailLines=2&follow=true&timestamps=false`)
    expect(answer).toMatchObject({ status: 200, text: 'line 1\nline 2\n', headers: { 'content-type': 'text/plain' } })
    expect(asked.at(-1)).toMatchObject({
      target: '/containerLogs/default/web/main?follow=true&tailLines=2',
      client: 'kube-apiserver-kubelet-client',
    })
  })

  test('is refused with the error of kube-apiserver if the kubelet has none, or is not there', async () => {
    const missing = await get(`${PODS}/missing/log`)
    expect({ status: missing.status, message: message(missing) }).toEqual({
      status: 404,
      message: 'the server could not find the requested resource ( pods/log missing)',
    })
    const lost = await get(`${PODS}/lost/log`)
    expect(lost.status).toBe(500)
    expect(message(lost)).toMatch(
      /^Get "https:\/\/127\.0\.0\.1:(\d+)\/containerLogs\/default\/lost\/main": dial tcp 127\.0\.0\.1:\1: connect: connection refused$/,
    )
  })
})

describe('a stream', () => {
  test.each([
    [
      'exec?command=sh&command=-c+ls&stdin=true&stdout=true',
      '/exec/default/web/main?command=sh&command=-c+ls&input=1&output=1',
    ],
    ['attach?stdout=true&tty=true', '/attach/default/web/main?output=1&tty=1'],
    ['portforward?ports=80', '/portForward/default/web?port=80'],
  ])('%s goes through', async (path, target) => {
    const { hostname, port } = new URL(kedge.url)
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
    const head = [
      `POST ${PODS}/web/${path} HTTP/1.1`,
      `Host: ${hostname}`,
      `Authorization: Bearer ${api.token}`,
      'Connection: Upgrade',
      'Upgrade: SPDY/3.1',
      'X-Stream-Protocol-Version: v4.channel.k8s.io',
      'Content-Length: 0',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    expect(await readUntil(socket, 'ready ')).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
    socket.write('ls')
    expect(await readUntil(socket, 'ls')).toBe('ls')
    socket.destroy()
    const { headers, ...last } = asked.at(-1)!
    expect(last).toEqual({ target, client: 'kube-apiserver-kubelet-client' })
    expect(headers).toMatchObject({ 'x-stream-protocol-version': 'v4.channel.k8s.io', upgrade: 'SPDY/3.1' })
    expect(headers.authorization).toBeUndefined()
  })

  test('needs an upgrade, and a node that is there', async () => {
    expect(message(await get(`${PODS}/web/exec?command=ls`))).toBe('Upgrade request required')
    const upgrade = { Connection: 'Upgrade', Upgrade: 'SPDY/3.1' }
    expect(message(await get(`${PODS}/lost/exec?command=ls`, upgrade))).toMatch(
      /^error dialing backend: dial tcp 127\.0\.0\.1:\d+: connect: connection refused$/,
    )
  })
})

// kube-apiserver agrees to the WebSocket before it asks the kubelet
describe('a WebSocket that is translated into SPDY', () => {
  async function heard(path: string) {
    const shaken = await shakeHands(`${kedge.url}${PODS}/${path}`, api.token, {
      'Sec-WebSocket-Protocol': 'v5.channel.k8s.io',
    })
    expect(shaken).toMatchObject({ status: 101, headers: { 'sec-websocket-protocol': 'v5.channel.k8s.io' } })
    const messages: [channel: number, text: string][] = []
    for await (const { opcode, payload } of framesOf(shaken)) {
      if (opcode === OPCODES.close) break
      messages.push([payload[0]!, payload.subarray(1).toString()])
    }
    shaken.socket!.destroy()
    return messages
  }

  test.each<[path: string, first: number, why: RegExp]>([
    [
      'lost/exec?command=ls&stdout=true',
      1,
      /^error sending request: Post "https:\/\/127\.0\.0\.1:(\d+)\/exec\/default\/lost\/main\?command=ls&output=1": dial tcp 127\.0\.0\.1:\1: connect: connection refused$/,
    ],
    ['lost/attach?stderr=true', 2, /^error sending request: Post ".*": dial tcp .*: connect: connection refused$/],
    ['missing/exec?command=ls&stdin=true', 3, /^unable to upgrade connection: no such pod$/],
  ])('tells of %s in the channel of errors', async (path, first, why) => {
    const [established, [channel, text] = [], ...others] = await heard(path)
    expect([established, channel, others]).toEqual([[first, ''], 3, []])
    const status = JSON.parse(text ?? '') as { message: string; details: { causes: { message: string }[] } }
    expect(status).toMatchObject({ metadata: {}, status: 'Failure', reason: 'InternalError', code: 500 })
    const [{ message: cause } = { message: '' }] = status.details.causes
    expect(cause).toMatch(why)
    expect(status.message).toBe(`Internal error occurred: ${cause}`)
  })
})

describe('a proxy', () => {
  test.skipIf(outside === undefined)('to a pod passes a request on, without credentials', async () => {
    const { status, text } = await get(`${PODS}/web/proxy/a%20b/?q=1`, { 'X-Custom': 'kept' })
    const seen = JSON.parse(text) as { method: string; target: string; headers: Record<string, string> }
    expect({ status, method: seen.method, target: seen.target }).toEqual({
      status: 200,
      method: 'GET',
      target: '/a%20b/?q=1',
    })
    expect(seen.headers).toMatchObject({ 'x-custom': 'kept', 'x-forwarded-uri': `${PODS}/web/proxy/a%20b/` })
    expect(seen.headers['authorization']).toBeUndefined()
    expect(seen.headers['x-forwarded-for']).toBe('127.0.0.1')
  })

  test.skipIf(outside === undefined)('rewrites redirects to paths below itself', async () => {
    expect((await get(`${PODS}/web/proxy`)).headers.location).toBe(`${PODS}/web/proxy/`)
    expect((await get(`${PODS}/web/proxy/away`)).headers.location).toBe(`${PODS}/web/proxy/login?next=%2Faway`)
  })

  test.skipIf(outside === undefined)('to a Service goes to an endpoint that is a pod’s', async () => {
    const services = '/api/v1/namespaces/default/services'
    const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
    const slice = (service: string, targetRef?: object) =>
      create(slices, {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: service, labels: { 'kubernetes.io/service-name': service } },
        addressType: 'IPv4',
        ports: [{ name: 'http', port: podPort }],
        endpoints: [{ addresses: [outside], ...(targetRef === undefined ? {} : { targetRef }) }],
      })
    for (const name of ['web', 'other'])
      await create(services, {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name },
        spec: { ports: [{ name: 'http', port: 80 }] },
      })
    await slice('web', { kind: 'Pod', namespace: 'default', name: 'web' })
    await slice('other')
    for (const service of ['web:80', 'web:http', 'http:web:http'])
      expect(await get(`${services}/${service}/proxy/x`)).toMatchObject({ status: 200 })
    expect(message(await get(`${services}/other:80/proxy/x`))).toBe('no endpoints available for service "other:80"')
    expect(message(await get(`${services}/web:81/proxy/x`))).toBe('no service port 81 found for service "web"')
  })

  test('connects to no loopback address', async () => {
    for (const path of [`${PODS}/lost/proxy/`, '/api/v1/nodes/here/proxy/', `/api/v1/nodes/here:${podPort}/proxy/`]) {
      const answer = await get(path)
      expect({ status: answer.status, message: message(answer) }).toEqual({
        status: 400,
        message: 'address not allowed',
      })
    }
  })

  test('takes nothing but a number for a port', async () => {
    const answer = await get(`${PODS}/${outside === undefined ? 'lost' : 'web'}:80@example.com/proxy/`)
    expect(answer.status).toBeGreaterThanOrEqual(400)
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
