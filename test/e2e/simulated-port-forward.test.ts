// What comes through kubectl port-forward, that of other clients, and proxies from a pod on a simulated node.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { KubeConfig, PortForward } from '@kubernetes/client-node'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { findKubectl, findKubectlOrNot } from '../clients/kubectl/kubectl.ts'
import { kubectlServer } from './kubectl-server.ts'

const kubectl = kubectlServer('--nodes', '1')
const manifest = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: {
    containers: [{ name: 'c', image: 'nginx', ports: [{ containerPort: 80 }] }],
  },
}
const TEXT = 'simulated: container c of image nginx runs no process, nothing listens on port 80\n'

let forwarding: ChildProcess | undefined
let said = ''
afterEach(() => forwarding?.kill())

beforeAll(async () => {
  if (findKubectlOrNot().kubectl === undefined) return // and every test is skipped
  await kubectl.run('apply -f -', JSON.stringify(manifest))
  await eventually(() => kubectl.run('wait --for=condition=Ready pod/web --timeout=180s'))
  await kubectl.run('expose pod web --port=80')
  await eventually(async () => expect(await kubectl.run('get endpoints web')).toContain('10.244.'))
})

/** @returns the port on this machine */
async function forward(port: number): Promise<number> {
  said = ''
  forwarding = spawn(findKubectl().path, ['port-forward', 'pod/web', `:${port}`, '--address=127.0.0.1'], {
    env: { ...process.env, KUBECONFIG: kubectl.kubeconfig },
  })
  for (const stream of [forwarding.stdout!, forwarding.stderr!])
    stream.setEncoding('utf8').on('data', (part: string) => (said += part))
  return eventually(() => Number(/Forwarding from 127\.0\.0\.1:(\d+)/.exec(said)![1]))
}

/** All that comes back. */
async function converse(port: number, words: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  if (words !== '') socket.write(words)
  return text(socket)
}

test('HTTP is answered in HTTP, and each time anew', async () => {
  const port = await forward(80)
  for (let time = 0; time < 3; time++) {
    const response = await fetch(`http://127.0.0.1:${port}/some/path`)
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'text/plain; charset=utf-8',
      TEXT,
    ])
  }
  const all = await Promise.all(Array.from({ length: 20 }, () => fetch(`http://127.0.0.1:${port}`)))
  expect(new Set(await Promise.all(all.map((response) => response.text())))).toEqual(new Set([TEXT]))
  const large = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: 'x'.repeat(100_000) })
  expect(await large.text()).toBe(TEXT)
  expect((await fetch(`http://127.0.0.1:${port}`, { method: 'HEAD' })).status).toBe(200)
})

test.each([
  ['says nothing', ''],
  ['speaks something else', 'EHLO there\r\n'],
])('a client that %s is told so', async (_, words) => {
  expect(await converse(await forward(80), words)).toBe(TEXT)
})

test('a port that nobody declares is refused as by a kubelet', async () => {
  const port = 81
  expect(await converse(await forward(port), 'GET / HTTP/1.1\r\n\r\n').catch(() => '')).toBe('')
  await eventually(() =>
    expect(said).toMatch(
      new RegExp(
        `an error occurred forwarding \\d+ -> ${port}: error forwarding port ${port} to pod web, uid [-\\w]+: .*connection refused`,
      ),
    ),
  )
})

test('clients with channels of a WebSocket are answered, too', async () => {
  const config = new KubeConfig()
  config.loadFromFile(kubectl.kubeconfig)
  const [output, errors, input] = [new PassThrough(), new PassThrough(), new PassThrough()]
  let [got, wrong] = ['', '']
  output.setEncoding('utf8').on('data', (part: string) => (got += part))
  errors.setEncoding('utf8').on('data', (part: string) => (wrong += part))
  await new PortForward(config).portForward('default', 'web', [80], output, errors, input)
  input.write('GET / HTTP/1.1\r\n\r\n')
  await eventually(() => expect(got).toContain(TEXT))
  await new PortForward(config).portForward('default', 'web', [81], output, errors, input)
  await eventually(() => expect(wrong).toContain('connection refused'))
})

test('a connection ends with its pod', async () => {
  const short = { ...manifest, metadata: { name: 'short' } }
  await kubectl.run('apply -f -', JSON.stringify(short))
  await eventually(() => kubectl.run('wait --for=condition=Ready pod/short --timeout=180s'))
  const config = new KubeConfig()
  config.loadFromFile(kubectl.kubeconfig)
  const streams = [new PassThrough(), new PassThrough(), new PassThrough()] as const
  const socket = await new PortForward(config).portForward('default', 'short', [80], ...streams)
  if (typeof socket === 'function') throw new Error('no socket')
  const closed = new Promise<void>((resolve) => (socket.onclose = () => resolve()))
  await kubectl.run('delete pod short --now')
  await closed
})

// Its address, 10.244.0.2, may be somebody else's in the network of this machine.
test.each([
  ['a port that a container declares', 'namespaces/default/pods/web/proxy/some/path', TEXT],
  ['the same by number', 'namespaces/default/pods/web:80/proxy/', TEXT],
  ['a Service of it', 'namespaces/default/services/web/proxy/', TEXT],
  [
    'a port that nobody declares',
    'namespaces/default/pods/web:81/proxy/',
    /error trying to reach service: dial tcp 10\.244\.\d+\.\d+:81: connect: connection refused/,
  ],
  [
    'another port of its node',
    'nodes/node-1:81/proxy/',
    /error trying to reach service: dial tcp node-1:81: connect: connection refused/,
  ],
])('a proxy to %s is answered by the simulation', async (_, path, wanted) => {
  const { stdout, stderr } = await kubectl.try(['get', '--raw', `/api/v1/${path}`])
  expect(typeof wanted === 'string' ? stdout : stderr).toMatch(wanted)
})

test('a webhook is not sent to a simulated pod', async () => {
  const webhook = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'simulated' },
    webhooks: [
      {
        name: 'simulated.example.com',
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
        clientConfig: { service: { name: 'web', namespace: 'default', port: 80 } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  }
  await kubectl.run('apply -f -', JSON.stringify(webhook))
  await eventually(async () =>
    expect((await kubectl.try(['create', 'configmap', 'x', '--dry-run=server'])).stderr).toMatch(
      /failed calling webhook "simulated\.example\.com": .*dial tcp 10\.244\.\d+\.\d+:80: connect: connection refused/,
    ),
  )
  await kubectl.run('delete validatingwebhookconfiguration simulated')
})
