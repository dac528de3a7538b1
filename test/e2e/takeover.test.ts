// kube-controller-manager and kube-scheduler take over from Kedge's controllers, and find nothing to change; and back.
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { Cluster } from '../differential/cluster.ts'
import {
  budget,
  claim,
  cronJob,
  daemonSet,
  deployment,
  job,
  neverReady,
  pod,
  replicationController,
  service,
  statefulSet,
} from '../differential/manifests.ts'
import type { Action, Manifest } from '../differential/scenario.ts'
import { endReference, skipWithout, startReference } from './reference-program.ts'
import { Session, skipWithoutKubectl } from './session.ts'

let kedge: KedgeProcess
let kubectl: Session
let cluster: Cluster
const others: ChildProcess[] = []
const directory = mkdtempSync(join(tmpdir(), 'kedge-takeover-'))
const auditLog = join(directory, 'audit.log')
/** Every request to write: a write that changes nothing has no new resourceVersion. */
const POLICY = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- { level: None, verbs: [get, list, watch] }
- level: None
  resources:
  - { group: coordination.k8s.io, resources: [leases] }
  - { group: '', resources: [events] }
  - { group: events.k8s.io, resources: [events] }
  - { group: authentication.k8s.io }
  - { group: authorization.k8s.io }
- { level: Metadata }
`
beforeAll(async () => {
  const policy = join(directory, 'policy.yaml')
  writeFileSync(policy, POLICY)
  const audit = ['--audit-policy-file', policy, '--audit-log-path', auditLog, '--audit-log-mode', 'blocking']
  kedge = await startKedge(['--ephemeral', '--port', '0', '--workloads', 'simulated', '--nodes', '3', ...audit])
  kubectl = new Session(kedge.kubeconfig)
  cluster = new Cluster(kedge.kubeconfig)
})
beforeEach(skipWithoutKubectl)
beforeEach((context) => {
  skipWithout('kube-controller-manager', context)
  skipWithout('kube-scheduler', context)
})
const endOthers = async () => {
  await Promise.all(others.splice(0).map((other) => endReference(other, 'SIGTERM')))
}
afterEach(endOthers)
afterAll(async () => {
  cluster.close()
  await kedge.stop()
  rmSync(directory, { recursive: true, force: true })
})

const LEADERS = ['kube-controller-manager', 'kube-scheduler'] as const
/** Longer than a kube-controller-manager waits for the heartbeat of a node. */
const WATCHED_MS = 60_000

/** Whatever controllers write, but Leases, by which they lead and nodes live, and Events. */
const RESOURCES = [
  'api/v1/configmaps',
  'api/v1/endpoints',
  'api/v1/namespaces',
  'api/v1/nodes',
  'api/v1/persistentvolumeclaims',
  'api/v1/persistentvolumes',
  'api/v1/pods',
  'api/v1/replicationcontrollers',
  'api/v1/resourcequotas',
  'api/v1/secrets',
  'api/v1/serviceaccounts',
  'api/v1/services',
  'apis/apps/v1/controllerrevisions',
  'apis/apps/v1/daemonsets',
  'apis/apps/v1/deployments',
  'apis/apps/v1/replicasets',
  'apis/apps/v1/statefulsets',
  'apis/batch/v1/cronjobs',
  'apis/batch/v1/jobs',
  'apis/discovery.k8s.io/v1/endpointslices',
  'apis/policy/v1/poddisruptionbudgets',
  'apis/resource.k8s.io/v1/resourceclaims',
  'apis/storage.k8s.io/v1/volumeattachments',
]

/** All objects as JSON, by resource, namespace and name; of one namespace and what is called like it, where it is given. */
async function everything(only?: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const resource of RESOURCES)
    for (const object of await cluster.list(`/${resource}`)) {
      const { namespace, name } = object.metadata
      if (only === undefined || namespace === only || name.startsWith(only))
        found.set(`${resource} ${namespace ?? ''}/${name}`, JSON.stringify(object))
    }
  return found
}

/** What changed, came and went, with both states. */
const changes = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] =>
  [...new Set([...before.keys(), ...after.keys()])]
    .filter((key) => before.get(key) !== after.get(key))
    .map((key) => `${key}\n  before: ${before.get(key) ?? 'nothing'}\n  after:  ${after.get(key) ?? 'nothing'}`)

interface AuditEvent {
  readonly verb: string
  readonly requestURI: string
  readonly userAgent?: string
}

const isTheirs = ({ userAgent = '' }: AuditEvent): boolean => /^kube-(?:controller-manager|scheduler)\//.test(userAgent)
/** Kedge's own controllers are written down without a version. */
const isOurs = ({ userAgent = '' }: AuditEvent): boolean => /^kube-(?:controller-manager|scheduler)$/.test(userAgent)

/** What some asked to be written, whether it changed something or not. */
const writesOf = (isOf: (event: AuditEvent) => boolean): string[] =>
  readFileSync(auditLog, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditEvent) // the server writes nothing else
    .filter(isOf)
    .map(({ verb, requestURI }) => `${verb} ${requestURI}`)

async function quiet(): Promise<ReadonlyMap<string, string>> {
  let known = await everything()
  await eventually(async () => {
    const before = known
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    known = await everything()
    expect(changes(before, known)).toEqual([])
  })
  return known
}

const image = (name: string) => ({ spec: { template: { spec: { containers: [{ name: 'main', image: name }] } } } })
const secondTemplate = (resource: string): Action => ({ patch: `apps/v1/${resource}`, with: image('nginx:2') })
/** A namespace's class is called like it, and has no provisioner. */
const volume = (namespace: string, number: number): Manifest => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: `${namespace}-${number}` },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/data' },
    storageClassName: namespace,
  },
})
const claimOf = (namespace: string, name: string) => claim(name, { storageClassName: namespace })

/** Workloads at rest: as they are made, rolled out, stuck, ended, suspended. */
const workloads = (namespace: string): readonly Action[] => [
  { createGlobal: [1, 2, 3, 4].map((number) => volume(namespace, number)) },
  {
    create: [
      deployment('web', { replicas: 3 }),
      deployment('stuck', { replicas: 2 }, neverReady),
      deployment('paused', { replicas: 1, paused: true }),
      deployment('homeless', { replicas: 1 }, { spec: { nodeSelector: { nowhere: 'at-all' } } }),
      service('web'),
      service('db', { clusterIP: 'None' }),
      service('out', { selector: undefined }),
      service('zones', { trafficDistribution: 'PreferSameZone', selector: { app: 'web' } }),
      statefulSet('simulated', { replicas: 1, volumeClaimTemplates: [claim('data')] }),
      statefulSet('db', { replicas: 2, volumeClaimTemplates: [claimOf(namespace, 'data')] }),
      daemonSet('agent'),
      replicationController('old', { replicas: 1 }),
      job('work', { completions: 2, parallelism: 2 }),
      job('bad', { backoffLimit: 0 }, { annotations: { 'kedge.dev/exit-code': '1' } }),
      job('indexed', { completions: 2, parallelism: 2, completionMode: 'Indexed' }),
      job('suspended', { suspend: true }),
      cronJob('tick', { schedule: '0 0 1 1 *' }),
      cronJob('suspended', { schedule: '* * * * *', suspend: true }),
      budget('web', { minAvailable: 2 }),
      budget('db', { maxUnavailable: 1 }),
      claimOf(namespace, 'bound'),
      claim('waiting', { storageClassName: 'nowhere' }),
      pod('bare'),
      {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'out' },
        subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }],
      },
      { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'all' }, spec: { hard: { pods: '100' } } },
    ],
  },
]
const rollouts: readonly Action[] = [
  secondTemplate('deployments/web'),
  secondTemplate('statefulsets/db'),
  secondTemplate('daemonsets/agent'),
  { patch: 'apps/v1/deployments/web', with: { spec: { replicas: 4 } } },
]

async function work(namespace: string): Promise<ReadonlyMap<string, string>> {
  const scenario = { name: namespace, steps: [] }
  await cluster.begin(namespace, scenario)
  for (const action of workloads(namespace)) await cluster.act(action, namespace)
  await quiet()
  for (const action of rollouts) await cluster.act(action, namespace)
  return quiet()
}

const holderOf = (lease: string) =>
  kubectl.run(`-n kube-system get lease ${lease} --ignore-not-found -o jsonpath={.spec.holderIdentity}`)

async function startOthers(): Promise<void> {
  const before = await Promise.all(LEADERS.map(holderOf))
  for (const program of LEADERS) others.push(startReference(program, kedge.kubeconfig, []))
  await eventually(async () => {
    const holders = await Promise.all(LEADERS.map(holderOf))
    for (const [at, holder] of holders.entries()) expect([before[at], '']).not.toContain(holder)
  })
}

/** A Deployment of its own becomes available: whoever leads works. */
async function isWorking(name: string): Promise<void> {
  await kubectl.run(`create namespace ${name}`)
  await kubectl.run(`-n ${name} create deployment probe --image=nginx`)
  await kubectl.run(`-n ${name} rollout status deployment/probe --timeout=180s`)
}

test('what kube-controller-manager and kube-scheduler made is left as it is', async () => {
  await startOthers()
  await work('theirs')
  const before = await everything('theirs')
  await endOthers()
  const known = writesOf(isOurs).length
  await isWorking('after-theirs')
  await quiet()
  expect(changes(before, await everything('theirs'))).toEqual([])
  const writes = writesOf(isOurs).slice(known)
  const isProbe = (write: string) => write.includes('after-theirs')
  expect(writes.filter(isProbe)).not.toEqual([])
  expect(writes.filter((write) => write.includes('theirs') && !isProbe(write))).toEqual([])
}, 900_000)

test('what Kedge made is left as it is by kube-controller-manager and kube-scheduler', async () => {
  const before = await work('ours')
  const known = writesOf(isTheirs).length
  await startOthers()
  await isWorking('after-ours')
  await new Promise((resolve) => setTimeout(resolve, WATCHED_MS))
  const isProbe = (key: string) => key.includes('after-ours')
  const after = new Map([...(await everything())].filter(([key]) => !isProbe(key)))
  expect(changes(before, after)).toEqual([])
  const writes = writesOf(isTheirs).slice(known)
  // they did work
  expect(writes.filter(isProbe)).not.toEqual([])
  expect(writes.filter((write) => !isProbe(write))).toEqual([])
}, 900_000)
