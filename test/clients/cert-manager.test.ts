// cert-manager's webhook and controllers (cert-manager/main.go) with a local server: the webhook refuses a bad
// Certificate, the controllers issue a good one, and the webhook writes the requester into a CertificateRequest.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { ApiClient } from '../e2e/api-client.ts'
import { build, freePort, sourcesOf, whyNot } from './module-program.ts'

const PROGRAM = { module: 'cert-manager', package: '.' }
const reason = whyNot(PROGRAM)
const COMPILE_MS = 1_500_000
const DEFINITIONS = ['certificaterequests', 'certificates', 'clusterissuers', 'issuers'].map(
  (name) => `cert-manager.io_${name}`,
)

const directory = mkdtempSync(join(tmpdir(), 'kedge-cert-manager-'))
const processes: ChildProcess[] = []
let printed = ''
let kedge: KedgeProcess
let api: ApiClient

function start(program: string, ...args: string[]): void {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
  processes.push(child)
}

beforeAll(async () => {
  if (reason !== undefined) return
  const program = await build(PROGRAM)
  const sources = await sourcesOf('cert-manager', 'github.com/cert-manager/cert-manager')
  kedge = await startKedge()
  api = new ApiClient(kedge.kubeconfig)
  for (const name of DEFINITIONS) {
    const definition = load(readFileSync(join(sources, 'deploy/crds', `${name}.yaml`), 'utf8'))
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    expect(await api.send('POST', path, definition)).toMatchObject({ status: 201 })
  }
  const authority = await createAuthority({ commonName: 'cert-manager' }, new Date(), 30)
  const leaf = { subject: { commonName: 'webhook' }, usage: 'server', names: ['127.0.0.1'], days: 30 } as const
  const { certificate, key } = await issue(authority, leaf, new Date())
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  const [port, health] = [await freePort(), await freePort()]
  const tls = ['--tls-cert-file', file('tls.crt', certificate), '--tls-private-key-file', file('tls.key', key)]
  const ports = ['--secure-port', `${port}`, '--healthz-port', `${health}`, '--metrics-listen-address', '0']
  start(program, 'webhook', '--kubeconfig', kedge.kubeconfig, ...tls, ...ports)
  start(program, 'controller', '--kubeconfig', kedge.kubeconfig)
  const webhook = (path: string, resources: string[], operations: string[]) => ({
    name: 'webhook.cert-manager.io',
    clientConfig: {
      url: `https://127.0.0.1:${port}/${path}`,
      caBundle: Buffer.from(authority.certificate).toString('base64'),
    },
    rules: [{ apiGroups: ['cert-manager.io'], apiVersions: ['v1'], operations, resources }],
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
  })
  for (const [type, ...args] of [
    ['validating', 'validate', ['*/*'], ['CREATE', 'UPDATE']],
    ['mutating', 'mutate', ['certificaterequests'], ['CREATE']],
  ] as const) {
    const path = `/apis/admissionregistration.k8s.io/v1/${type}webhookconfigurations`
    const [of, resources, operations] = args
    const webhooks = [webhook(of, [...resources], [...operations])]
    expect(await api.send('POST', path, { metadata: { name: 'cert-manager' }, webhooks })).toMatchObject({
      status: 201,
    })
  }
  const issuer = {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Issuer',
    metadata: { name: 'own' },
    spec: { selfSigned: {} },
  }
  const isUp = async () => expect((await api.send('POST', `${GROUP}/issuers`, issuer)).status, printed).toBe(201)
  await eventually(isUp)
}, COMPILE_MS)

afterAll(async () => {
  api?.close()
  for (const child of processes) child.kill('SIGKILL')
  await kedge?.stop()
  rmSync(directory, { recursive: true, force: true })
})

const GROUP = '/apis/cert-manager.io/v1/namespaces/default'
const certificate = (name: string, spec: object) => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { name },
  spec: { secretName: name, issuerRef: { name: 'own' }, ...spec },
})
const title = (what: string): string => (reason === undefined ? what : `${what} (skipped: ${reason})`)

test.skipIf(reason !== undefined)(title('a Certificate without a name to certify is refused'), async () => {
  const { status, body } = await api.send('POST', `${GROUP}/certificates`, certificate('bad', {}))
  expect(status, printed).toBe(403)
  expect(body.message).toContain('admission webhook "webhook.cert-manager.io" denied the request: spec: Invalid value')
})

test.skipIf(reason !== undefined)(title('a good one is issued, and its request says who made it'), async () => {
  expect((await api.send('POST', `${GROUP}/certificates`, certificate('good', { dnsNames: ['a.test'] }))).status).toBe(
    201,
  )
  const isReady = async () => {
    const { body } = await api.send('GET', `${GROUP}/certificates/good`)
    expect(body, printed).toMatchObject({ status: { conditions: [{ type: 'Ready', status: 'True' }] } })
  }
  await eventually(isReady)
  const { body: secret } = await api.send('GET', '/api/v1/namespaces/default/secrets/good')
  expect(Buffer.from(secret.data?.['tls.crt'] ?? '', 'base64').toString()).toContain('BEGIN CERTIFICATE')
  const { body: requests } = await api.send('GET', `${GROUP}/certificaterequests`)
  // the webhook set these fields from the AdmissionReview's userInfo
  expect(requests.items).toMatchObject([{ spec: { username: 'kubernetes-admin', issuerRef: { name: 'own' } } }])
})

test.skipIf(reason !== undefined)(title('what it asks for cannot be changed'), async () => {
  const { body } = await api.send('GET', `${GROUP}/certificaterequests`)
  const [request] = body.items ?? []
  const changed = { ...request, spec: { ...(request as unknown as { spec: object }).spec, isCA: true } }
  const { status } = await api.send('PUT', `${GROUP}/certificaterequests/${request?.metadata.name}`, changed)
  expect(status).toBe(403)
})
