/** Warnings about pods: deprecated fields, and duplicates that override each other. */
import { append } from '../../base/append.ts'
import { Budget } from '../../base/budget.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldPath } from '../../api/field.ts'
import { goQuote } from '../../go/quote.ts'
import { path } from '../../api/field.ts'
import type { ObjectMeta } from '../../api/meta/v1.ts'
import { ownValue } from '../../base/own.ts'
import { flatMapParts, kept } from '../../base/parts.ts'
import { Quantity } from '../../schema/quantity.ts'
import { ipWarnings } from '../../api/ip-addresses.ts'
import { dns1123Label, labelValueProblems } from '../names.ts'
import { sameValue } from '../same-value.ts'
import { APP_ARMOR, appArmorOf, SECCOMP_CONTAINER, SECCOMP_POD } from './pod-annotations.ts'
import { overlappingPathWarnings } from './path-overlaps.ts'
import { simulationWarnings } from './simulation-annotations.ts'
import type { VisitedContainer } from './visit-containers.ts'
import { visitContainers } from './visit-containers.ts'

/** Warns about names of workloads that are invalid as host names, because pods use them. */
export function hostnameWarnings(name: string, what: string): string[] {
  const texts = dns1123Label(name)
  return texts.length === 0
    ? []
    : [
        `metadata.name: this is used in ${what}, which can result in surprising behavior; a DNS label is recommended: [${texts.join(' ')}]`,
      ]
}

export const templateWarnings = (at: FieldPath, { metadata = {}, spec = {} }: CoreV1.PodTemplateSpec): string[] =>
  warningsOf(at, spec, metadata, true)

export const podWarnings = ({ metadata, spec = {} }: CoreV1.Pod): string[] => warningsOf(path(), spec, metadata, false)

export const deprecatedNodeLabels: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods': 'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
}

const deprecatedAnnotations: readonly (readonly [key: string, text: string])[] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
]

const deprecatedVolumes: readonly (readonly [field: keyof CoreV1.Volume, text: string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['ephemeral', ''],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
]
const volumePaths: Partial<Record<keyof CoreV1.Volume, string>> = { storageos: 'storageOS' }

const isOfPod = (key: string): key is keyof typeof deprecatedNodeLabels => Object.hasOwn(deprecatedNodeLabels, key)

function warningsOf(root: FieldPath, spec: CoreV1.PodSpec, meta: ObjectMeta, isTemplate: boolean): string[] {
  const at = root.child('spec')
  const annotations = meta.annotations ?? {}
  const annotationsAt = root.child('metadata', 'annotations')
  const containers = visitContainers(spec, at)
  const warnings: string[] = [
    ...nodeLabelWarnings(at, spec),
    ...deprecatedAnnotations
      .filter(([key]) => Object.hasOwn(annotations, key))
      .map(([key, text]) => `${annotationsAt.key(key)}: ${text}`),
  ]
  const volumesAt = at.child('volumes')
  append(
    warnings,
    flatMapParts(spec.volumes ?? [], (volume, index) => volumeWarnings(volumesAt, index, volume)),
  )
  append(warnings, [
    ...overlappingPathWarnings(spec.volumes ?? []),
    ...repeats(spec.hostAliases ?? [], ({ ip = '' }) => ip).map(
      ([index, ip]) => `${at.child('hostAliases').index(index).child('ip')}: duplicate ip ${goQuote(ip)}`,
    ),
    ...pullSecretWarnings(at.child('imagePullSecrets'), spec.imagePullSecrets ?? []),
    ...['memory', 'ephemeral-storage'].flatMap((name) => fractionWarnings(at.child('overhead'), spec.overhead, name)),
  ])
  if (!spec.securityContext?.seccompProfile && Object.hasOwn(annotations, SECCOMP_POD))
    warnings.push(`${annotationsAt.key(SECCOMP_POD)}: ${USE_SECCOMP_FIELD}`)
  append(
    warnings,
    flatMapParts(containers, (visited) => containerWarnings(visited, annotations, annotationsAt, isTemplate, spec)),
  )
  append(warnings, [...portWarnings(containers), ...portNameWarnings(containers)])
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0)
    warnings.push(
      `${at.child('terminationGracePeriodSeconds')}: must be >= 0; negative values are invalid and will be treated as 1`,
    )
  for (const field of ['podAffinity', 'podAntiAffinity'] as const)
    append(warnings, affinityWarnings(at.child('affinity', field), spec.affinity?.[field] ?? {}))
  append(warnings, [
    ...flatMapParts(spec.dnsConfig?.nameservers ?? [], (address, index) =>
      ipWarnings(at.child('dnsConfig', 'nameservers').index(index), address),
    ),
    ...flatMapParts(spec.hostAliases ?? [], ({ ip = '' }, index) =>
      ipWarnings(at.child('hostAliases').index(index).child('ip'), ip),
    ),
  ])
  append(warnings, simulationWarnings(annotationsAt, annotations, spec))
  return warnings
}

function volumeWarnings(at: FieldPath, index: number, volume: CoreV1.Volume): string[] {
  return deprecatedVolumes.flatMap(([field, text]) => {
    if (volume[field] === undefined) return []
    const here = at.index(index)
    if (field !== 'ephemeral') return [`${here.child(volumePaths[field] ?? field)}: ${text}`]
    const template = volume.ephemeral?.volumeClaimTemplate
    return template ? claimWarnings(here.child('ephemeral', 'volumeClaimTemplate', 'spec'), template.spec) : []
  })
}

const USE_SECCOMP_FIELD = 'non-functional in v1.27+; use the "seccompProfile" field instead'
export const USE_APP_ARMOR_FIELD = 'deprecated since v1.30; use the "appArmorProfile" field instead'

function nodeLabelWarnings(at: FieldPath, spec: CoreV1.PodSpec): string[] {
  const warnings = Object.keys(spec.nodeSelector ?? {})
    .filter(isOfPod)
    .sort()
    .map((key) => `${at.child('nodeSelector').key(key)}: ${ownValue(deprecatedNodeLabels, key)}`)
  const { nodeAffinity } = spec.affinity ?? {}
  const requiredAt = at.child('affinity', 'nodeAffinity', REQUIRED, 'nodeSelectorTerms')
  const preferredAt = at.child('affinity', 'nodeAffinity', PREFERRED)
  const spreadAt = at.child('topologySpreadConstraints')
  append(warnings, [
    ...flatMapParts(nodeAffinity?.[REQUIRED]?.nodeSelectorTerms ?? [], (term, index) =>
      termWarnings(requiredAt.index(index), term, false),
    ),
    ...flatMapParts(nodeAffinity?.[PREFERRED] ?? [], ({ preference = {} }, index) =>
      termWarnings(preferredAt.index(index).child('preference'), preference, true),
    ),
    ...flatMapParts(spec.topologySpreadConstraints ?? [], ({ topologyKey = '', labelSelector }, index) => {
      const here = spreadAt.index(index)
      return [
        ...(isOfPod(topologyKey)
          ? [`${here.child('topologyKey')}: ${topologyKey} is ${ownValue(deprecatedNodeLabels, topologyKey)}`]
          : []),
        ...(labelSelector === undefined ? [`${here.child('labelSelector')}: ${NULL_SELECTOR}`] : []),
      ]
    }),
  ])
  return warnings
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'

const NULL_SELECTOR = 'a null labelSelector results in matching no pod'

export function termWarnings(at: FieldPath, term: CoreV1.NodeSelectorTerm, checksValues: boolean): string[] {
  return flatMapParts(term.matchExpressions ?? [], ({ key = '', values = [] }, index) => {
    const here = at.child('matchExpressions').index(index)
    return [
      ...(isOfPod(key) ? [`${here.child('key')}: ${key} is ${ownValue(deprecatedNodeLabels, key)}`] : []),
      ...(checksValues
        ? flatMapParts(values, (value, position) =>
            labelValueProblems(value).map(
              (text) => `${here.child('values').index(position)}: ${value} is invalid, ${text}`,
            ),
          )
        : []),
    ]
  })
}

const affinityWarnings = (at: FieldPath, affinity: CoreV1.PodAffinity): string[] => [
  ...flatMapParts(affinity[REQUIRED] ?? [], ({ labelSelector }, index) =>
    labelSelector === undefined ? [`${at.child(REQUIRED).index(index).child('labelSelector')}: ${NULL_SELECTOR}`] : [],
  ),
  ...flatMapParts(affinity[PREFERRED] ?? [], ({ podAffinityTerm }, index) =>
    podAffinityTerm?.labelSelector === undefined
      ? [`${at.child(PREFERRED).index(index).child('podAffinityTerm', 'labelSelector')}: ${NULL_SELECTOR}`]
      : [],
  ),
]

function repeats<T>(items: readonly T[], nameOf: (item: T) => string): [index: number, name: string][] {
  const seen = kept(items, () => new Set<string>())
  return flatMapParts(items, (item, index): [number, string][] => {
    const name = nameOf(item)
    if (seen.has(name)) return [[index, name]]
    seen.add(name)
    return []
  })
}

const pullSecretWarnings = (at: FieldPath, secrets: readonly CoreV1.LocalObjectReference[]): string[] => [
  ...repeats(secrets, ({ name = '' }) => name).map(
    ([index, name]) => `${at.index(index).child('name')}: duplicate name ${goQuote(name)}`,
  ),
  ...flatMapParts(secrets, ({ name }, index) =>
    name ? [] : [`${at.index(index).child('name')}: invalid empty name ""`],
  ),
]

function fractionWarnings(at: FieldPath, list: Readonly<Record<string, string>> | undefined, name: string): string[] {
  const text = ownValue(list, name)
  if (text === undefined || Quantity.parse(text).isWholeByMilliValue) return []
  return [`${at.key(name)}: fractional byte value ${goQuote(text)} is invalid, must be an integer`]
}

export const claimWarnings = (at: FieldPath, spec: CoreV1.PersistentVolumeClaimSpec = {}): string[] => [
  ...fractionWarnings(at.child('resources', 'requests'), spec.resources?.requests, 'storage'),
  ...fractionWarnings(at.child('resources', 'limits'), spec.resources?.limits, 'storage'),
]

function containerWarnings(
  { container, at }: VisitedContainer,
  annotations: Readonly<Record<string, string>>,
  annotationsAt: FieldPath,
  isTemplate: boolean,
  spec: CoreV1.PodSpec,
): string[] {
  const warnings: string[] = []
  const { name = '', securityContext, resources = {}, env = [] } = container
  const seccomp = SECCOMP_CONTAINER + name
  if (!securityContext?.seccompProfile && Object.hasOwn(annotations, seccomp))
    warnings.push(`${annotationsAt.key(seccomp)}: ${USE_SECCOMP_FIELD}`)
  const appArmor = ownValue(annotations, APP_ARMOR + name)
  const ofPod = spec.securityContext?.appArmorProfile
  if (isTemplate && !securityContext?.appArmorProfile && appArmor !== undefined) {
    const same = ofPod && sameValue('io.k8s.api.core.v1.AppArmorProfile', ofPod, appArmorOf(appArmor))
    if (!same) warnings.push(`${annotationsAt.key(APP_ARMOR + name)}: ${USE_APP_ARMOR_FIELD}`)
  }
  for (const resource of ['memory', 'ephemeral-storage'])
    append(warnings, [
      ...fractionWarnings(at.child('resources', 'limits'), resources.limits, resource),
      ...fractionWarnings(at.child('resources', 'requests'), resources.requests, resource),
    ])
  for (const [index, variable] of repeats(env, (item) => item.name ?? '')) {
    const { value = '', valueFrom } = env[index]!
    const itself = `$(${variable})`
    if (valueFrom !== undefined || value === itself || !value.includes(itself))
      warnings.push(
        `${at.child('env').index(index)}: hides previous definition of ${goQuote(variable)}, which may be dropped when using apply`,
      )
  }
  return warnings
}

/** The most comparisons of ports, because a pod may have any number of ports. The search for warnings ends there. */
const MAX_COMPARISONS = 200_000

function portWarnings(containers: readonly VisitedContainer[]): string[] {
  const { work, seen } = kept(containers, () => ({
    work: new Budget(MAX_COMPARISONS),
    seen: new Map<string, { at: FieldPath; port: CoreV1.ContainerPort }[]>(),
  }))
  return flatMapParts(containers, ({ container, at }) =>
    flatMapParts(container.ports ?? [], (port, index) => {
      const warnings: string[] = []
      const here = at.child('ports').index(index)
      const { name = '', hostIP = '', hostPort = 0, containerPort = 0, protocol = '' } = port
      if (hostIP !== '' && hostPort === 0)
        warnings.push(
          `${here}: hostIP set without hostPort: {Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`,
        )
      const key = `${containerPort}/${protocol}`
      const others = seen.get(key) ?? []
      if (!work.spend(others.length)) return warnings
      for (const { at: before, port: other } of others) {
        const otherIP = other.hostIP ?? ''
        const otherPort = other.hostPort ?? 0
        if (hostIP === otherIP && hostPort === otherPort)
          warnings.push(`${here}: duplicate port definition with ${before}`)
        else if (hostPort === 0 || otherPort === 0) warnings.push(`${here}: overlapping port definition with ${before}`)
        else if (hostPort === otherPort && (hostIP === '') !== (otherIP === ''))
          warnings.push(`${here}: dangerously ambiguous port definition with ${before}`)
      }
      others.push({ at: here, port })
      seen.set(key, others)
      return warnings
    }),
  )
}

function portNameWarnings(containers: readonly VisitedContainer[]): string[] {
  const seen = kept(containers, () => new Map<string, FieldPath>())
  return flatMapParts(containers, ({ container, at }) =>
    flatMapParts(container.ports ?? [], ({ name }, index) => {
      if (!name) return []
      const here = at.child('ports').index(index)
      const other = seen.get(name)
      if (other !== undefined)
        return [
          `${here}: duplicate port name ${goQuote(name)} with ${other}, services and probes that select ports by name will use ${other}`,
        ]
      seen.set(name, here)
      return []
    }),
  )
}
