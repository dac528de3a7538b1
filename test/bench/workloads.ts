// `npm run bench:workloads` measures the time and CPU until workloads reach their desired state: a Deployment of a
// thousand pods, five thousand pods on a hundred nodes, a rollout of two hundred replicas, and a hundred CronJobs a
// minute. It also measures how many waiting pods are bound to nodes in a second, on nodes without a kubelet. During
// each workload another client sends gets, which shows the latency of other requests. `--kubeconfig FILE --pid N,…`
// measures any other server with its controllers and its simulated kubelets (N: their processes); its nodes are
// annotated for KWOK, too. `--only deploy,rollout,cron,schedule,bind` selects workloads. `--as NAME` saves the figures
// under that name in workloads.json and redraws docs/workloads.svg from all saved figures.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startKedge } from '../cli/kedge-process.ts'
import type { Call, Target } from './load.ts'
import { fill, open, part, pause, send, succeed } from './load.ts'
import { usageOf } from './process-usage.ts'
import { table } from './report.ts'
import { readKubeconfig } from './side.ts'
import type { Figures, Sides } from './workloads-drawing.ts'
import { drawing } from './workloads-drawing.ts'

const { values: flags } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    pid: { type: 'string' },
    only: { type: 'string', default: 'deploy,rollout,cron,schedule,bind' },
    replicas: { type: 'string', default: '1000' },
    pods: { type: 'string', default: '5000' },
    nodes: { type: 'string', default: '100' },
    rolled: { type: 'string', default: '200' },
    as: { type: 'string' },
    cronJobs: { type: 'string', default: '100' },
  },
})

const NAMESPACE = `bench-${Date.now().toString(36)}`
const CORE = `/api/v1/namespaces/${NAMESPACE}`
const APPS = `/apis/apps/v1/namespaces/${NAMESPACE}`
const BATCH = `/apis/batch/v1/namespaces/${NAMESPACE}`
/** Milliseconds between two polls. */
const LOOK_MS = 100
const PATIENCE_MS = 600_000
const QUIET_LOOKS = 15

interface Server {
  readonly target: Target
  readonly pids: readonly number[]
}

interface Read {
  readonly spec?: Record<string, unknown>
  readonly status?: Record<string, unknown>
  readonly metadata?: { readonly generation?: number }
  readonly items?: readonly Read[]
}

async function read(target: Target, path: string): Promise<Read> {
  const response = await open(target, { method: 'GET', path })
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as Read
}

const post = (path: string, body: unknown): Call => ({ method: 'POST', path, body: JSON.stringify(body) })

const mergePatch = (path: string, body: unknown): Call => ({
  method: 'PATCH',
  path,
  contentType: 'application/merge-patch+json',
  body: JSON.stringify(body),
})

const cpuOf = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + usageOf(pid).cpu, 0)

/** Calls and rows by shard of Kedge; empty for another server. */
async function shardWork(target: Target): Promise<ReadonlyMap<string, readonly number[]>> {
  const response = await open(target, { method: 'GET', path: '/debug/shards' })
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  if (response.statusCode !== 200) return new Map()
  const { shards } = JSON.parse(Buffer.concat(chunks).toString()) as { shards: Stats[] }
  const isRead = (call: string): boolean => call === 'get' || call === 'list' || call === 'changes'
  return new Map(
    shards.map(({ name, reasons, rowsRead, rowsWritten }) => {
      const calls = Object.entries(reasons)
      const sum = (of: (call: string) => boolean) => calls.reduce((all, [call, n]) => all + (of(call) ? n : 0), 0)
      return [name.slice(name.indexOf('/') + 1), [sum(isRead), sum((call) => call === 'write'), rowsRead, rowsWritten]]
    }),
  )
}

interface Stats {
  readonly name: string
  readonly reasons: Readonly<Record<string, number>>
  readonly rowsRead: number
  readonly rowsWritten: number
}

/** Calls to all shards except the configuration's, which polling asks for changes each second. */
async function callsOf(target: Target): Promise<number | undefined> {
  const work = [...(await shardWork(target))].filter(([shard]) => shard !== 'control')
  return work.length === 0 ? undefined : work.reduce((sum, [, [reads = 0, writes = 0]]) => sum + reads + writes, 0)
}

/** Waits until QUIET_LOOKS polls in a row see no call to a shard. Another server cannot be asked. */
async function quiet(target: Target): Promise<void> {
  const began = performance.now()
  let before = await callsOf(target)
  if (before === undefined) return pause(3_000)
  for (let looks = 0; looks < QUIET_LOOKS;) {
    if (performance.now() - began > PATIENCE_MS) throw new Error('the server does not come to rest')
    await pause(LOOK_MS)
    const calls = await callsOf(target)
    looks = calls === before ? looks + 1 : 0
    before = calls
  }
}

interface Outcome {
  /** Reads, writes, rows read and rows written, by shard. */
  readonly work: ReadonlyMap<string, readonly number[]>
  readonly seconds: number
  readonly cpu: number
  /** Milliseconds of each get during the work. */
  readonly gets: readonly number[]
}

/** Runs `work`, waits until `isDone`, and sends gets for a ConfigMap meanwhile. */
async function measured(
  { target, pids }: Server,
  work: () => Promise<void>,
  isDone: () => Promise<boolean>,
): Promise<Outcome> {
  const gets: number[] = []
  let goesOn = true
  const asker = (async () => {
    while (goesOn) {
      gets.push((await send(target, { method: 'GET', path: `${CORE}/configmaps/kube-root-ca.crt` })).total)
      await pause(10)
    }
  })()
  const workBefore = await shardWork(target)
  const [began, before] = [performance.now(), cpuOf(pids)]
  await work()
  while (!(await isDone())) {
    if (performance.now() - began > PATIENCE_MS) throw new Error('it takes too long')
    await pause(LOOK_MS)
  }
  const seconds = (performance.now() - began) / 1000
  // includes the work that follows from the workload
  await pause(1_000)
  goesOn = false
  await asker
  const cpu = cpuOf(pids) - before
  const done = new Map(
    [...(await shardWork(target))].map(([shard, numbers]) => [
      shard,
      numbers.map((number, at) => number - (workBefore.get(shard)?.[at] ?? 0)),
    ]),
  )
  return { seconds, cpu, gets, work: done }
}

const CAPACITY = { cpu: '64', memory: '256Gi', 'ephemeral-storage': '500Gi', pods: '250' }

const node = (name: string): unknown => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: {
    name,
    labels: { 'kedge.dev/simulated': 'true', 'kubernetes.io/hostname': name, type: 'kwok' },
    annotations: { 'kwok.x-k8s.io/node': 'fake', 'node.alpha.kubernetes.io/ttl': '0' },
  },
  status: { capacity: CAPACITY, allocatable: CAPACITY },
})

const ready = () => {
  const now = new Date().toISOString()
  return {
    type: 'Ready',
    status: 'True',
    reason: 'Bench',
    message: '',
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  }
}

/** A node without a kubelet, with room for all pods. */
const nodeAlone = (name: string): unknown => {
  const capacity = { ...CAPACITY, pods: '10000' }
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    status: { capacity, allocatable: capacity, conditions: [ready()] },
  }
}

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: {
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'nginx', resources: { requests: { cpu: '10m', memory: '16Mi' } } }],
  },
})

const deployment = (name: string, replicas: number): unknown => ({
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  metadata: { name },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name) },
})

/**
 * Reads every fiftieth pod, and at the end checks for any unbound pod. Reading all would cost more than the measured
 * work.
 */
function areBound({ target }: Server, nameOf: (n: number) => string, count: number): () => Promise<boolean> {
  let next = 0
  return async () => {
    for (; next < count; next += 50)
      if ((await read(target, `${CORE}/pods/${nameOf(next)}`)).spec?.['nodeName'] === undefined) return false
    const unbound = `${CORE}/pods?fieldSelector=${encodeURIComponent('spec.nodeName=')}&limit=1`
    return ((await read(target, unbound)).items ?? []).length === 0
  }
}

/** All pods have the newest template and are available. */
const isRolledOut =
  ({ target }: Server, name: string, replicas: number) =>
  async (): Promise<boolean> => {
    const { metadata, status = {} } = await read(target, `${APPS}/deployments/${name}`)
    const { observedGeneration, updatedReplicas, availableReplicas, replicas: all } = status
    return (
      observedGeneration === metadata?.generation &&
      [updatedReplicas, availableReplicas, all].every((count) => count === replicas)
    )
  }

const measures: Readonly<Record<string, (server: Server) => Promise<readonly [string, Outcome, number]>>> = {
  async deploy(server) {
    const replicas = Number(flags.replicas)
    const create = () => succeed(server.target, post(`${APPS}/deployments`, deployment('large', replicas)))
    const outcome = await measured(server, async () => void (await create()), isRolledOut(server, 'large', replicas))
    return [`a Deployment of ${replicas} pods`, outcome, replicas]
  },

  async rollout(server) {
    const replicas = Number(flags.rolled)
    await succeed(server.target, post(`${APPS}/deployments`, deployment('rolled', replicas)))
    const isDone = isRolledOut(server, 'rolled', replicas)
    while (!(await isDone())) await pause(LOOK_MS)
    await pause(1_000)
    const change = { spec: { template: { spec: { containers: [{ name: 'c', image: 'nginx:2' }] } } } }
    const outcome = await measured(
      server,
      async () =>
        void (await succeed(server.target, {
          method: 'PATCH',
          path: `${APPS}/deployments/rolled`,
          contentType: 'application/strategic-merge-patch+json',
          body: JSON.stringify(change),
        })),
      isDone,
    )
    return [`a rollout of ${replicas} replicas`, outcome, replicas]
  },

  async schedule(server) {
    const count = Number(flags.pods)
    const pod = (n: number) => {
      const { metadata, spec } = template('loose')
      return post(`${CORE}/pods`, {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: { ...metadata, name: `loose-${n}` },
        spec,
      })
    }
    const create = () => fill(server.target, 32, count, pod)
    const outcome = await measured(
      server,
      create,
      areBound(server, (n) => `loose-${n}`, count),
    )
    return [`${count} pods over ${flags.nodes} nodes, bound`, outcome, count]
  },

  async bind(server) {
    const { target } = server
    const count = Number(flags.pods)
    const names = Array.from({ length: Number(flags.nodes) }, (_, n) => `${NAMESPACE}-${n}`)
    const { metadata, spec } = template('waiting')
    const pod = (n: number) =>
      post(`${CORE}/pods`, {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: { ...metadata, name: `waiting-${n}` },
        spec: { ...spec, nodeSelector: { 'bench/nodes': NAMESPACE } },
      })
    const ofNodes = (call: (name: string) => Call) => fill(target, 8, names.length, (n) => call(names[n]!))
    await ofNodes((name) => post('/api/v1/nodes', nodeAlone(name)))
    await fill(target, 32, count, pod)
    const conditionsOf = async (n: number) => (await read(target, `${CORE}/pods/waiting-${n}`)).status?.['conditions']
    for (let n = 0; n < count; n++) while ((await conditionsOf(n)) === undefined) await pause(LOOK_MS)
    await ofNodes((name) => mergePatch(`/api/v1/nodes/${name}/status`, { status: { conditions: [ready()] } }))
    await quiet(target)
    const outcome = await measured(
      server,
      () =>
        ofNodes((name) => mergePatch(`/api/v1/nodes/${name}`, { metadata: { labels: { 'bench/nodes': NAMESPACE } } })),
      areBound(server, (n) => `waiting-${n}`, count),
    )
    return [`${count} pods that waited for ${names.length} nodes, bound`, outcome, count]
  },

  async cron(server) {
    const count = Number(flags.cronJobs)
    const cronJob = (n: number) =>
      post(`${BATCH}/cronjobs`, {
        kind: 'CronJob',
        apiVersion: 'batch/v1',
        metadata: { name: `cron-${n}` },
        spec: {
          schedule: '* * * * *',
          jobTemplate: { spec: { template: { spec: { ...template('cron').spec, restartPolicy: 'Never' } } } },
        },
      })
    const nextMinute = () => pause(60_000 - (Date.now() % 60_000))
    await nextMinute()
    await fill(server.target, 8, count, cronJob)
    const isDone = async () => {
      const { items = [] } = await read(server.target, `${BATCH}/jobs`)
      return items.filter(({ status }) => status?.succeeded === 1).length >= count
    }
    await nextMinute()
    const outcome = await measured(server, async () => {}, isDone)
    // the CronJobs must not run in the next minute
    await succeed(server.target, { method: 'DELETE', path: `${BATCH}/cronjobs` })
    await quiet(server.target)
    return [`${count} CronJobs of one minute, done`, outcome, count]
  },
}

async function run(server: Server): Promise<void> {
  const { target } = server
  for (let n = 1; n <= Number(flags.nodes); n++) await succeed(target, post('/api/v1/nodes', node(`bench-node-${n}`)))
  await succeed(
    target,
    post('/api/v1/namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name: NAMESPACE } }),
  )
  const isSetUp = async () =>
    (await send(target, { method: 'GET', path: `${CORE}/serviceaccounts/default` })).status === 200
  while (!(await isSetUp())) await pause(LOOK_MS)
  await quiet(target)
  const rows: string[][] = []
  const shards: string[][] = []
  const figures: Record<string, Figures> = {}
  for (const name of flags.only.split(',')) {
    const measure = measures[name]
    if (measure === undefined) throw new Error(`${name} is none of ${Object.keys(measures).join(', ')}`)
    const [what, { seconds, cpu, gets, work }, count] = await measure(server)
    process.stderr.write(`${what}: ${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of CPU\n`)
    figures[what] = { seconds, cpu }
    const each = [...work].map(([shard, numbers]) => [shard, ...numbers.map((number) => (number / count).toFixed(2))])
    shards.push(...each.filter((row) => Number(row[1]) + Number(row[2]) >= 0.02).map((row) => [name, ...row]))
    rows.push([
      what,
      seconds.toFixed(1),
      (count / seconds).toFixed(0),
      cpu.toFixed(1),
      ((cpu * 1000) / count).toFixed(1),
      part(gets, 0.5).toFixed(0),
      part(gets, 0.99).toFixed(0),
      Math.max(...gets).toFixed(0),
    ])
  }
  console.log(table(['what', 's', 'a second', 'CPU s', 'CPU ms each', 'get ms', '99%', 'longest'], rows))
  if (flags.as !== undefined) keep(flags.as, figures)
  if (shards.length > 0) console.log(table(['each', 'shard', 'reads', 'writes', 'rows read', 'rows written'], shards))
}

/** Saves the figures. Kedge's come first, as in the drawing. */
function keep(name: string, figures: Readonly<Record<string, Figures>>): void {
  const file = join(import.meta.dirname, 'workloads.json')
  const known: Sides = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Sides) : {}
  const sides: Sides = { ...known, [name]: { ...known[name], ...figures } }
  writeFileSync(file, `${JSON.stringify(sides, null, 2)}\n`)
  writeFileSync(join(import.meta.dirname, '../../docs/workloads.svg'), drawing(sides))
}

if (flags.kubeconfig !== undefined) {
  await run({
    target: readKubeconfig(flags.kubeconfig),
    pids: (flags.pid ?? '').split(',').filter(Boolean).map(Number),
  })
} else {
  const kedge = await startKedge(['--ephemeral', '--port', '0', '--workloads', 'simulated', '--nodes', '0'])
  try {
    await run({ target: readKubeconfig(kedge.kubeconfig), pids: [kedge.process.pid ?? 0] })
  } finally {
    await kedge.stop()
  }
}
