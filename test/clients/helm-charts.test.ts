// Helm installs charts of widely used applications on simulated nodes; all their workloads become ready.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dump, load } from 'js-yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startWithDefaults } from '../cli/kedge-process.ts'
import { ApiClient } from '../e2e/api-client.ts'
import { build, sourcesOf, whyNot } from './module-program.ts'
import { run } from './toolchain.ts'

const HELM = { module: 'helm', package: 'helm.sh/helm/v3/cmd/helm' }
const reason = whyNot(HELM)
const COMPILE_MS = 1_500_000

interface Chart {
  readonly name: string
  /** The Go module whose repository has the chart. The module in the folder `by` beside this file requires it. */
  readonly from: string
  readonly by: string
  readonly path: string
  /** Folders of charts in the same repository that this chart depends on. */
  readonly parts?: readonly string[]
  readonly values?: readonly string[]
}

const PROMETHEUS = 'github.com/prometheus-community/helm-charts'
const charts: readonly Chart[] = [
  { name: 'argo-cd', from: 'github.com/argoproj/argo-helm', by: 'charts', path: 'charts/argo-cd' },
  {
    name: 'cert-manager',
    from: 'github.com/cert-manager/cert-manager',
    by: 'cert-manager',
    path: 'deploy/charts/cert-manager',
    values: ['crds.enabled=true'],
  },
  { name: 'ingress-nginx', from: 'k8s.io/ingress-nginx', by: 'charts', path: 'charts/ingress-nginx' },
  {
    name: 'prometheus',
    from: PROMETHEUS,
    by: 'charts',
    path: 'charts/prometheus',
    parts: ['alertmanager', 'kube-state-metrics', 'prometheus-node-exporter', 'prometheus-pushgateway'],
  },
  { name: 'traefik', from: 'github.com/traefik/traefik-helm-chart', by: 'charts', path: 'traefik' },
  {
    name: 'gatekeeper',
    from: 'github.com/open-policy-agent/gatekeeper/v3',
    by: 'gatekeeper',
    path: 'charts/gatekeeper',
  },
]

const directory = mkdtempSync(join(tmpdir(), 'kedge-charts-'))
let helm: string
let kedge: KedgeProcess
let api: ApiClient

beforeAll(async () => {
  if (reason !== undefined) return
  helm = await build(HELM)
  kedge = await startWithDefaults(['--ephemeral', '--port', '0', '--workloads', 'simulated', '--nodes', '3'])
  api = new ApiClient(kedge.kubeconfig)
}, COMPILE_MS)

afterAll(async () => {
  api?.close()
  await kedge?.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** A copy of the chart with the dependencies from its repository. The values switch off those from elsewhere. */
async function unpacked({ name, from, by, path, parts = [] }: Chart): Promise<string> {
  const sources = await sourcesOf(by, from)
  const copy = join(directory, name)
  cpSync(join(sources, path), copy, { recursive: true, mode: 0 })
  await run('chmod', ['-R', 'u+w', copy], { cwd: directory })
  for (const part of parts) cpSync(join(sources, path, '..', part), join(copy, 'charts', part), { recursive: true })
  const file = join(copy, 'Chart.yaml')
  const { dependencies = [], ...chart } = load(readFileSync(file, 'utf8')) as { dependencies?: { name: string }[] }
  const there = dependencies.filter((dependency) => parts.includes(dependency.name))
  writeFileSync(file, dump({ ...chart, dependencies: there }))
  rmSync(join(copy, 'Chart.lock'), { force: true })
  return copy
}

interface Workload {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly replicas?: number }
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly readyReplicas?: number
    readonly numberReady?: number
    readonly desiredNumberScheduled?: number
  }
}

const isTrue = ({ status }: Workload, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true
/** For each resource, whether a workload of it is ready. */
const kinds: readonly [string, (workload: Workload) => boolean][] = [
  ['apps/v1/deployments', (one) => isTrue(one, 'Available')],
  ['apps/v1/statefulsets', ({ spec, status }) => status?.readyReplicas === (spec.replicas ?? 1)],
  ['apps/v1/daemonsets', ({ status }) => status?.numberReady === status?.desiredNumberScheduled],
  ['batch/v1/jobs', (one) => isTrue(one, 'Complete')],
]

/** @returns all workloads in a namespace, and those that are not ready, as `RESOURCE/NAME` */
async function workloadsIn(namespace: string): Promise<{ all: string[]; down: string[] }> {
  const all: string[] = []
  const down: string[] = []
  for (const [resource, isUp] of kinds) {
    const [group, version, plural] = resource.split('/')
    const { body } = await api.send('GET', `/apis/${group}/${version}/namespaces/${namespace}/${plural}`)
    for (const workload of body.items as unknown as Workload[]) {
      const text = `${plural}/${workload.metadata.name}`
      all.push(text)
      if (!isUp(workload)) down.push(text)
    }
  }
  return { all, down }
}

test.skipIf(reason !== undefined).each(charts.map((chart) => [chart.name, chart] as const))(
  reason === undefined ? 'the chart %s comes up and goes' : `the chart %s (skipped: ${reason})`,
  { timeout: 600_000 },
  async (name, chart) => {
    const place = ['--kubeconfig', kedge.kubeconfig, '--namespace', name]
    const values = chart.values?.flatMap((value) => ['--set', value]) ?? []
    const install = ['install', name, await unpacked(chart), '--create-namespace', '--wait', '--timeout', '5m']
    const installed = await run(helm, [...install, ...values, ...place], { cwd: directory })
    expect(installed.code, installed.output).toBe(0)
    await expect.poll(() => workloadsIn(name), { timeout: 120_000, interval: 500 }).toMatchObject({ down: [] })
    expect((await workloadsIn(name)).all).not.toEqual([])
    const gone = await run(helm, ['uninstall', name, '--wait', '--timeout', '5m', ...place], { cwd: directory })
    expect(gone.code, gone.output).toBe(0)
  },
)
