/** Filters that check the node itself: NodeUnschedulable, NodeName, TaintToleration, NodePorts. */
import type { PodSpec } from '../../../api/core/v1.ts'
import type { FilterPlugin, ScorePlugin } from '../framework.ts'
import { forGood, forNow } from '../framework.ts'
import { HostPorts } from '../host-ports.ts'
import type { NodeState } from '../node-state.ts'
import { smallestIsBest } from '../normalize.ts'
import { Tolerations } from '../taints.ts'
import { mostOf } from '../../../base/extremes.ts'

const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

export const nodeUnschedulable: FilterPlugin = {
  name: 'NodeUnschedulable',
  isHelpedBy: (_, { before, now }) =>
    now.node.spec?.unschedulable !== true && (before === undefined || before.node.spec?.unschedulable === true),
  *begin({ info }) {
    if (info.tolerations.tolerate(UNSCHEDULABLE)) return undefined
    const refusal = forGood('node(s) were unschedulable')
    return { refuses: ({ node }) => (node.spec?.unschedulable === true ? refusal : undefined) }
  },
}

/**
 * Features of kubelets that a pod needs to run, by the names under which nodes declare them (KEP-5328). Others matter
 * only for updates.
 */
const features: Readonly<Record<string, (spec: PodSpec) => boolean>> = {
  RestartAllContainersOnContainerExits: ({ containers = [], initContainers = [] }) =>
    [...containers, ...initContainers].some(({ restartPolicyRules = [] }) =>
      restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
    ),
  UserNamespacesHostNetworkSupport: ({ hostNetwork, hostUsers }) => hostNetwork === true && hostUsers === false,
}

export const nodeDeclaredFeatures: FilterPlugin = {
  name: 'NodeDeclaredFeatures',
  *begin({ pod: { spec = {} } }) {
    const needed = Object.keys(features).filter((name) => features[name]!(spec))
    if (needed.length === 0) return undefined
    const refusal = forGood("node(s) didn't match Pod's required features")
    return {
      refuses({ node }) {
        const declared = new Set(node.status?.declaredFeatures)
        return needed.every((name) => declared.has(name)) ? undefined : refusal
      },
    }
  },
}

/** The scheduler never handles a pod that names its node. This filter exists so that profiles can name it. */
export const nodeName: FilterPlugin = {
  name: 'NodeName',
  *begin() {
    return undefined
  },
}

export const taintToleration: FilterPlugin & ScorePlugin = {
  name: 'TaintToleration',
  isHelpedBy: ({ info: { tolerations } }, { before, now }) =>
    toleratesAllOf(now, tolerations) && (before === undefined || !toleratesAllOf(before, tolerations)),
  *begin({ info: { tolerations }, nodes, work }) {
    const refusal = forGood('node(s) had untolerated taint(s)')
    const counts = yield* work.map(nodes, ({ node }) => node.spec?.taints?.length ?? 0)
    return {
      weight: 1 + mostOf(counts, 0),
      refuses: (node) => (toleratesAllOf(node, tolerations) ? undefined : refusal),
    }
  },
  *score({ pod, work }, nodes) {
    const soft = (pod.spec?.tolerations ?? []).filter(({ effect = '' }) => effect === '' || effect === SOFT)
    const tolerations = new Tolerations(soft)
    const count = ({ node }: NodeState) => tolerations.untolerated(node.spec?.taints, [SOFT]).length
    return smallestIsBest(yield* work.map(nodes, count, ({ node }) => 1 + (node.spec?.taints?.length ?? 0)))
  },
}

const HARD = ['NoSchedule', 'NoExecute']

const toleratesAllOf = ({ node: { spec } }: NodeState, tolerations: Tolerations): boolean =>
  spec?.taints === undefined || tolerations.untolerated(spec.taints, HARD).length === 0

const SOFT = 'PreferNoSchedule'

export const nodePorts: FilterPlugin = {
  name: 'NodePorts',
  isHelpedByPod({ info }, { before }) {
    if (before === undefined) return false
    const freed = new HostPorts()
    freed.count(before.ports, 1)
    return info.ports.some((port) => freed.isTaken(port))
  },
  *begin({ info: { ports } }) {
    if (ports.length === 0) return undefined
    const refusal = forNow("node(s) didn't have free ports for the requested pod ports")
    return { refuses: (node) => (ports.some((port) => node.isPortTaken(port)) ? refusal : undefined) }
  },
}
