// Kyverno's admission controller with a local server: it writes its own webhook configurations, and these webhooks
// validate and mutate objects as a policy says.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadAll } from 'js-yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { ApiClient } from '../e2e/api-client.ts'
import { build, freePort, sourcesOf, whyNot } from './module-program.ts'

const MODULE = 'github.com/kyverno/kyverno'
const PROGRAM = { module: 'kyverno', package: `${MODULE}/cmd/kyverno` }
const reason = whyNot(PROGRAM)
const COMPILE_MS = 1_500_000

let kyverno: ChildProcess | undefined
let printed = ''
let kedge: KedgeProcess
let api: ApiClient

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly namespace?: string }
}

const RESOURCES: Readonly<Record<string, string>> = {
  Namespace: 'namespaces',
  CustomResourceDefinition: 'customresourcedefinitions',
  ConfigMap: 'configmaps',
  Deployment: 'deployments',
  Service: 'services',
  ServiceAccount: 'serviceaccounts',
}

function pathOf({ apiVersion, kind, metadata: { namespace } }: Manifest): string | undefined {
  const resource = RESOURCES[kind]
  if (resource === undefined) return undefined
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  return namespace === undefined ? `${root}/${resource}` : `${root}/namespaces/${namespace}/${resource}`
}

beforeAll(async () => {
  if (reason !== undefined) return
  const program = await build(PROGRAM)
  const sources = await sourcesOf('kyverno', MODULE)
  kedge = await startKedge()
  api = new ApiClient(kedge.kubeconfig)
  const manifest = loadAll(readFileSync(join(sources, 'config/install-latest-testing.yaml'), 'utf8')) as Manifest[]
  for (const object of manifest) {
    const path = pathOf(object)
    if (path !== undefined) expect(await api.send('POST', path, object)).toMatchObject({ status: 201 })
  }
  const [port, metrics] = [await freePort(), await freePort()]
  kyverno = spawn(
    program,
    [
      `--kubeconfig=${kedge.kubeconfig}`,
      `--serverIP=127.0.0.1:${port}`,
      '--webhookServerHost=127.0.0.1',
      `--webhookServerPort=${port}`,
      '--metricsHost=127.0.0.1',
      `--metricsPort=${metrics}`,
      '--controllerRuntimeMetricsAddress=0',
      '--caSecretName=kyverno-svc.kyverno.svc.kyverno-tls-ca',
      '--tlsSecretName=kyverno-svc.kyverno.svc.kyverno-tls-pair',
      '--tlsKeyAlgorithm=ECDSA',
      '--loggingFormat=text',
    ],
    {
      env: {
        ...process.env,
        INIT_CONFIG: 'kyverno',
        METRICS_CONFIG: 'kyverno-metrics',
        KYVERNO_NAMESPACE: 'kyverno',
        KYVERNO_DEPLOYMENT: 'kyverno-admission-controller',
        KYVERNO_SERVICEACCOUNT_NAME: 'kyverno-admission-controller',
        KYVERNO_SVC: 'kyverno-svc',
        KYVERNO_POD_NAME: 'kyverno',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  for (const stream of [kyverno.stdout!, kyverno.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => (printed = (printed + text).slice(-20_000)))
}, COMPILE_MS)

afterAll(async () => {
  api?.close()
  kyverno?.kill('SIGKILL')
  await kedge?.stop()
})

const title = (what: string): string => (reason === undefined ? what : `${what} (skipped: ${reason})`)

const match = { any: [{ resources: { kinds: ['ConfigMap'], namespaces: ['default'] } }] }
const POLICY = {
  apiVersion: 'kyverno.io/v1',
  kind: 'ClusterPolicy',
  metadata: { name: 'owners' },
  spec: {
    background: false,
    rules: [
      {
        name: 'has-owner',
        match,
        validate: {
          failureAction: 'Enforce',
          message: 'the label owner is required',
          pattern: { metadata: { labels: { owner: '?*' } } },
        },
      },
      {
        name: 'says-who',
        match,
        mutate: { patchStrategicMerge: { metadata: { labels: { '+(seen-by)': 'kyverno' } } } },
      },
    ],
  },
}

test.skipIf(reason !== undefined)(
  title('what a policy asks for is enforced, and put in, by webhooks that Kyverno configures'),
  { timeout: 600_000 },
  async () => {
    // once Kyverno's own webhook runs, it checks policies
    await eventually(async () => {
      const { status, body } = await api.send('POST', '/apis/kyverno.io/v1/clusterpolicies', POLICY)
      expect([201, 409], `${body.message}\n${printed}`).toContain(status)
    })
    const path = '/api/v1/namespaces/default/configmaps?dryRun=All'
    await eventually(async () => {
      const { status, body } = await api.send('POST', path, { metadata: { name: 'a' } })
      expect(status, printed).toBe(400)
      expect(body.message).toMatch(/admission webhook "validate\.kyverno\.svc-\w+" denied the request/)
      expect(body.message).toContain('the label owner is required')
    })
    await eventually(async () => {
      const { status, body } = await api.send('POST', path, { metadata: { name: 'a', labels: { owner: 'me' } } })
      expect(status, `${body.message}\n${printed}`).toBe(201)
      expect(body['metadata']).toMatchObject({ labels: { owner: 'me', 'seen-by': 'kyverno' } })
    })
    const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
    const { body } = await api.send('GET', configurations)
    const names = body.items?.map(({ metadata }) => metadata.name)
    expect(names).toContain('kyverno-resource-validating-webhook-cfg')
  },
)
