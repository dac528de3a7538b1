/** Revisions of a Deployment's template, and the annotations of the ReplicaSets that keep them. */
import type { Deployment, ReplicaSet } from '../../../api/apps/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import { ownValue } from '../../../base/own.ts'
import type { PodTemplateSpec } from '../../../api/core/v1.ts'
import { parseInt64 } from '../../../go/int.ts'
import { samePodTemplate } from '../../../validation/same-value.ts'
import { DESIRED_REPLICAS, MAX_REPLICAS, maxSurge, olderFirst, replicasOf } from './numbers.ts'

export const POD_TEMPLATE_HASH = 'pod-template-hash'
const REVISION = 'deployment.kubernetes.io/revision'
const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history'
export const ROLLBACK_TO = 'deprecated.deployment.rollback.to'
/** The most characters of the annotation that lists past revisions. */
const LONGEST_HISTORY = 2000

const ownAnnotations: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  ROLLBACK_TO,
])

/** The revision in the annotation: 64 bits, as in kube-controller-manager. Undefined for other text; 0 without one. */
export function revisionOf({ metadata }: KubeObject): bigint | undefined {
  const text = ownValue(metadata.annotations, REVISION)
  return text === undefined ? 0n : parseInt64(text)
}

const revisionsOf = (sets: readonly ReplicaSet[]): bigint[] => sets.map((set) => revisionOf(set) ?? 0n)

/** The highest revision; 0 where there is none. */
export const latestRevision = (sets: readonly ReplicaSet[]): bigint =>
  revisionsOf(sets).reduce((most, revision) => (revision > most ? revision : most), 0n)

/** The revision before the latest, for a rollback that names no revision. */
export const formerRevision = (sets: readonly ReplicaSet[]): bigint =>
  revisionsOf(sets).sort((a, b) => (a > b ? -1 : 1))[1] ?? 0n

/** Whether the templates are equal apart from the label with the hash. */
export const sameTemplate = (a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean =>
  samePodTemplate(withoutHash(a), withoutHash(b))

export function withoutHash(template: PodTemplateSpec = {}): PodTemplateSpec {
  const { [POD_TEMPLATE_HASH]: _, ...labels } = template.metadata?.labels ?? {}
  return { ...template, metadata: { ...template.metadata, labels } }
}

/** The ReplicaSet with the Deployment's template; the oldest where there are several. */
export const findNew = (deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined =>
  sets.toSorted(olderFirst).find(({ spec }) => sameTemplate(spec?.template, deployment.spec?.template))

/** Sets the annotations of the current ReplicaSet. @returns the same object where nothing changes */
export function annotated(
  annotations: Readonly<Record<string, string>>,
  deployment: Deployment,
  revision: bigint,
): Readonly<Record<string, string>> {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !ownAnnotations.has(key))
  const wanted: Record<string, string> = { ...annotations, ...Object.fromEntries(copied) }
  const old = ownValue(annotations, REVISION)
  const oldRevision = revisionOf({ metadata: { annotations } })
  if (oldRevision !== undefined && oldRevision < revision) {
    wanted[REVISION] = String(revision)
    if (old !== undefined) addToHistory(wanted, old)
  }
  const isSame = Object.entries(wanted).every(([key, value]) => ownValue(annotations, key) === value)
  return isSame ? annotations : wanted
}

function addToHistory(annotations: Record<string, string>, old: string): void {
  const history = ownValue(annotations, REVISION_HISTORY) || undefined
  if (history === undefined) {
    annotations[REVISION_HISTORY] = old
    return
  }
  const revisions = history.split(',')
  let length = history.length + old.length + 1
  while (length > LONGEST_HISTORY && revisions.length > 0) length -= revisions.shift()!.length + 1
  if (length <= LONGEST_HISTORY) annotations[REVISION_HISTORY] = [...revisions, old].join(',')
}

export const sizeAnnotations = (deployment: Deployment): Readonly<Record<string, string>> => ({
  [DESIRED_REPLICAS]: String(replicasOf(deployment)),
  [MAX_REPLICAS]: String(replicasOf(deployment) + maxSurge(deployment)),
})

/** The annotations that the Deployment gets with the template of a former revision. */
export function annotationsOfRollback(deployment: Deployment, set: ReplicaSet): Record<string, string> {
  const entries = [
    ...Object.entries(deployment.metadata.annotations ?? {}).filter(
      ([key]) => ownAnnotations.has(key) && key !== ROLLBACK_TO,
    ),
    ...Object.entries(set.metadata.annotations ?? {}).filter(([key]) => !ownAnnotations.has(key)),
  ]
  return Object.fromEntries(entries)
}

export const withRevision = (
  annotations: Readonly<Record<string, string>> = {},
  revision: string,
): Record<string, string> => ({ ...annotations, [REVISION]: revision })

export const revisionText = ({ metadata }: ReplicaSet): string => ownValue(metadata.annotations, REVISION) ?? ''
