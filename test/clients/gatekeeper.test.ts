// Gatekeeper's admission controller with a local server: a template becomes a CustomResourceDefinition, and its
// constraint becomes a policy that is enforced.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadAll } from 'js-yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { ApiClient } from '../e2e/api-client.ts'
import { build, freePort, sourcesOf, whyNot } from './module-program.ts'

const MODULE = 'github.com/open-policy-agent/gatekeeper/v3'
const PROGRAM = { module: 'gatekeeper', package: MODULE }
const reason = whyNot(PROGRAM)
const COMPILE_MS = 1_500_000

const directory = mkdtempSync(join(tmpdir(), 'kedge-gatekeeper-'))
let gatekeeper: ChildProcess | undefined
let printed = ''
let kedge: KedgeProcess
let api: ApiClient

const paths: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
}

beforeAll(async () => {
  if (reason !== undefined) return
  const program = await build(PROGRAM)
  const sources = await sourcesOf('gatekeeper', MODULE)
  kedge = await startKedge()
  api = new ApiClient(kedge.kubeconfig)
  const manifest = loadAll(readFileSync(join(sources, 'deploy/gatekeeper.yaml'), 'utf8')) as { kind: string }[]
  for (const object of manifest) {
    const path = paths[object.kind]
    if (path !== undefined) expect(await api.send('POST', path, object)).toMatchObject({ status: 201 })
  }
  const authority = await createAuthority({ commonName: 'gatekeeper' }, new Date(), 30)
  const leaf = { subject: { commonName: 'webhook' }, usage: 'server', names: ['127.0.0.1'], days: 30 } as const
  const { certificate, key } = await issue(authority, leaf, new Date())
  writeFileSync(join(directory, 'tls.crt'), certificate)
  writeFileSync(join(directory, 'tls.key'), key)
  writeFileSync(join(directory, 'ca.crt'), authority.certificate)
  const [port, health, metrics] = [await freePort(), await freePort(), await freePort()]
  const args = [
    '--operation=webhook',
    '--operation=status',
    '--operation=generate',
    '--debug-use-fake-pod',
    '--disable-cert-rotation',
  ]
  const places = [`--cert-dir=${directory}`, `--port=${port}`, '--host=127.0.0.1', `--health-addr=127.0.0.1:${health}`]
  gatekeeper = spawn(
    program,
    [`--kubeconfig=${kedge.kubeconfig}`, `--prometheus-port=${metrics}`, ...args, ...places],
    {
      env: { ...process.env, POD_NAME: 'none', POD_NAMESPACE: 'gatekeeper-system', NAMESPACE: 'gatekeeper-system' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  for (const stream of [gatekeeper.stdout!, gatekeeper.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const webhook = {
    name: 'validation.gatekeeper.sh',
    clientConfig: {
      url: `https://127.0.0.1:${port}/v1/admit`,
      caBundle: Buffer.from(authority.certificate).toString('base64'),
    },
    rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: ['*'] }],
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Ignore',
  }
  const configuration = { metadata: { name: 'gatekeeper' }, webhooks: [webhook] }
  const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
  expect(await api.send('POST', configurations, configuration)).toMatchObject({ status: 201 })
}, COMPILE_MS)

afterAll(async () => {
  api?.close()
  gatekeeper?.kill('SIGKILL')
  await kedge?.stop()
  rmSync(directory, { recursive: true, force: true })
})

const title = (what: string): string => (reason === undefined ? what : `${what} (skipped: ${reason})`)
const REGO = `package required
violation[{"msg": msg}] {
  missing := {label | label := input.parameters.labels[_]} - {label | input.review.object.metadata.labels[label]}
  count(missing) > 0
  msg := sprintf("missing labels: %v", [missing])
}`

test.skipIf(reason !== undefined)(
  title('what a constraint asks for is enforced, by the words of its template'),
  { timeout: 600_000 },
  async () => {
    const template = {
      apiVersion: 'templates.gatekeeper.sh/v1',
      kind: 'ConstraintTemplate',
      metadata: { name: 'required' },
      spec: {
        crd: {
          spec: {
            names: { kind: 'Required' },
            validation: {
              openAPIV3Schema: { type: 'object', properties: { labels: { type: 'array', items: { type: 'string' } } } },
            },
          },
        },
        targets: [{ target: 'admission.k8s.gatekeeper.sh', rego: REGO }],
      },
    }
    const constraint = {
      apiVersion: 'constraints.gatekeeper.sh/v1beta1',
      kind: 'Required',
      metadata: { name: 'owner' },
      spec: { match: { kinds: [{ apiGroups: [''], kinds: ['ConfigMap'] }] }, parameters: { labels: ['owner'] } },
    }
    const made = (path: string, object: object) => async () => {
      const { status, body } = await api.send('POST', path, object)
      expect(status, `${body.message}\n${printed.slice(-3000)}`).toBe(201)
    }
    await eventually(made('/apis/templates.gatekeeper.sh/v1/constrainttemplates', template))
    await eventually(made('/apis/constraints.gatekeeper.sh/v1beta1/required', constraint))
    const path = '/api/v1/namespaces/default/configmaps?dryRun=All'
    const isEnforced = async () => {
      const { status, body } = await api.send('POST', path, { metadata: { name: 'a' } })
      expect(status, printed.slice(-3000)).toBe(403)
      expect(body.message).toBe(
        'admission webhook "validation.gatekeeper.sh" denied the request: [owner] missing labels: {"owner"}',
      )
    }
    await eventually(isEnforced)
    expect((await api.send('POST', path, { metadata: { name: 'a', labels: { owner: 'me' } } })).status).toBe(201)
  },
)
