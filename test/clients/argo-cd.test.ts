// Argo CD's controller and repository server with a local server and its simulated nodes: what a repository says is
// applied in its order, mended, pruned, and deleted with its application.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { load } from 'js-yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import type { Answer } from '../e2e/api-client.ts'
import { ApiClient } from '../e2e/api-client.ts'
import { build, freePort, sourcesOf, whyNot } from './module-program.ts'

const MODULE = 'github.com/argoproj/argo-cd/v3'
const ARGO_CD = { module: 'argo-cd', package: `${MODULE}/cmd` }
const REDIS = { module: 'miniredis', package: '.' }
const reason = whyNot(ARGO_CD) ?? whyNot(REDIS)
const COMPILE_MS = 1_800_000

const APPLICATIONS = '/apis/argoproj.io/v1alpha1/namespaces/argocd/applications'
const widgets = (namespace: string): string => `/apis/example.com/v1/namespaces/${namespace}/widgets`
const core = (namespace: string): string => `/api/v1/namespaces/${namespace}`
const apps = (namespace: string): string => `/apis/apps/v1/namespaces/${namespace}`

type Program = ChildProcessByStdio<Writable, Readable, Readable>
const directory = mkdtempSync(join(tmpdir(), 'kedge-argo-cd-'))
const repository = join(directory, 'repository')
const programs: Program[] = []
let printed = ''
let kedge: KedgeProcess
let api: ApiClient

const annotated = (annotations: Record<string, string>) =>
  Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`argocd.argoproj.io/${name}`, value]))
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } }

/** The files of the repository. The widget can only be applied after its definition. */
const files: Readonly<Record<string, object>> = {
  'all/hook.json': {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'migrate', annotations: annotated({ hook: 'PreSync', 'hook-delete-policy': 'HookSucceeded' }) },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'busybox' }] } } },
  },
  'all/definition.json': {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com', annotations: annotated({ 'sync-wave': '-1' }) },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', properties: { size: { type: 'integer', default: 3 } } } },
            },
          },
        },
      ],
    },
  },
  'all/widget.json': {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'one', annotations: annotated({ 'sync-options': 'SkipDryRunOnMissingResource=true' }) },
    spec: {},
  },
  'all/database.json': {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'database' },
    spec: {
      serviceName: 'database',
      selector: { matchLabels: labels },
      template,
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  },
  ...Object.fromEntries(
    ['all', 'applied'].flatMap((folder) => [
      [
        `${folder}/values.json`,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'values' }, data: { a: '1' } },
      ],
      [
        `${folder}/service.json`,
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'web' },
          spec: { selector: labels, ports: [{ port: 80 }] },
        },
      ],
      [
        `${folder}/web.json`,
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'web' },
          spec: { replicas: 3, selector: { matchLabels: labels }, template },
        },
      ],
    ]),
  ),
}

function git(...args: string[]): void {
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  const { status, stderr } = spawnSync('git', [...author, ...args], { cwd: repository, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

function commit(): void {
  git('add', '--all')
  git('commit', '--quiet', '--message', 'a change')
}

function start(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(program, args, {
    cwd: directory,
    env: { ...process.env, HOME: directory, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  programs.push(child)
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (printed = `${printed}${text}`.slice(-20_000)))
  return child
}

const listens = (port: number): Promise<unknown> =>
  eventually(async () => {
    const socket = createConnection(port, '127.0.0.1')
    await once(socket, 'connect').finally(() => socket.destroy())
  })

beforeAll(async () => {
  if (reason !== undefined) return
  const [argoCd, redis, sources] = [await build(ARGO_CD), await build(REDIS), await sourcesOf('argo-cd', MODULE)]
  for (const [file, object] of Object.entries(files)) {
    mkdirSync(join(repository, file, '..'), { recursive: true })
    writeFileSync(join(repository, file), JSON.stringify(object))
  }
  git('init', '--quiet', '--initial-branch=main')
  commit()

  kedge = await startKedge(['--ephemeral', '--port', '0', '--workloads', 'simulated', '--nodes', '2'])
  api = new ApiClient(kedge.kubeconfig)
  await made('/api/v1/namespaces', { metadata: { name: 'argocd' } })
  for (const kind of ['application', 'appproject', 'applicationset']) {
    const definition = load(readFileSync(join(sources, `manifests/crds/${kind}-crd.yaml`), 'utf8'))
    await made('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
  }
  const ofArgoCd = { 'app.kubernetes.io/part-of': 'argocd' }
  await made(`${core('argocd')}/configmaps`, { metadata: { name: 'argocd-cm', labels: ofArgoCd } })
  const secret = { metadata: { name: 'argocd-secret', labels: ofArgoCd }, stringData: { 'server.secretkey': 'a-key' } }
  await made(`${core('argocd')}/secrets`, secret)
  const everything = {
    sourceRepos: ['*'],
    destinations: [{ namespace: '*', server: '*' }],
    clusterResourceWhitelist: [{ group: '*', kind: '*' }],
  }
  const project = { apiVersion: 'argoproj.io/v1alpha1', kind: 'AppProject', metadata: { name: 'default' } }
  await eventually(() =>
    made('/apis/argoproj.io/v1alpha1/namespaces/argocd/appprojects', { ...project, spec: everything }),
  )

  const [address] = (await once(start(redis, []).stdout, 'data')) as [string]
  const env = {
    KUBECONFIG: kedge.kubeconfig,
    ARGOCD_FAKE_IN_CLUSTER: 'true',
    ARGOCD_GPG_ENABLED: 'false',
    ARGOCD_TLS_DATA_PATH: directory,
    ARGOCD_SSH_DATA_PATH: directory,
  }
  const [port, ...metrics] = [await freePort(), await freePort(), await freePort()]
  const store = ['--redis', address.trim()]
  start(argoCd, [...store, '--disable-tls', '--address=127.0.0.1', `--port=${port}`, `--metrics-port=${metrics[0]}`], {
    ...env,
    ARGOCD_BINARY_NAME: 'argocd-repo-server',
  })
  await listens(port)
  const place = ['--repo-server', `127.0.0.1:${port}`, '--repo-server-plaintext', `--metrics-port=${metrics[1]}`]
  start(argoCd, [...store, ...place, '--namespace=argocd', '--app-resync=10', `--kubeconfig=${kedge.kubeconfig}`], {
    ...env,
    ARGOCD_BINARY_NAME: 'argocd-application-controller',
  })
}, COMPILE_MS)

afterAll(async () => {
  api?.close()
  for (const program of programs) program.kill('SIGKILL')
  await kedge?.stop()
  rmSync(directory, { recursive: true, force: true })
})

async function made(path: string, object: unknown): Promise<Answer> {
  const answer = await api.send('POST', path, object)
  expect(answer.status, answer.body.message).toBe(201)
  return answer
}

interface Application {
  readonly status?: {
    readonly sync?: { readonly status?: string }
    readonly health?: { readonly status?: string }
    readonly operationState?: { readonly phase?: string; readonly message?: string }
  }
}

/** An application of a folder of the repository, in the namespace of its own name. */
const application = (name: string, ...syncOptions: string[]) =>
  made(APPLICATIONS, {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name, finalizers: ['resources-finalizer.argocd.argoproj.io'] },
    spec: {
      project: 'default',
      source: { repoURL: `file://${repository}`, path: name, targetRevision: 'main' },
      destination: { server: 'https://kubernetes.default.svc', namespace: name },
      syncPolicy: {
        automated: { prune: true, selfHeal: true },
        syncOptions: ['CreateNamespace=true', ...syncOptions],
      },
    },
  })

const isSynced = (name: string) =>
  eventually(async () => {
    const { status } = (await api.send('GET', `${APPLICATIONS}/${name}`)).body as Application
    const state = [status?.sync?.status, status?.health?.status, status?.operationState?.phase]
    expect(state, `${status?.operationState?.message}\n${printed.slice(-3000)}`).toEqual([
      'Synced',
      'Healthy',
      'Succeeded',
    ])
  }, 500)

const mergePatch = { 'Content-Type': 'application/merge-patch+json' }
const statusOf = async (path: string): Promise<number> => (await api.send('GET', path)).status
const title = (what: string): string => (reason === undefined ? what : `${what} (skipped: ${reason})`)

test.skipIf(reason !== undefined)(
  title('Argo CD syncs, mends, prunes, applies, and deletes with the application'),
  { timeout: 900_000 },
  async () => {
    await application('all')
    await isSynced('all')
    expect((await api.send('GET', `${widgets('all')}/one`)).body).toMatchObject({ spec: { size: 3 } })
    expect((await api.send('GET', `${apps('all')}/statefulsets/database`)).body).toMatchObject({
      status: { readyReplicas: 1 },
    })
    await eventually(async () => expect(await statusOf('/apis/batch/v1/namespaces/all/jobs/migrate')).toBe(404))

    const web = `${apps('all')}/deployments/web`
    expect(await statusOf(`${core('all')}/services/web`)).toBe(200)
    await api.send('DELETE', `${core('all')}/services/web`)
    await api.send('PATCH', web, { spec: { replicas: 1 } }, mergePatch)
    await eventually(async () => {
      expect(await statusOf(`${core('all')}/services/web`)).toBe(200)
      expect((await api.send('GET', web)).body).toMatchObject({ spec: { replicas: 3 }, status: { readyReplicas: 3 } })
    })

    rmSync(join(repository, 'all/values.json'))
    commit()
    const again = { metadata: { annotations: annotated({ refresh: 'hard' }) } }
    await api.send('PATCH', `${APPLICATIONS}/all`, again, mergePatch)
    await eventually(async () => expect(await statusOf(`${core('all')}/configmaps/values`)).toBe(404))
    await isSynced('all')

    await application('applied', 'ServerSideApply=true')
    await isSynced('applied')
    const { metadata } = (await api.send('GET', `${apps('applied')}/deployments/web`)).body as unknown as {
      metadata: { managedFields: { manager: string; operation: string }[] }
    }
    const applies = metadata.managedFields.filter(({ operation }) => operation === 'Apply')
    expect(applies.map(({ manager }) => manager)).toEqual(['argocd-controller'])

    for (const name of ['all', 'applied']) await api.send('DELETE', `${APPLICATIONS}/${name}`)
    await eventually(async () => {
      for (const name of ['all', 'applied']) {
        expect(await statusOf(`${APPLICATIONS}/${name}`), printed.slice(-3000)).toBe(404)
        expect(await statusOf(`${apps(name)}/deployments/web`)).toBe(404)
      }
      expect(await statusOf(`${core('all')}/services/web`)).toBe(404)
      // Argo CD leaves definitions, so that no objects of others go with them
      expect(await statusOf(`${widgets('all')}/one`)).toBe(404)
      expect(await statusOf(widgets('all'))).toBe(200)
    })
  },
)
