// Which changes of nodes make the scheduler try a refused pod again, as kube-scheduler's queueing hints have it.
import { expect, test } from 'vitest'
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
  const happened = { events: new Set(changesOf(change)), nodes: [change] }
  expect(isHelped({ pod: refused, info: new PodInfo(refused) }, new Set([by]), happened, hints)).toBe(helped)
})
