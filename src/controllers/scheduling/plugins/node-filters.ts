/** What a node says of itself, and what a pod says of nodes: NodeUnschedulable, NodeName, TaintToleration, NodeAffinity, NodePorts. */
import type { NodeSelectorTerm } from '../../../api/core/v1.ts'
import type { FilterPlugin, Filtering, ScorePlugin } from '../framework.ts'
import { forGood, forNow } from '../framework.ts'
import { isWanted, matchesTerm } from '../node-selector.ts'
import { largestIsBest, smallestIsBest } from '../normalize.ts'
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
  weight: 3,
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

export const nodeAffinity: FilterPlugin & ScorePlugin = {
  name: 'NodeAffinity',
  weight: 2,
  begin({ pod: { spec = {} } }) {
    const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    if (required === undefined && spec.nodeSelector === undefined) return undefined
    const names = nodeNames(required?.nodeSelectorTerms ?? [])
    if (names?.size === 0) return forGood('pod affinity terms conflict')
    const elsewhere = forGood("node(s) didn't satisfy plugin(s) [NodeAffinity]")
    const refusal = forGood("node(s) didn't match Pod's node affinity/selector")
    return {
      refuses: ({ node, name }) =>
        names?.has(name) === false ? elsewhere : isWanted(spec, node) ? undefined : refusal,
    } satisfies Filtering
  },
  score({ pod }, nodes) {
    const preferred = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    if (preferred.length === 0) return undefined
    return largestIsBest(
      nodes.map(({ node }) =>
        preferred.reduce(
          (sum, { weight = 0, preference }) => sum + (preference && matchesTerm(preference, node) ? weight : 0),
          0,
        ),
      ),
    )
  },
}

/** The nodes that a pod names, where each of its terms names some; undefined: it may be others. */
function nodeNames(terms: readonly NodeSelectorTerm[]): ReadonlySet<string> | undefined {
  if (terms.length === 0) return undefined
  const names = new Set<string>()
  for (const { matchFields = [] } of terms) {
    let ofTerm: ReadonlySet<string> | undefined
    for (const { key, operator, values = [] } of matchFields)
      if (key === 'metadata.name' && operator === 'In') {
        const before = ofTerm
        ofTerm = new Set(values.filter((value) => before?.has(value) !== false))
      }
    if (ofTerm === undefined) return undefined
    for (const name of ofTerm) names.add(name)
  }
  return names
}

export const nodePorts: FilterPlugin = {
  name: 'NodePorts',
  begin({ info: { ports } }) {
    if (ports.length === 0) return undefined
    const refusal = forNow("node(s) didn't have free ports for the requested pod ports")
    return { refuses: (node) => (ports.some((port) => node.isPortTaken(port)) ? refusal : undefined) }
  },
}
