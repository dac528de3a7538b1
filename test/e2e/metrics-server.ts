// A test metrics server: it serves to a front proxy, over TLS, the part of metrics.k8s.io that `kubectl top` reads.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { Credential } from '../../src/cli/data-directory/certificate.ts'

export interface Seen {
  readonly target: string
  readonly method: string
  readonly headers: IncomingMessage['headersDistinct']
  /** commonName of the client's certificate; undefined unless the front proxies' CA signed it. */
  readonly proxy: string | undefined
  readonly body: string
}

export interface MetricsServer {
  readonly port: number
  readonly seen: Seen[]
  /** Handlers by path, which replace its own. */
  readonly special: Map<string, (request: IncomingMessage, response: ServerResponse) => void>
  stop(): void
}

const VERSION = 'metrics.k8s.io/v1beta1'
const usage = { cpu: '250m', memory: '512Mi' }
const meta = (name: string, namespace?: string) => ({ name, namespace, creationTimestamp: null })
const node = (name: string) => ({ metadata: meta(name), timestamp: '2026-01-01T00:00:00Z', window: '30s', usage })
const pod = (name: string) => ({
  metadata: meta(name, 'default'),
  timestamp: '2026-01-01T00:00:00Z',
  window: '30s',
  containers: [{ name: 'main', usage }],
})

const resource = (name: string, kind: string, namespaced: boolean) => ({
  name,
  singularName: '',
  namespaced,
  kind,
  verbs: ['get', 'list'],
})

const documents: Readonly<Record<string, object>> = {
  [`/apis/${VERSION}`]: {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: VERSION,
    resources: [resource('nodes', 'NodeMetrics', false), resource('pods', 'PodMetrics', true)],
  },
  [`/apis/${VERSION}/nodes`]: {
    kind: 'NodeMetricsList',
    apiVersion: VERSION,
    metadata: {},
    items: [node('worker-1'), node('worker-2')],
  },
  [`/apis/${VERSION}/namespaces/default/pods`]: {
    kind: 'PodMetricsList',
    apiVersion: VERSION,
    metadata: {},
    items: [pod('web')],
  },
}

/** @param clientAuthority PEM of the front proxies' CA: clients with its certificates may name a user */
export async function startMetricsServer(own: Credential, clientAuthority: string): Promise<MetricsServer> {
  const seen: Seen[] = []
  const special: MetricsServer['special'] = new Map()
  const server = createServer(
    { key: own.key, cert: own.certificate, ca: clientAuthority, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      let body = ''
      // The server speaks TLS.
      const socket = request.socket as TLSSocket
      const proxy = socket.authorized ? String(socket.getPeerCertificate().subject.CN) : undefined
      request.setEncoding('utf8').on('data', (text: string) => (body += text))
      request.on('end', () => {
        const [path = ''] = (request.url ?? '').split('?')
        seen.push({
          target: request.url ?? '',
          method: request.method ?? '',
          headers: request.headersDistinct,
          proxy,
          body,
        })
        const own = special.get(path)
        if (own !== undefined) return own(request, response)
        const document = Object.hasOwn(documents, path) ? documents[path] : undefined
        if (proxy === undefined) response.writeHead(401).end()
        else if (document === undefined) response.writeHead(404).end()
        else response.setHeader('content-type', 'application/json').end(JSON.stringify(document))
      })
    },
  )
  // It echoes everything in the requested protocol.
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    seen.push({
      target: request.url ?? '',
      method: 'UPGRADE',
      headers: request.headersDistinct,
      proxy: undefined,
      body: '',
    })
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\nhello `,
    )
    socket.on('error', () => {}).pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    // of a server that listens on TCP
    port: (server.address() as AddressInfo).port,
    seen,
    special,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}
