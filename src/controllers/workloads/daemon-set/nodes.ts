/**
 * The nodes of a DaemonSet's pods, and the affinity that binds each pod to its node (kube-controller-manager's
 * daemonset utilities).
 */
import type { DaemonSet } from '../../../api/apps/v1.ts'
import type { Affinity, Node, Pod, PodSpec, PodTemplateSpec, Toleration } from '../../../api/core/v1.ts'
import { cloneJson } from '../../../json/clone-json.ts'
import { ownValue } from '../../../base/own.ts'
import { isWanted } from '../../scheduling/node-selector.ts'
import { untolerated } from '../../scheduling/taints.ts'
import { REVISION_HASH } from '../templates/revisions.ts'

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'
const GENERATION_LABEL = 'pod-template-generation'

const tolerated = (key: string, effect: string): Toleration => ({ key, operator: 'Exists', effect })

/** The taints that every pod of a DaemonSet tolerates. */
const always: readonly Toleration[] = [
  tolerated('node.kubernetes.io/not-ready', 'NoExecute'),
  tolerated('node.kubernetes.io/unreachable', 'NoExecute'),
  tolerated('node.kubernetes.io/disk-pressure', 'NoSchedule'),
  tolerated('node.kubernetes.io/memory-pressure', 'NoSchedule'),
  tolerated('node.kubernetes.io/pid-pressure', 'NoSchedule'),
  tolerated('node.kubernetes.io/unschedulable', 'NoSchedule'),
]
const onHostNetwork = tolerated('node.kubernetes.io/network-unavailable', 'NoSchedule')

const isSame = (a: Toleration, b: Toleration): boolean =>
  a.key === b.key && a.effect === b.effect && a.operator === b.operator && (a.value ?? '') === (b.value ?? '')

function tolerationsOf({ tolerations = [], hostNetwork }: PodSpec): Toleration[] {
  const wanted = hostNetwork === true ? [...always, onHostNetwork] : always
  // few: seven are wanted
  const own = tolerations.map((toleration) => wanted.find((one) => isSame(one, toleration)) ?? toleration)
  // few: as above
  return [...own, ...wanted.filter((one) => !tolerations.some((toleration) => isSame(one, toleration)))]
}

export interface Eligible {
  /** Whether the node gets a pod. */
  readonly runs: boolean
  /** Whether an existing pod may stay on the node. */
  readonly stays: boolean
}

export function eligible({ spec }: DaemonSet, node: Node): Eligible {
  const pod = spec?.template?.spec ?? {}
  const { nodeName = '' } = pod
  const isMeant = nodeName === '' || nodeName === node.metadata.name
  if (!isMeant || !isWanted(pod, node)) return { runs: false, stays: false }
  const hasTaint = (...effects: readonly string[]) =>
    untolerated(node.spec?.taints, tolerationsOf(pod), effects).length > 0
  if (!hasTaint('NoExecute', 'NoSchedule')) return { runs: true, stays: true }
  return { runs: false, stays: !hasTaint('NoExecute') }
}

/** The number of the template in extensions/v1beta1, which is deprecated. */
function templateGeneration({ metadata }: DaemonSet): string | undefined {
  const text = ownValue(metadata.annotations, TEMPLATE_GENERATION)
  return text !== undefined && /^[+-]?\d{1,18}$/.test(text) ? String(Number(text)) : undefined
}

/** The pod template for a node. Its affinity makes the scheduler bind the pod to that node. */
export function templateFor(set: DaemonSet, hash: string, node: string): PodTemplateSpec {
  const { metadata, spec = {} } = set.spec?.template ?? {}
  const generation = templateGeneration(set)
  return cloneJson({
    metadata: {
      ...metadata,
      labels: {
        ...metadata?.labels,
        ...(generation === undefined ? {} : { [GENERATION_LABEL]: generation }),
        [REVISION_HASH]: hash,
      },
    },
    spec: { ...spec, tolerations: tolerationsOf(spec), affinity: affinityTo(spec.affinity, node) },
  })
}

const NODE_NAME = 'metadata.name'

const affinityTo = (affinity: Affinity | undefined, node: string): Affinity => ({
  ...affinity,
  nodeAffinity: {
    ...affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [{ key: NODE_NAME, operator: 'In', values: [node] }] }],
    },
  },
})

/** The node that a pod is bound to, or that its affinity names; undefined where it has neither. */
export function targetNode({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? [])
    for (const { key, operator, values = [] } of matchFields)
      if (key === NODE_NAME && operator === 'In') return values.length === 1 ? values[0] : undefined
  return undefined
}

/** Whether the pod has the set's current template. */
export function isUpdated(set: DaemonSet, { metadata }: Pod, hash: string): boolean {
  const generation = templateGeneration(set)
  return (
    (hash !== '' && ownValue(metadata.labels, REVISION_HASH) === hash) ||
    (generation !== undefined && ownValue(metadata.labels, GENERATION_LABEL) === generation)
  )
}
