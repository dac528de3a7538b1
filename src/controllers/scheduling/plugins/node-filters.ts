/** Filters by the node itself: NodeUnschedulable, NodeName, TaintToleration, NodePorts. */
import type { FilterPlugin, ScorePlugin } from '../framework.ts'
import { forGood, forNow } from '../framework.ts'
import { smallestIsBest } from '../normalize.ts'
import { tolerates, untolerated } from '../taints.ts'

const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

export const nodeUnschedulable: FilterPlugin = {
  name: 'NodeUnschedulable',
  begin({ pod }) {
    if ((pod.spec?.tolerations ?? []).some((toleration) => tolerates(toleration, UNSCHEDULABLE))) return undefined
    const refusal = forGood('node(s) were unschedulable')
    return { refuses: ({ node }) => (node.spec?.unschedulable === true ? refusal : undefined) }
  },
}

/** A pod that names its node is not the scheduler's; the plug-in is here for its name. */
export const nodeName: FilterPlugin = { name: 'NodeName', begin: () => undefined }

export const taintToleration: FilterPlugin & ScorePlugin = {
  name: 'TaintToleration',
  begin({ pod }) {
    const tolerations = pod.spec?.tolerations
    const refusal = forGood('node(s) had untolerated taint(s)')
    return {
      refuses: ({ node: { spec } }) =>
        spec?.taints === undefined || untolerated(spec.taints, tolerations, ['NoSchedule', 'NoExecute']).length === 0
          ? undefined
          : refusal,
    }
  },
  score({ pod }, nodes) {
    const tolerations = (pod.spec?.tolerations ?? []).filter(({ effect = '' }) => effect === '' || effect === SOFT)
    return smallestIsBest(nodes.map(({ node }) => untolerated(node.spec?.taints, tolerations, [SOFT]).length))
  },
}

const SOFT = 'PreferNoSchedule'

export const nodePorts: FilterPlugin = {
  name: 'NodePorts',
  begin({ info: { ports } }) {
    if (ports.length === 0) return undefined
    const refusal = forNow("node(s) didn't have free ports for the requested pod ports")
    return { refuses: (node) => (ports.some((port) => node.isPortTaken(port)) ? refusal : undefined) }
  },
}
