// Other servers that take connections and say nothing: controllers wait for them for seconds, and others do not wait
// with them.
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'

class SilentServer {
  /** Callers that wait for an answer, and those that do not any more. */
  waiting = 0
  over = 0
  private readonly sockets = new Set<Socket>()

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.waiting++
      this.sockets.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          this.waiting--
          this.over++
        })
      socket.resume()
    })
  }

  static async start(): Promise<SilentServer> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new SilentServer(server)
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  stop(): void {
    this.server.close()
    for (const socket of this.sockets) socket.destroy()
  }
}

/** What the webhooks wait for. */
const RESOURCES = ['pods', 'pods/binding', 'pods/status']
const OPERATIONS = new Map([['pods/status', 'UPDATE']])

let extension: SilentServer
const webhooks = new Map<string, SilentServer>()
let kedge: KedgeProcess
let api: ApiClient

beforeAll(async () => {
  extension = await SilentServer.start()
  for (const resource of RESOURCES) webhooks.set(resource, await SilentServer.start())
  const flags = ['--workloads', 'simulated', '--nodes', '1', '--services', `default/silent:443=${extension.url}`]
  kedge = await startKedge(['--ephemeral', '--port', '0', ...flags])
  api = new ApiClient(kedge.kubeconfig)
})

afterAll(async () => {
  api?.close()
  await kedge?.stop()
  for (const server of [extension, ...webhooks.values()]) server.stop()
})

async function create(path: string, object: object): Promise<void> {
  const { status, body } = await api.send('POST', path, object)
  expect([status, body]).toEqual([201, expect.anything()])
}

test('a definition is established while a check of availability waits', async () => {
  const group = 'silent.example.com'
  await create('/apis/apiregistration.k8s.io/v1/apiservices', {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `v1.${group}` },
    spec: {
      group,
      version: 'v1',
      service: { name: 'silent', namespace: 'default' },
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  })
  await eventually(() => expect(extension.waiting).toBeGreaterThan(0))
  const overBefore = extension.over
  await create(DEFINITIONS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'things', kind: 'Thing' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  })
  await eventually(async () => {
    const { body } = await api.send('GET', `${DEFINITIONS}/things.example.com`)
    expect(JSON.stringify(body)).toContain('"type":"Established"')
  })
  expect(extension.over).toBe(overBefore)
})

// The controller of ReplicaSets waits for the first, the scheduler for the second, the kubelets for the third.
test.each(RESOURCES)(
  'a Deployment comes up while a webhook for %s of another namespace says nothing',
  async (resource) => {
    const webhook = webhooks.get(resource)!
    const [stuck, free] = ['stuck', 'free'].map((name) => `${name}-${resource.replace('/', '-')}`) as [string, string]
    for (const name of [stuck, free])
      await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    await create(WEBHOOKS, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: stuck },
      webhooks: [
        {
          name: 'pods.example.com',
          clientConfig: { url: `${webhook.url}/` },
          rules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: [OPERATIONS.get(resource) ?? 'CREATE'],
              resources: [resource],
            },
          ],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': stuck } },
          timeoutSeconds: 30,
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    })
    const deployments = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/deployments`
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'web', image: 'web' }] },
        },
      },
    }
    await create(deployments(stuck), deployment)
    await eventually(() => expect(webhook.waiting).toBeGreaterThan(0))
    await create(deployments(free), deployment)
    await eventually(async () => {
      const { body } = await api.send('GET', `${deployments(free)}/web`)
      expect((body as { status?: { readyReplicas?: number } }).status?.readyReplicas).toBe(1)
    })
    expect(webhook.over).toBe(0)
  },
)
