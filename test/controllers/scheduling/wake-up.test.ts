// Which changes of nodes make the scheduler try a refused pod again, as kube-scheduler's queueing hints have it.
import { describe, expect, test } from 'vitest'
import type { Node, Pod, PodSpec } from '../../../src/api/core/v1.ts'
import { defaultScheduler } from '../../../src/configuration/scheduler/configuration.ts'
import { NodeState } from '../../../src/controllers/scheduling/node-state.ts'
import { PodInfo } from '../../../src/controllers/scheduling/pod-info.ts'
import { profileOf } from '../../../src/controllers/scheduling/profile.ts'
import { changesOf, isHelped } from '../../../src/controllers/scheduling/wake-up.ts'

interface Given {
  readonly labels?: Readonly<Record<string, string>>
  readonly cpu?: string
  readonly declaredFeatures?: string[]
  readonly spec?: Node['spec']
  readonly conditions?: NonNullable<Node['status']>['conditions']
}

const node = ({ labels = {}, cpu = '4', spec = {}, conditions = [], declaredFeatures = [] }: Given = {}): NodeState =>
  new NodeState({
    metadata: { name: 'n', labels },
    spec,
    status: { allocatable: { cpu, memory: '8Gi', pods: '3' }, conditions, declaredFeatures },
  })

const pod = (spec: PodSpec = {}): Pod => ({
  metadata: { name: 'p', namespace: 'default' },
  spec: { containers: [{ name: 'c', resources: { requests: { cpu: '6' } } }], ...spec },
})

const { hints } = profileOf(defaultScheduler.profiles[0]!)
const tainted: Node['spec'] = { taints: [{ key: 'k', effect: 'NoSchedule' }] }
const wanting = pod({ nodeSelector: { disk: 'fast' } })
const fast = { labels: { disk: 'fast' } }

test.each<[what: string, refused: Pod, by: string, before: Given | undefined, now: Given, helped: boolean]>([
  ['a node that only says that it is alive', wanting, 'NodeAffinity', {}, { conditions: [{ type: 'Ready' }] }, false],
  ['a node of another label', wanting, 'NodeAffinity', {}, { labels: { disk: 'slow' } }, false],
  ['a node that gets the label', wanting, 'NodeAffinity', {}, fast, true],
  ['a node that had the label', wanting, 'NodeAffinity', fast, { labels: { ...fast.labels, more: 'x' } }, false],
  ['a new node without the label', wanting, 'NodeAffinity', undefined, {}, false],
  ['a new node with the label', wanting, 'NodeAffinity', undefined, fast, true],
  ['a node that gets another taint', wanting, 'TaintToleration', {}, { spec: tainted }, false],
  ['a node that loses its taint', wanting, 'TaintToleration', { spec: tainted }, {}, true],
  ['a change of taints, for a label', wanting, 'NodeAffinity', {}, { spec: tainted }, true],
  ['a node that is cordoned', wanting, 'NodeUnschedulable', {}, { spec: { unschedulable: true } }, false],
  ['a node that is cordoned no more', wanting, 'NodeUnschedulable', { spec: { unschedulable: true } }, {}, true],
  ['a node that gets more, and not enough', pod(), 'NodeResourcesFit', {}, { cpu: '5' }, false],
  ['a node that gets enough', pod(), 'NodeResourcesFit', {}, { cpu: '6' }, true],
  ['a node that is large and gets less', pod(), 'NodeResourcesFit', { cpu: '9' }, { cpu: '8' }, false],
  ['a new node that is too small', pod(), 'NodeResourcesFit', undefined, {}, false],
  ['a new node that is large', pod(), 'NodeResourcesFit', undefined, { cpu: '8' }, true],
  ['a change of labels, for a want of cpu', pod(), 'NodeResourcesFit', {}, fast, false],
  ['a change of labels, for domains', pod(), 'PodTopologySpread', {}, fast, true],
  ['a change of allocatable, for domains', pod(), 'PodTopologySpread', {}, { cpu: '8' }, false],
  ['a new node, for host ports', pod(), 'NodePorts', undefined, {}, true],
  ['a node that declares a feature', pod(), 'NodeDeclaredFeatures', {}, { declaredFeatures: ['A'] }, true],
  ['a change of labels, for a feature', pod(), 'NodeDeclaredFeatures', {}, fast, false],
  ['a change of a plug-in that nobody knows', pod(), 'Other', {}, fast, true],
])('%s', (_, refused, by, before, now, helped) => {
  const change = { before: before && node(before), now: node(now) }
  const happened = { events: new Set(changesOf(change)), nodes: [change], pods: [] }
  expect(isHelped({ pod: refused, info: new PodInfo(refused) }, new Set([by]), happened, hints)).toBe(helped)
})

describe('a pod on a node', () => {
  const labelSelector = { matchLabels: { app: 'web' } }
  const term = { topologyKey: 'zone', labelSelector }
  const required = { requiredDuringSchedulingIgnoredDuringExecution: [term] }
  const beside = pod({ affinity: { podAffinity: required } })
  const apart = pod({ affinity: { podAntiAffinity: required } })
  const maxSkew = 1
  const spread = pod({
    topologySpreadConstraints: [{ maxSkew, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector }],
  })
  const onPort = (hostPort: number) => pod({ containers: [{ name: 'c', ports: [{ containerPort: 1, hostPort }] }] })
  const labelled = (app: string, of: Pod = pod(), namespace = 'default'): Pod => ({
    ...of,
    metadata: { ...of.metadata, namespace, labels: { app } },
  })
  const asking = (cpu: string) => pod({ containers: [{ name: 'c', resources: { requests: { cpu } } }] })
  const goes = (of: Pod): Pod => ({ ...of, metadata: { ...of.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })
  const [web, other, web2] = [labelled('web'), labelled('other'), labelled('web', pod(), 'another')]

  test.each<[what: string, refused: Pod, by: string, before: Pod | undefined, now: Pod | undefined, helped: boolean]>([
    ['comes, and is wanted', beside, 'InterPodAffinity', undefined, web, true],
    ['comes, and is not wanted', beside, 'InterPodAffinity', undefined, other, false],
    ['comes, and is wanted in another namespace', beside, 'InterPodAffinity', undefined, web2, false],
    ['gets the wanted label', beside, 'InterPodAffinity', other, web, true],
    ['goes, and was the last of the group', beside, 'InterPodAffinity', web, undefined, true],
    ['comes, and is unwanted', apart, 'InterPodAffinity', undefined, web, false],
    ['goes, and was unwanted', apart, 'InterPodAffinity', web, undefined, true],
    ['goes, and was not unwanted', apart, 'InterPodAffinity', other, undefined, false],
    ['is unwanted no more', apart, 'InterPodAffinity', web, other, true],
    ['goes that did not want the pod', labelled('web'), 'InterPodAffinity', labelled('b', apart), undefined, true],
    ['goes that did not care', labelled('x'), 'InterPodAffinity', labelled('b', apart), undefined, false],
    ['comes to a domain', spread, 'PodTopologySpread', undefined, web, true],
    ['goes from a domain', spread, 'PodTopologySpread', web, undefined, true],
    ['comes that no constraint selects', spread, 'PodTopologySpread', undefined, other, false],
    ['comes to another namespace', spread, 'PodTopologySpread', undefined, web2, false],
    ['goes, and may have been counted by default', pod(), 'PodTopologySpread', other, undefined, true],
    ['frees the port', onPort(1), 'NodePorts', onPort(1), undefined, true],
    ['frees another port', onPort(1), 'NodePorts', onPort(2), undefined, false],
    ['frees resources', pod(), 'NodeResourcesFit', other, undefined, true],
    ['asks for less', pod(), 'NodeResourcesFit', asking('2'), asking('1'), true],
    ['asks for less of something else', onPort(1), 'NodeResourcesFit', asking('2'), asking('1'), false],
    ['frees nothing yet', pod(), 'NodeResourcesFit', other, goes(other), false],
  ])('%s', (_, refused, by, before, now, helped) => {
    const change = { before: before && new PodInfo(before), now: now && new PodInfo(now) }
    const event = before === undefined ? 'PodAssigned' : now === undefined ? 'AssignedPodGone' : 'AssignedPodChanged'
    const is = { pod: refused, info: new PodInfo(refused) }
    const happened = { events: new Set([event] as const), nodes: [], pods: [change] }
    expect(isHelped(is, new Set([by]), happened, hints)).toBe(helped)
    // where too many changed to tell them apart
    expect(isHelped(is, new Set([by]), { ...happened, pods: undefined }, hints)).toBe(
      helped || by !== 'NodePorts' || event === 'AssignedPodGone',
    )
  })
})
