// The object ends at any of its calls to storage, with all that it had in memory: the end state is the same. `KEDGE_CRASH_STRIDE=1` tries each call, not
// every eleventh.
import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { perTenant } from '../../src/tenancy/tenant-state.ts'
import { ControlPlaneInMemory } from './control-plane.ts'
import { named } from '../../src/controllers/client/resource-client.ts'

const STRIDE = Number(process.env['KEDGE_CRASH_STRIDE'] ?? 11)
/** Seconds that pass. */
const SECONDS = 25

const resource = (group: string, name: string) => ({ group, resource: name })
const PODS = resource('', 'pods')
const NODES = resource('', 'nodes')
const DEPLOYMENTS = resource('apps', 'deployments')
const REPLICA_SETS = resource('apps', 'replicasets')
const STATEFUL_SETS = resource('apps', 'statefulsets')
const DAEMON_SETS = resource('apps', 'daemonsets')
const JOBS = resource('batch', 'jobs')

const remembered = perTenant('forgotten', () => ({}))

/** Whatever was kept in memory of the control plane is gone: so many others were used. */
function forgetAll(): void {
  for (let other = 0; other < 300; other++) remembered({ uid: `other-${other}` })
}

/** One life of the object: what it still does once it has ended reaches nobody. */
interface Life {
  calls: number
  readonly endsAt: number
}

const lives = new AsyncLocalStorage<Life>()

function withLives(plane: ControlPlaneInMemory): void {
  const { SHARDS } = plane.server.env
  const get = SHARDS.get.bind(SHARDS)
  SHARDS.get = (id) => {
    const life = lives.getStore()
    if (life !== undefined && life.calls++ >= life.endsAt) throw new Error('the object ends')
    return get(id)
  }
}

async function pass(plane: ControlPlaneInMemory, seconds: number, life: Life): Promise<void> {
  await lives.run(life, async () => {
    for (let second = 0; second < seconds; second++) await plane.pass(1_000)
  })
}

type Spec = Record<string, unknown>

const template = (image = 'web:1', more: Spec = {}) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }], ...more },
})

const selecting = (spec: Spec): Spec => ({ selector: { matchLabels: { app: 'web' } }, template: template(), ...spec })

async function create(
  plane: ControlPlaneInMemory,
  of: { group: string; resource: string },
  kind: string,
  spec: Spec,
): Promise<void> {
  const apiVersion = of.group === '' ? 'v1' : `${of.group}/v1`
  await plane.create(of, { kind, apiVersion, metadata: { name: 'web', namespace: 'default' }, spec } as never)
}

async function change(plane: ControlPlaneInMemory, of: { group: string; resource: string }, spec: Spec): Promise<void> {
  const client = await plane.client(of, 'default')
  await client.updateWithRetries(named('web'), (object: KubeObject & { spec?: Spec }) => {
    object.spec = { ...object.spec, ...spec }
  })
}

interface Scenario {
  readonly name: string
  readonly of: { group: string; resource: string }
  /** What is there before, and at rest. */
  before?(plane: ControlPlaneInMemory): Promise<void>
  act(plane: ControlPlaneInMemory): Promise<void>
  readonly ends: Spec
}

const scenarios: readonly Scenario[] = [
  {
    name: 'a rollout of a Deployment',
    of: DEPLOYMENTS,
    before: (plane) => create(plane, DEPLOYMENTS, 'Deployment', selecting({ replicas: 3 })),
    act: (plane) => change(plane, DEPLOYMENTS, { template: template('web:2') }),
    ends: { replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
  },
  {
    name: 'a Job of three pods, two at once',
    of: JOBS,
    act: (plane) =>
      create(plane, JOBS, 'Job', {
        completions: 3,
        parallelism: 2,
        completionMode: 'Indexed',
        template: template('web:1', { restartPolicy: 'Never' }),
      }),
    ends: { succeeded: 3, completedIndexes: '0-2' },
  },
  {
    name: 'a StatefulSet that gets another template and another pod',
    of: STATEFUL_SETS,
    before: (plane) => create(plane, STATEFUL_SETS, 'StatefulSet', selecting({ replicas: 2, serviceName: 'web' })),
    act: (plane) => change(plane, STATEFUL_SETS, { template: template('web:2'), replicas: 3 }),
    ends: { replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
  },
  {
    name: 'a DaemonSet that gets another template',
    of: DAEMON_SETS,
    before: (plane) => create(plane, DAEMON_SETS, 'DaemonSet', selecting({})),
    act: (plane) => change(plane, DAEMON_SETS, { template: template('web:2') }),
    ends: { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 },
  },
]

async function begun({ before }: Scenario): Promise<ControlPlaneInMemory> {
  const plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  for (const name of ['left', 'right']) {
    const metadata = { name, labels: { 'kedge.dev/simulated': 'true' } }
    await plane.create(NODES, { kind: 'Node', apiVersion: 'v1', metadata })
  }
  await before?.(plane)
  for (let second = 0; second < SECONDS; second++) await plane.pass(1_000)
  withLives(plane)
  return plane
}

type Seen = KubeObject & { readonly spec?: Spec & { nodeName?: string }; readonly status?: Spec }

/** What there is, but for names that are made, and times. */
async function endState(plane: ControlPlaneInMemory, { of, ends }: Scenario) {
  const list = async (what: typeof PODS) => (await (await plane.client(what, 'default')).list()) as Seen[]
  const [owner] = await list(of)
  const pods = await list(PODS)
  const addresses = pods.flatMap(({ status }) => (status?.['phase'] === 'Running' ? (status['podIP'] ?? 'none') : []))
  return {
    status: Object.fromEntries(Object.keys(ends).map((field) => [field, owner?.status?.[field]])),
    pods: pods
      .map(({ spec, status }) => `${status?.['phase']} ${JSON.stringify(spec?.['containers']).match(/web:\d/)?.[0]}`)
      .toSorted(),
    hasSharedAddress: new Set(addresses).size !== addresses.length || addresses.includes('none'),
    sets: (await list(REPLICA_SETS)).map(({ spec }) => spec?.['replicas']).toSorted(),
  }
}

test.each(scenarios)('$name comes to the same end wherever the object ends', { timeout: 600_000 }, async (scenario) => {
  const whole = await begun(scenario)
  await scenario.act(whole)
  const uninterrupted: Life = { calls: 0, endsAt: Infinity }
  await pass(whole, SECONDS, uninterrupted)
  const expected = await endState(whole, scenario)
  expect(expected).toMatchObject({ status: scenario.ends, hasSharedAddress: false })
  const others: unknown[] = []
  let ends = 0
  for (let endsAt = 0; endsAt < uninterrupted.calls; endsAt += STRIDE) {
    const plane = await begun(scenario)
    await scenario.act(plane)
    const life: Life = { calls: 0, endsAt }
    await pass(plane, SECONDS, life).catch(() => {})
    if (life.calls > endsAt) ends++
    forgetAll()
    await pass(plane, SECONDS, { calls: 0, endsAt: Infinity })
    const state = await endState(plane, scenario)
    if (JSON.stringify(state) !== JSON.stringify(expected)) others.push({ endsAt, state })
  }
  expect(others).toEqual([])
  expect(ends).toBeGreaterThan(1)
})
