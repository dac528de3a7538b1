/**
 * The same scenarios on Kedge with nothing beside it, and on kube-apiserver with kube-controller-manager, kube-scheduler
 * and simulated kubelets, whose states after each step are recorded: both have to be the same.
 *
 * To record anew: DIFFERENTIAL_RECORD=KUBECONFIG vitest run --config test/differential/vitest.config.ts, with a
 * kubeconfig (as JSON, with a token) of an administrator of a control plane without nodes. One scenario alone:
 * DIFFERENTIAL_ONLY=NAME; of every five one: DIFFERENTIAL_SHARE=5. Events come late where requests are held back, so
 * kube-controller-manager and kube-scheduler are to have --kube-api-qps=1000 --kube-api-burst=2000.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { findKubectlOrNot } from '../clients/kubectl/kubectl.ts'
import { Cluster, atOnce, pause } from './cluster.ts'
import { Kubelets } from './kubelets.ts'
import { serveMetrics } from './metrics.ts'
import { NODES, prepareNodes } from './nodes.ts'
import type { State } from './normal-form.ts'
import type { Recordings } from './recordings.ts'
import { readRecordings, writeRecordings } from './recordings.ts'
import type { Scenario } from './scenario.ts'
import { actionsOf } from './scenario.ts'
import { areas } from './scenarios/index.ts'

const RECORD = process.env['DIFFERENTIAL_RECORD']
const ONLY = process.env['DIFFERENTIAL_ONLY']
/** Each so many's scenario of an area. */
const SHARE = Number(process.env['DIFFERENTIAL_SHARE'] ?? 1)
const AT_ONCE = RECORD === undefined ? 8 : 16
const WAIT_MS = 90_000
const RUN = Date.now().toString(36)

type Recording = readonly State[]

let kedge: KedgeProcess | undefined
let kubelets: Kubelets | undefined
let stopMetrics: (() => void) | undefined
let cluster: Cluster
beforeAll(async () => {
  if (RECORD === undefined)
    kedge = await startKedge([
      '--ephemeral',
      '--port',
      '0',
      '--workloads',
      'simulated',
      '--nodes',
      String(NODES.length),
    ])
  cluster = new Cluster(RECORD ?? kedge?.kubeconfig ?? '')
  if (RECORD !== undefined) {
    await (kubelets = new Kubelets(cluster)).run(NODES)
    stopMetrics = await serveMetrics(cluster)
  }
  await prepareNodes(cluster)
})
afterAll(async () => {
  kubelets?.stop()
  stopMetrics?.()
  cluster.close()
  await kedge?.stop()
})

/** The state once it has not changed for a while. */
async function settled(scenario: Scenario, namespace: string): Promise<State> {
  const quiet = (scenario.quietSeconds ?? 5) * 1000
  let known = ''
  let since = Date.now()
  const began = since
  for (;;) {
    const state = await cluster.state(namespace, scenario)
    const text = JSON.stringify(state)
    if (text !== known) [known, since] = [text, Date.now()]
    if (Date.now() - since > quiet) return state
    if (Date.now() - began > 180_000) throw new Error(`${scenario.name} does not settle`)
    await pause(300)
  }
}

/** The state when it is as expected, or where it stays when it has had the time. */
async function stateLike(expected: State, scenario: Scenario, namespace: string): Promise<State> {
  const began = Date.now()
  for (;;) {
    const state = await cluster.state(namespace, scenario)
    if (JSON.stringify(state) === JSON.stringify(expected) || Date.now() - began > WAIT_MS) return state
    await pause(250)
  }
}

/** What came of each step; after a step that is not as recorded the others are not tried. */
async function play(scenario: Scenario, namespace: string, recording: Recording | undefined): Promise<Recording> {
  await cluster.begin(namespace, scenario)
  const states: State[] = []
  try {
    for (const step of scenario.steps) {
      for (const action of actionsOf(step)) await cluster.act(action, namespace)
      const expected = recording?.[states.length]
      const state = await (expected === undefined
        ? settled(scenario, namespace)
        : stateLike(expected, scenario, namespace))
      states.push(state)
      if (expected !== undefined && JSON.stringify(state) !== JSON.stringify(expected)) break
    }
  } finally {
    await cluster.end(namespace, scenario)
  }
  return states
}

/** The namespaces of scenarios that are still there when all have had the time to go. */
async function left(): Promise<readonly string[]> {
  const began = Date.now()
  for (;;) {
    const names = (await cluster.namespaces()).filter((name) => name.endsWith(`-${RUN}`))
    if (names.length === 0 || Date.now() - began > WAIT_MS) return names
    await pause(500)
  }
}

const isWanted = ({ name }: Scenario, index: number): boolean =>
  index % SHARE === 0 && (ONLY === undefined || name.includes(ONLY))
const hasKubectl = findKubectlOrNot().kubectl !== undefined
const usesKubectl = ({ steps }: Scenario): boolean => steps.flatMap(actionsOf).some((action) => 'kubectl' in action)

describe.each(Object.entries(areas).filter(([, all]) => all.some(isWanted)))('%s', (area, all) => {
  const scenarios = all.filter(isWanted)
  const results = new Map<string, Recording | Error>()
  const namespaceOf = (scenario: Scenario) => `${area}-${all.indexOf(scenario)}-${RUN}`
  const known = (): Recordings => {
    try {
      return readRecordings(area)
    } catch (error) {
      if (RECORD !== undefined) return {}
      throw error
    }
  }

  beforeAll(async () => {
    const expected = known()
    const run = async (scenario: Scenario): Promise<void> => {
      const recording = RECORD === undefined ? expected[scenario.name] : undefined
      const played = await play(scenario, namespaceOf(scenario), recording).catch((error: unknown) => error as Error)
      results.set(scenario.name, played)
    }
    const comparable = scenarios.filter(({ differs }) => RECORD !== undefined || differs === undefined)
    const playable = comparable.filter((scenario) => hasKubectl || !usesKubectl(scenario))
    const withOthers = playable.filter(({ isAlone }) => isAlone !== true)
    const alone = playable.filter(({ isAlone }) => isAlone === true)
    await atOnce(withOthers, AT_ONCE, run)
    for (const scenario of alone) {
      if (scenario.needsEmptyNodes === true) await left()
      await run(scenario)
    }
    if (RECORD === undefined) return
    const recorded: Record<string, Recording> = { ...expected }
    for (const [name, result] of results) if (!(result instanceof Error)) recorded[name] = result
    const inOrder = all.flatMap(({ name }) => (recorded[name] === undefined ? [] : [[name, recorded[name]] as const]))
    writeRecordings(area, Object.fromEntries(inOrder))
  }, 1_800_000)

  test.for(scenarios.map((scenario) => [scenario.name, scenario] as const))('%s', ([name, scenario], { skip }) => {
    skip(!hasKubectl && usesKubectl(scenario), 'there is no kubectl')
    skip(RECORD === undefined && scenario.differs !== undefined, scenario.differs)
    const result = results.get(name)
    if (result instanceof Error) throw result
    const expected = known()[name]
    expect(expected, 'there is no recording').toBeDefined()
    for (const [index, state] of (result ?? []).entries())
      expect(state, `after step ${index + 1} of ${scenario.steps.length}`).toEqual(expected?.[index])
    expect(result).toHaveLength(scenario.steps.length)
  })
})

test.skipIf(RECORD !== undefined)(
  'the namespaces of all scenarios go, for nothing in them waits for ever',
  async () => expect(await left()).toEqual([]),
  2 * WAIT_MS,
)
