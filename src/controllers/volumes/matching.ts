/** Which volume suits a claim (component-helpers' storage/volume). This file reads and writes nothing. */
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/core/v1.ts'
import type { StorageClass } from '../../api/storage/v1.ts'
import { ownValue } from '../../base/own.ts'
import { migratedDrivers } from '../../registry/core/volumes/migrated-volumes.ts'
import { Quantity } from '../../schema/quantity.ts'
import { matchesLabels } from '../../storage/selectors/selection.ts'
import { requirementsOf } from '../workloads/pods/pod-control.ts'

export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed'
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller'
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by'
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node'
export const STORAGE_PROVISIONER = 'volume.kubernetes.io/storage-provisioner'
export const STORAGE_PROVISIONER_BETA = 'volume.beta.kubernetes.io/storage-provisioner'
export const NO_PROVISIONER = 'kubernetes.io/no-provisioner'
const MIGRATED_TO = 'pv.kubernetes.io/migrated-to'
const DEFAULT_MARKS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]
const CLASS_BETA = 'volume.beta.kubernetes.io/storage-class'

interface Annotated {
  readonly metadata: { readonly annotations?: Record<string, string> }
}

export const annotation = ({ metadata }: Annotated, key: string): string | undefined =>
  ownValue(metadata.annotations, key)

/** The name of the StorageClass; '' is no class. */
export const classOf = (object: PersistentVolumeClaim | PersistentVolume): string =>
  annotation(object, CLASS_BETA) ?? object.spec?.storageClassName ?? ''

const IN_TREE = 'kubernetes.io/'
/** It keeps a volume that a plugin made until the plugin has deleted it. */
const IN_TREE_FINALIZER = 'kubernetes.io/pv-controller'
const EXTERNAL_FINALIZER = 'external-provisioner.volume.kubernetes.io/finalizer'

/** The finalizers that a volume should have. Undefined: it has them. */
export function deletionFinalizers({ metadata, spec }: PersistentVolume): string[] | undefined {
  const provisioner = annotation({ metadata }, PROVISIONED_BY)
  if (provisioner?.startsWith(IN_TREE) !== true) return undefined
  const { finalizers = [], deletionTimestamp } = metadata
  const { persistentVolumeReclaimPolicy: policy } = spec ?? {}
  const has = finalizers.includes(IN_TREE_FINALIZER)
  const isMigrated = migratedDrivers.has(provisioner)
  // no finalizer can be added to an object that is being deleted
  const isWanted = !isMigrated && policy === 'Delete' && (has || deletionTimestamp === undefined)
  const others = withoutInTree(finalizers).filter((one) => isMigrated || one !== EXTERNAL_FINALIZER)
  const wanted = isWanted ? [...others, IN_TREE_FINALIZER] : others
  return wanted.length === finalizers.length && has === isWanted ? undefined : wanted
}

export const withoutInTree = (finalizers: readonly string[]): string[] =>
  finalizers.filter((one) => one !== IN_TREE_FINALIZER)

export const isDefaultClass = (storageClass: StorageClass): boolean =>
  DEFAULT_MARKS.some((mark) => annotation(storageClass, mark) === 'true')

/**
 * The annotations of a claim or volume by which the driver that took its provisioner over knows that it is the driver's.
 * Undefined: they say so already.
 */
export function migratedAnnotations(
  object: Annotated,
  provisioner: string | undefined,
): Record<string, string> | undefined {
  if (provisioner === undefined) return undefined
  const driver = migratedDrivers.get(provisioner)
  if (annotation(object, MIGRATED_TO) === driver) return undefined
  const { [MIGRATED_TO]: _, ...others } = object.metadata.annotations ?? {}
  return driver === undefined ? others : { ...others, [MIGRATED_TO]: driver }
}

/** The claims of a pod. That of an ephemeral volume is named after the pod and the volume. */
export function claimNamesOf({ metadata, spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) =>
    persistentVolumeClaim !== undefined
      ? [persistentVolumeClaim.claimName ?? '']
      : ephemeral !== undefined
        ? [`${metadata.name}-${name}`]
        : [],
  )
}

export const isBound = (claim: PersistentVolumeClaim): boolean =>
  (claim.spec?.volumeName ?? '') !== '' && annotation(claim, BIND_COMPLETED) !== undefined

export const waitsForConsumer = (storageClass: StorageClass | undefined): boolean =>
  storageClass?.volumeBindingMode === 'WaitForFirstConsumer'

export const storageOf = (amounts: Record<string, string> | undefined): Quantity =>
  Quantity.tryParse(ownValue(amounts, 'storage') ?? '0') ?? Quantity.zero

/** Whether the volume is reserved for this claim, or for any claim of its name. */
export function isFor({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { name, namespace, uid = '' } = spec?.claimRef ?? {}
  return name === metadata.name && namespace === metadata.namespace && (uid === '' || uid === metadata.uid)
}

const hasModes = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  (claim.spec?.accessModes ?? []).every((mode) => volume.spec?.accessModes?.includes(mode)) // few: there are four modes

export const modeOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string => spec?.volumeMode ?? 'Filesystem'
export const attributesOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string =>
  spec?.volumeAttributesClassName ?? ''

/** Whether the volume of the claim is to have other attributes. */
export const wantsOtherAttributes = (claim: PersistentVolumeClaim): boolean =>
  attributesOf(claim) !== (claim.status?.currentVolumeAttributesClassName ?? '') ||
  claim.status?.modifyVolumeStatus !== undefined

/** Why a volume that a claim names does not suit it, in kube-controller-manager's words; undefined: it suits. */
export function mismatch(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined)
    return `the volume is marked for deletion ${JSON.stringify(volume.metadata.name)}`
  if (storageOf(volume.spec?.capacity).compare(storageOf(claim.spec?.resources?.requests)) < 0)
    return 'requested PV is too small'
  if (classOf(volume) !== classOf(claim)) return 'storageClassName does not match'
  if (attributesOf(volume) !== attributesOf(claim)) return 'volumeAttributesClassName does not match'
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode'
  return hasModes(volume, claim) ? undefined : 'incompatible accessMode'
}

/** Whether the volume is of the claim's kind, whatever its size. */
export const isOfKind = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  volume.metadata.deletionTimestamp === undefined &&
  modeOf(volume) === modeOf(claim) &&
  attributesOf(volume) === attributesOf(claim)

export const isReservedFor = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  volume.spec?.claimRef !== undefined && isFor(volume, claim)

/** Whether a volume of the claim's kind is free for it, unless the claim's selector is against it. */
export const isFree = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  volume.spec?.claimRef === undefined &&
  volume.status?.phase === 'Available' &&
  classOf(volume) === classOf(claim) &&
  hasModes(volume, claim)

export function selectorOf({ spec }: PersistentVolumeClaim): (volume: PersistentVolume) => boolean {
  const selector = spec?.selector && requirementsOf(spec.selector)
  return ({ metadata }) => selector === undefined || matchesLabels(selector, metadata.labels ?? {})
}

/** The number of access modes: of free volumes, those with fewer are given first. */
export const modesOf = ({ spec }: PersistentVolume): number => spec?.accessModes?.length ?? 0

/**
 * The volume that is reserved for the claim. Otherwise, of the free volumes with the fewest access modes, the smallest.
 * @param suits whether a free volume may be chosen, for example because a node reaches it
 */
export function bestMatch(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  suits: (volume: PersistentVolume) => boolean = () => true,
): PersistentVolume | undefined {
  const wanted = storageOf(claim.spec?.resources?.requests)
  const possible = volumes.filter(
    (volume) => isOfKind(volume, claim) && storageOf(volume.spec?.capacity).compare(wanted) >= 0,
  )
  const kept = possible.find((volume) => isReservedFor(volume, claim))
  if (kept !== undefined) return kept
  const selects = selectorOf(claim)
  const free = possible.filter((volume) => isFree(volume, claim) && selects(volume) && suits(volume))
  return free.sort(
    (a, b) => modesOf(a) - modesOf(b) || storageOf(a.spec?.capacity).compare(storageOf(b.spec?.capacity)),
  )[0]
}
