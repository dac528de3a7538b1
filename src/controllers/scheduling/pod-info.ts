/** A pod as the scheduler sees it. It computes once the values that plug-ins read often. */
import type { Container, Pod, PodAffinityTerm, Toleration, WeightedPodAffinityTerm } from '../../api/core/v1.ts'
import { charactersOf } from '../../base/bounded-map.ts'
import { ownValue } from '../../base/own.ts'
import { podAmounts } from '../../registry/quota/pod-resources.ts'
import { controllerRefOf } from '../../registry/work/work.ts'
import { Quantity } from '../../schema/quantity.ts'
import type { LabelRequirement } from '../../storage/selectors/selection.ts'
import { matchesLabels } from '../../storage/selectors/selection.ts'
import { claimNamesOf } from '../volumes/matching.ts'
import { requirementsOf } from '../workloads/pods/pod-control.ts'
import type { CsiVolume } from './csi-volume.ts'
import { inlineVolumesOf } from './csi-volume.ts'
import type { Disk } from './disks.ts'
import { disksOf } from './disks.ts'
import { podCondition } from '../workloads/pods/pod-state.ts'
import { weightOf } from './cycle-work.ts'
import { ANY_ADDRESS } from './host-ports.ts'
import { Tolerations } from './taints.ts'

/** Amounts by resource: thousandths of a core for cpu, whole units for everything else. */
export type Needs = ReadonlyMap<string, number>

export function amountOf(name: string, quantity: Quantity): number {
  const amount = name === 'cpu' ? quantity.milliValue() : quantity.value()
  return Math.max(-MOST_OF_A_RESOURCE, Math.min(amount, MOST_OF_A_RESOURCE))
}

/** An int64 holds no more. A quantity may say more than any number, and scores divide by amounts. */
const MOST_OF_A_RESOURCE = 2 ** 63

/** A container without requests counts as one with these small requests in scores. */
const LITTLE = { cpu: '100m', memory: String(200 * 1024 * 1024) }

/** Labels of a namespace by its name. */
export type NamespaceLabels = (namespace: string) => Readonly<Record<string, string>>

/** A term of inter-pod affinity, of a pod in `namespace`. */
export class Term {
  readonly topologyKey: string
  /** All that the term says. */
  readonly text: string
  private readonly selector: readonly LabelRequirement[] | undefined
  private readonly names: ReadonlySet<string>
  private readonly namespaceSelector: readonly LabelRequirement[] | undefined

  constructor(
    { topologyKey = '', labelSelector, namespaces = [], namespaceSelector }: PodAffinityTerm,
    namespace: string,
    readonly weight = 0,
  ) {
    this.topologyKey = topologyKey
    this.selector = labelSelector && requirementsOf(labelSelector)
    this.namespaceSelector = namespaceSelector && requirementsOf(namespaceSelector)
    this.text = JSON.stringify([topologyKey, labelSelector, namespaces, namespaceSelector, namespace, weight])
    this.names = new Set(namespaces.length === 0 && namespaceSelector === undefined ? [namespace] : namespaces)
  }

  /** Whether the term selects the pod. Where it selects namespaces by labels, these are not compared. */
  maySelect({ namespace, labels }: PodInfo): boolean {
    if (this.selector === undefined || !matchesLabels(this.selector, labels)) return false
    return this.namespaceSelector !== undefined || this.names.has(namespace)
  }

  selects({ namespace, labels }: PodInfo, namespaces: NamespaceLabels): boolean {
    if (this.selector === undefined || !matchesLabels(this.selector, labels)) return false
    return (
      this.names.has(namespace) ||
      (this.namespaceSelector !== undefined && matchesLabels(this.namespaceSelector, namespaces(namespace)))
    )
  }
}

export interface Terms {
  readonly requiredAffinity: readonly Term[]
  readonly requiredAntiAffinity: readonly Term[]
  readonly preferredAffinity: readonly Term[]
  readonly preferredAntiAffinity: readonly Term[]
}

const NO_TERMS: Terms = {
  requiredAffinity: [],
  requiredAntiAffinity: [],
  preferredAffinity: [],
  preferredAntiAffinity: [],
}

function termsOf({ metadata: { namespace = '' }, spec }: Pod): Terms {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {}
  if (podAffinity === undefined && podAntiAffinity === undefined) return NO_TERMS
  const required = (terms: readonly PodAffinityTerm[] = []) => terms.map((term) => new Term(term, namespace))
  const preferred = (terms: readonly WeightedPodAffinityTerm[] = []) =>
    terms.map(({ weight, podAffinityTerm = {} }) => new Term(podAffinityTerm, namespace, weight))
  return {
    requiredAffinity: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    requiredAntiAffinity: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferredAffinity: preferred(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAntiAffinity: preferred(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
  }
}

/** The size of a pod's names and of the fields that every pod has. */
const LEAST = 500

export class PodInfo {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly labels: Readonly<Record<string, string>>
  readonly priority: number
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Milliseconds since 1970; Infinity for a pod that has not started. */
  readonly startTime: number
  readonly isTerminating: boolean
  /** Whether the pod is being deleted because a scheduler preempted it. */
  readonly isPreempted: boolean
  readonly needs: Needs
  /** Requests of cpu and memory, with a small default for each container without any. */
  readonly nonZero: { readonly cpu: number; readonly memory: number }
  /**
   * Like `nonZero`, without the pod's own resources: kube-scheduler 1.36 leaves these out of the score of
   * NodeResourcesFit, for the pod that looks for a node alone.
   */
  readonly scored: { readonly cpu: number; readonly memory: number }
  readonly ports: readonly string[]
  readonly terms: Terms
  readonly nominatedNode: string
  /** Names of the PersistentVolumeClaims that the pod mounts. */
  readonly claims: readonly string[]
  readonly inlineVolumes: readonly CsiVolume[]
  readonly disks: readonly Disk[]
  readonly ownerUid: string | undefined
  private readonly listed: readonly Toleration[] | undefined
  private indexed: Tolerations | undefined
  /** Characters of the rules that a cycle compares with other pods and with nodes. */
  readonly rules: number
  /** Characters, or the number of characters that take as much memory. */
  readonly length: number

  constructor(pod: Pod) {
    const { metadata, spec = {}, status = {} } = pod
    this.namespace = metadata.namespace ?? ''
    this.name = metadata.name ?? ''
    this.uid = metadata.uid ?? `${this.namespace}/${this.name}`
    this.labels = metadata.labels ?? {}
    this.priority = spec.priority ?? 0
    this.createdAt = Date.parse(metadata.creationTimestamp ?? '') || 0
    this.startTime = status.startTime === undefined ? Infinity : Date.parse(status.startTime)
    this.isTerminating = metadata.deletionTimestamp !== undefined
    const disruption = podCondition(pod, 'DisruptionTarget')
    this.isPreempted =
      this.isTerminating && disruption?.status === 'True' && disruption.reason === 'PreemptionByScheduler'
    this.needs = needsOf(pod)
    this.nonZero = nonZeroOf(pod, this.needs)
    this.scored = scoredOf(pod, this.nonZero)
    this.ports = hostPorts(pod)
    this.terms = termsOf(pod)
    this.nominatedNode = status.nominatedNodeName ?? ''
    this.claims = claimNamesOf(pod)
    this.inlineVolumes = inlineVolumesOf(pod)
    this.disks = disksOf(pod)
    this.ownerUid = controllerRefOf(pod)?.uid
    this.listed = spec.nodeName ? undefined : spec.tolerations
    this.rules = charactersOf([spec.affinity, spec.topologySpreadConstraints, spec.nodeSelector])
    const { labels, ports, claims, inlineVolumes, disks, terms } = this
    this.length = LEAST + charactersOf([labels, ports, claims, inlineVolumes, disks, terms])
  }

  /** Only for a pod without a node. */
  get tolerations(): Tolerations {
    return (this.indexed ??= new Tolerations(this.listed))
  }

  /** All by which changes of pods are judged: pods of one kind change the same for others. */
  get kind(): string {
    const { requiredAntiAffinity } = this.terms
    return JSON.stringify([
      this.namespace,
      this.labels,
      this.isTerminating,
      this.ports,
      [...this.needs],
      requiredAntiAffinity.map(({ text }) => text),
    ])
  }

  /** Comparisons to apply all of the pod's terms to another pod. */
  get termsWeight(): number {
    return this.terms === NO_TERMS ? 1 : weightOf(this.rules)
  }
}

export function needsOf(pod: Pod): Needs {
  return new Map([...podAmounts(pod, 'requests', true)].map(([name, quantity]) => [name, amountOf(name, quantity)]))
}

function nonZeroOf(pod: Pod, needs: Needs): { cpu: number; memory: number } {
  const own = pod.spec?.resources?.requests ?? {}
  const isOwn = Object.keys(own).length > 0
  const defaults = Object.entries(LITTLE).filter(([name]) => !isOwn || !needs.has(name))
  const all = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])]
  const asksForAll = ({ resources }: Container) =>
    // few: cpu and memory
    defaults.every(([name]) => ownValue(resources?.requests, name) !== undefined)
  const isComplete = all.every(asksForAll)
  const of = (amounts: Needs) => ({ cpu: amounts.get('cpu') ?? 0, memory: amounts.get('memory') ?? 0 })
  if (isComplete) return of(needs)
  const filled = (container: Container): Container => ({
    ...container,
    resources: {
      ...container.resources,
      requests: { ...Object.fromEntries(defaults), ...container.resources?.requests },
    },
  })
  const { containers = [], initContainers = [], ...spec } = pod.spec ?? {}
  return of(
    needsOf({
      ...pod,
      spec: { ...spec, containers: containers.map(filled), initContainers: initContainers.map(filled) },
    }),
  )
}

function scoredOf(pod: Pod, nonZero: PodInfo['nonZero']): PodInfo['scored'] {
  if (pod.spec?.resources === undefined) return nonZero
  const { resources: _, ...spec } = pod.spec
  const ofContainers = { ...pod, spec }
  return nonZeroOf(ofContainers, needsOf(ofContainers))
}

/** `ADDRESS PROTOCOL PORT` of the pod's containers and sidecars. */
export function hostPorts({ spec }: Pod): string[] {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  return [...(spec?.containers ?? []), ...sidecars].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, hostIP, protocol = 'TCP' }) =>
      hostPort === 0 ? [] : [`${hostIP || ANY_ADDRESS} ${protocol} ${hostPort}`],
    ),
  )
}
