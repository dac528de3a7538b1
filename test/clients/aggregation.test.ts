// Kubernetes' sample of an aggregated API server (aggregated/main.go) behind an APIService. kubectl and client
// libraries list, watch and change its flunders.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from '../e2e/api-client.ts'
import { cacheDirectory, findToolchain, run } from './toolchain.ts'

const go = findToolchain(['go', '/usr/local/go/bin/go'], 'version')
/** The first run compiles two servers and their libraries, which takes minutes on a small machine. */
const COMPILE_MS = 1_500_000

const directory = mkdtempSync(join(tmpdir(), 'kedge-aggregated-'))
let kedge: KedgeProcess
let api: ApiClient
let sample: ChildProcess | undefined
let printed = ''

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // the server listens on TCP
  await new Promise((resolve) => server.close(resolve))
  return port
}

beforeAll(async () => {
  if (go === undefined) return
  const program = join(cacheDirectory('aggregated'), 'wardle-server')
  const cwd = join(import.meta.dirname, 'aggregated')
  const env = { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' }
  const { code, output } = await run(go, ['build', '-trimpath', '-o', program, '.'], { cwd, env })
  expect(code, output).toBe(0)
  const port = await freePort()
  kedge = await startKedge(['--ephemeral', '--port', '0', '--services', `wardle/api:443=https://127.0.0.1:${port}`])
  api = new ApiClient(kedge.kubeconfig)
  const kubeconfigs = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig']
  const flags = ['--secure-port', String(port), '--bind-address', '127.0.0.1', '--cert-dir', join(directory, 'certs')]
  sample = spawn(program, [...kubeconfigs.flatMap((name) => [`--${name}`, kedge.kubeconfig]), ...flags], {
    env: { ...process.env, ETCD_DIRECTORY: join(directory, 'etcd') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [sample.stdout!, sample.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
  for (const version of ['v1alpha1', 'v1beta1'])
    await api.send('POST', '/apis/apiregistration.k8s.io/v1/apiservices', {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${version}.wardle.example.com` },
      spec: {
        group: 'wardle.example.com',
        version,
        service: { name: 'api', namespace: 'wardle' },
        insecureSkipTLSVerify: true, // the sample server generates its own certificate
        groupPriorityMinimum: 1000,
        versionPriority: 15,
      },
    })
  const ready = async () => expect((await api.open('GET', FLUNDERS)).resume().statusCode, printed).toBe(200)
  await eventually(ready)
}, COMPILE_MS)

afterAll(async () => {
  api?.close()
  sample?.kill('SIGKILL')
  await kedge?.stop()
  rmSync(directory, { recursive: true, force: true })
})

const FLUNDERS = '/apis/wardle.example.com/v1alpha1/namespaces/default/flunders'
const flunder = (name: string) => ({
  apiVersion: 'wardle.example.com/v1alpha1',
  kind: 'Flunder',
  metadata: { name },
  spec: { reference: 'other', referenceType: 'Flunder' },
})

const title = (what: string): string => (go === undefined ? `${what} (skipped: there is no Go on this machine)` : what)

test.skipIf(go === undefined)(title('flunders are listed, watched and changed, in both versions'), async () => {
  const events = await api.open('GET', `${FLUNDERS}?watch=true`)
  const lines = events.setEncoding('utf8')[Symbol.asyncIterator]()
  const next = async () => {
    const { type, object } = JSON.parse(String((await lines.next()).value)) as { type: string; object: object }
    return { type, object }
  }
  expect((await api.send('POST', FLUNDERS, flunder('a'))).status).toBe(201)
  expect(await next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
  const { body } = await api.send('GET', FLUNDERS)
  expect(body.items).toMatchObject([{ metadata: { name: 'a' }, spec: { reference: 'other' } }])
  const newer = await api.send('GET', `${FLUNDERS.replace('v1alpha1', 'v1beta1')}/a`)
  expect(newer.body).toMatchObject({ spec: { flunderReference: 'other' } })
  expect((await api.send('DELETE', `${FLUNDERS}/a`)).status).toBe(200)
  expect(await next()).toMatchObject({ type: 'DELETED' })
  events.destroy()
})

test.skipIf(go === undefined)(title('its admission is asked'), async () => {
  const fischers = '/apis/wardle.example.com/v1alpha1/fischers'
  const banning = {
    apiVersion: 'wardle.example.com/v1alpha1',
    kind: 'Fischer',
    metadata: { name: 'f' },
    disallowedFlunders: ['banned'],
  }
  expect((await api.send('POST', fischers, banning)).status).toBe(201)
  const refused = async () => {
    const { status } = await api.send('POST', `${FLUNDERS}?dryRun=All`, flunder('banned'))
    expect(status).toBe(403)
  }
  // its informer sees the ban a moment later
  await eventually(refused)
})

test.skipIf(go === undefined)(title('discovery and OpenAPI tell of them'), async () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const response = await fetchText('/apis', accept)
  expect(response).toContain('"resource":"flunders"')
  expect(await fetchText('/openapi/v3', 'application/json')).toContain(
    '/openapi/v3/apis/wardle.example.com/v1beta1?hash=',
  )
  const document = await fetchText('/openapi/v3/apis/wardle.example.com/v1beta1', 'application/json')
  expect(document).toContain('/apis/wardle.example.com/v1beta1/namespaces/{namespace}/flunders/{name}')
  expect(await fetchText('/openapi/v2', 'application/json')).toContain('pkg.apis.wardle.v1beta1.Flunder')
})

async function fetchText(path: string, accept: string): Promise<string> {
  const answer = await api.open('GET', path, undefined, { Accept: accept })
  let text = ''
  for await (const part of answer.setEncoding('utf8')) text += part as string
  return text
}
