/** The identity of a StatefulSet's pods: their ordinals, names, labels and volumes. */
import type { StatefulSet } from '../../../api/apps/v1.ts'
import type { PersistentVolumeClaim, Pod, PodTemplateSpec } from '../../../api/core/v1.ts'
import type { GroupVersionKind } from '../../../api/group-version.ts'
import { ownValue } from '../../../base/own.ts'
import { controllerRefTo, podFromTemplate } from '../pods/pod-control.ts'
import { isAvailable, isReady, isTerminating } from '../pods/pod-state.ts'
import { REVISION_HASH } from '../templates/revisions.ts'

export const STATEFUL_SET: GroupVersionKind = { group: 'apps', version: 'v1', kind: 'StatefulSet' }
const POD_NAME = 'statefulset.kubernetes.io/pod-name'
const POD_INDEX = 'apps.kubernetes.io/pod-index'
const MOST_ORDINAL = 2 ** 31 - 1

/** The set's name and the ordinal in a pod's name; undefined for other names. */
function nameParts({
  metadata: { name = '' },
}: Pod): { readonly parent: string; readonly ordinal: number } | undefined {
  const dash = name.lastIndexOf('-')
  const digits = name.slice(dash + 1)
  if (dash < 0 || !/^\d+$/.test(digits)) return undefined
  const ordinal = Number(digits)
  return { parent: name.slice(0, dash), ordinal: ordinal > MOST_ORDINAL ? -1 : ordinal }
}

/** The ordinal of a pod; -1 where its name has none. */
export const ordinalOf = (pod: Pod): number => nameParts(pod)?.ordinal ?? -1

export const isMemberOf = ({ metadata }: StatefulSet, pod: Pod): boolean => nameParts(pod)?.parent === metadata.name

export const firstOrdinal = ({ spec }: StatefulSet): number => spec?.ordinals?.start ?? 0

/** The ordinal after the last one. */
export const endOrdinal = (set: StatefulSet): number => firstOrdinal(set) + (set.spec?.replicas ?? 1)

export const isInRange = (set: StatefulSet, pod: Pod): boolean =>
  ordinalOf(pod) >= firstOrdinal(set) && ordinalOf(pod) < endOrdinal(set)

export const isOrdered = ({ spec }: StatefulSet): boolean => spec?.podManagementPolicy !== 'Parallel'

export const podRevision = ({ metadata }: Pod): string => ownValue(metadata.labels, REVISION_HASH) ?? ''

export const isRunningAndReady = (pod: Pod): boolean => pod.status?.phase === 'Running' && isReady(pod)

export const isUnavailable = (pod: Pod, { spec }: StatefulSet, now: Date): boolean =>
  isTerminating(pod) || !isAvailable(pod, spec?.minReadySeconds ?? 0, now)

export const claimTemplates = ({ spec }: StatefulSet): readonly PersistentVolumeClaim[] =>
  spec?.volumeClaimTemplates ?? []

export const claimName = (set: StatefulSet, { metadata }: PersistentVolumeClaim, ordinal: number): string =>
  `${metadata?.name}-${set.metadata.name}-${ordinal}`

/** @param revision the name of the template's revision */
export function newStatefulPod(set: StatefulSet, template: PodTemplateSpec, revision: string, ordinal: number): Pod {
  const pod = podFromTemplate(template, set, controllerRefTo(set, STATEFUL_SET))
  giveIdentity(set, pod, ordinal)
  giveStorage(set, pod, ordinal)
  pod.metadata.labels = { ...pod.metadata.labels, [REVISION_HASH]: revision }
  const { serviceName } = set.spec ?? {}
  pod.spec = { ...pod.spec, hostname: pod.metadata.name ?? '', ...(serviceName ? { subdomain: serviceName } : {}) }
  if (!serviceName) delete pod.spec.subdomain
  return pod
}

function giveIdentity(set: StatefulSet, pod: Pod, ordinal: number): void {
  const name = `${set.metadata.name}-${ordinal}`
  pod.metadata.name = name
  pod.metadata.labels = { ...pod.metadata.labels, [POD_NAME]: name, [POD_INDEX]: String(ordinal) }
}

/** Sets the volumes of the pod's claims, and keeps its other volumes. */
function giveStorage(set: StatefulSet, pod: Pod, ordinal: number): void {
  const templates = claimTemplates(set)
  if (templates.length === 0) return
  const names = new Set(templates.map(({ metadata }) => metadata?.name))
  const others = (pod.spec?.volumes ?? []).filter(({ name }) => !names.has(name))
  const claimed = templates.map((template) => ({
    name: template.metadata?.name ?? '',
    persistentVolumeClaim: { claimName: claimName(set, template, ordinal) },
  }))
  pod.spec = { ...pod.spec, volumes: [...claimed, ...others] }
}

const hasIdentity = (pod: Pod): boolean => ownValue(pod.metadata.labels, POD_NAME) === pod.metadata.name

export function hasStorage(set: StatefulSet, pod: Pod): boolean {
  const claims = new Map(pod.spec?.volumes?.map(({ name, persistentVolumeClaim }) => [name, persistentVolumeClaim]))
  return claimTemplates(set).every(
    (template) => claims.get(template.metadata?.name)?.claimName === claimName(set, template, ordinalOf(pod)),
  )
}

export const isRight = (set: StatefulSet, pod: Pod): boolean => hasIdentity(pod) && hasStorage(set, pod)

/** Restores changed labels and volumes in place. */
export function putRight(set: StatefulSet, pod: Pod): void {
  if (!hasIdentity(pod)) giveIdentity(set, pod, ordinalOf(pod))
  if (!hasStorage(set, pod)) giveStorage(set, pod, ordinalOf(pod))
}
