// A cycle goes in steps, however much it compares: other requests run between two of them.
import { describe, expect, test } from 'vitest'
import type { Node, Pod, PodAffinityTerm, PodSpec } from '../../../src/api/core/v1.ts'
import type { Steps } from '../../../src/base/slices.ts'
import { defaultScheduler } from '../../../src/configuration/scheduler/configuration.ts'
import { CycleWork } from '../../../src/controllers/scheduling/cycle-work.ts'
import { DeviceFacts } from '../../../src/controllers/scheduling/devices/device-facts.ts'
import { RunningTerms } from '../../../src/controllers/scheduling/running-terms.ts'
import { NodeState } from '../../../src/controllers/scheduling/node-state.ts'
import { PodInfo } from '../../../src/controllers/scheduling/pod-info.ts'
import { preempt } from '../../../src/controllers/scheduling/preemption.ts'
import { profileOf } from '../../../src/controllers/scheduling/profile.ts'
import { choose, Filters } from '../../../src/controllers/scheduling/schedule.ts'
import { VolumeFacts } from '../../../src/controllers/scheduling/volume-facts.ts'

/** Comparisons of a step, and of the last item in it. */
const MOST = 5_000

const node = (at: number, pods: readonly Pod[] = [], more: Partial<Node> = {}): NodeState => {
  const name = `n${at}`
  const state = new NodeState({
    metadata: { name, labels: { host: name, zone: `z${at % 3}` } },
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '1000' } },
    ...more,
  })
  for (const [i, pod] of pods.entries())
    state.add(new PodInfo({ ...pod, metadata: { ...pod.metadata, name: `${name}-${i}`, uid: `${name}-${i}` } }))
  return state
}

const pod = (spec: PodSpec = {}, app = 'web'): Pod => ({
  metadata: { name: 'p', uid: 'p', namespace: 'default', labels: { app } },
  spec: { containers: [{ name: 'c' }], ...spec },
})

const times = <T>(count: number, of: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => of(at))

/** Runs all steps, and returns how many there were. */
function run<T>(steps: Steps<T>, work: CycleWork): { result: T; count: number } {
  let before = work.total
  let count = 0
  for (;;) {
    const { done, value } = steps.next(true)
    expect(work.total - before).toBeLessThan(MOST)
    before = work.total
    count++
    if (done === true) return { result: value, count }
  }
}

function cycleOf(wanted: Pod, nodes: readonly NodeState[], volumes = new VolumeFacts()) {
  const byName = new Map(nodes.map((one) => [one.name, one]))
  const work = new CycleWork()
  return {
    nodes,
    node: (name: string) => byName.get(name),
    terms: RunningTerms.of(nodes),
    namespaces: () => ({}),
    defaultSelector: () => undefined,
    unmade: () => undefined,
    volumes,
    devices: new DeviceFacts(),
    pod: wanted,
    info: new PodInfo(wanted),
    claims: undefined,
    work,
  }
}

const term = (app: string, topologyKey = 'host'): PodAffinityTerm => ({
  topologyKey,
  labelSelector: { matchLabels: { app } },
})
const profile = profileOf(defaultScheduler.profiles[0]!)

/** Tries a pod, and returns the steps of the whole cycle. */
function cycle(wanted: Pod, nodes: readonly NodeState[]): { outcome: string; count: number } {
  const of = cycleOf(wanted, nodes)
  const begun = run(Filters.begin(profile, of), of.work)
  const chosen = run(choose(begun.result), of.work)
  const count = begun.count + chosen.count
  if ('node' in chosen.result) return { outcome: chosen.result.node.name, count }
  const { result, count: more } = run(preempt(begun.result, chosen.result, wanted, []), of.work)
  return { outcome: 'message' in result ? result.message : result.node.name, count: count + more }
}

describe('a cycle goes in steps', () => {
  const required = times(50, (at) => term(`app${at}`))
  const apart = pod({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } })
  const preferred = required.map((podAffinityTerm) => ({ weight: 1, podAffinityTerm }))
  const preferring = pod({ affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } })
  /** With terms that no other pod has. */
  const of = (at: number, { metadata, ...one }: Pod): Pod => ({
    ...one,
    metadata: { ...metadata, namespace: `n${at}` },
  })
  const small = pod({ priority: 1, containers: [{ name: 'c', resources: { requests: { cpu: '100m' } } }] })
  const large = pod({ priority: 9, containers: [{ name: 'c', resources: { requests: { cpu: '3' } } }] })
  const spread = { maxSkew: 1, topologyKey: 'host', whenUnsatisfiable: 'DoNotSchedule' as const }
  const spreading = {
    ...large.spec,
    topologySpreadConstraints: [{ ...spread, labelSelector: { matchLabels: { app: 'web' } } }],
  }

  test.each<[string, Pod, readonly NodeState[], number]>([
    ['past terms of pods that run', pod(), times(500, (at) => node(at, [of(at, apart), apart])), 5],
    ['past preferences of pods that run', pod(), times(500, (at) => node(at, [of(at, preferring), preferring])), 5],
    [
      'past pods that its terms may select',
      apart,
      times(500, (at) =>
        node(
          at,
          times(20, () => pod()),
        ),
      ),
      50,
    ],
    ['past nodes', pod(), times(5_000, (at) => node(at)), 5],
    [
      'past candidates for preemption',
      large,
      times(100, (at) =>
        node(
          at,
          times(40, () => small),
        ),
      ),
      5,
    ],
    [
      'past the domains of a spread',
      pod(spreading),
      times(500, (at) =>
        node(
          at,
          times(40, () => small),
        ),
      ),
      10,
    ],
  ])('%s', (_, wanted, nodes, least) => {
    expect(cycle(wanted, nodes).count).toBeGreaterThan(least)
  })
})
