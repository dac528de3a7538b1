/** Validates a PersistentVolume (kubernetes' pkg/apis/core/validation). */
import type { PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity } from '../../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../../api/field.ts'
import {
  forbiddenField,
  invalidValue,
  jsonText,
  notSupported,
  notSupportedText,
  path,
  required,
} from '../../../api/field.ts'
import { ownValue } from '../../../base/own.ts'
import { sentField } from '../../../schema/emptied.ts'
import { Quantity } from '../../../schema/quantity.ts'
import { validateSubdomain } from '../../../validation/field-rules.ts'
import { hasInvalidValue } from '../../../validation/label-selectors.ts'
import { validateNodeSelector } from '../../../validation/pod/scheduling.ts'
import { sortedKeys } from '../../../base/name-order.ts'
import { kept, mapNames, somePart } from '../../../base/parts.ts'
import { errorsByName, errorsOf } from '../../../validation/errors-of.ts'
import { sourceErrors } from './persistent-volume-sources.ts'

const specAt = path('spec')
const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
const reclaimPolicies = ['Delete', 'Recycle', 'Retain']
const volumeModes = ['Block', 'Filesystem']
const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options'

export function validateVolume(volume: PersistentVolume, old?: PersistentVolume): FieldError[] {
  const now = volume.spec ?? {}
  return [...specErrors(specAt, now, { name: volume.metadata.name ?? '', old }), ...mountOptionErrors(volume)]
}

export interface SpecContext {
  readonly name: string
  /** The stored volume of an update, which may keep its values. */
  readonly old?: PersistentVolume
  /** The spec is part of a VolumeAttachment, without a PersistentVolume of its own. */
  readonly inline?: boolean
}

export function specErrors(
  spec: FieldPath,
  now: PersistentVolumeSpec,
  { name, old, inline }: SpecContext,
): FieldError[] {
  return [
    ...(inline ? inlineErrors(spec, now) : []),
    ...accessModeErrors(spec, now.accessModes ?? []),
    ...(inline ? [] : capacityErrors(spec, now)),
    ...reclaimErrors(spec, now, inline),
    ...(now.nodeAffinity === undefined
      ? []
      : inline
        ? [forbiddenField(spec.child('nodeAffinity'), NOT_INLINE)]
        : affinityErrors(spec, now.nodeAffinity, old?.spec?.nodeAffinity)),
    ...sourceErrors(spec, now, name),
    ...recycledRootErrors(spec, now),
    ...classErrors(spec, now, inline),
    ...volumeModeErrors(spec, now, inline),
    ...(inline ? [] : attributesClassErrors(spec, now)),
  ]
}

const NOT_INLINE = 'may not be specified in the context of inline volumes'

function inlineErrors(spec: FieldPath, { claimRef, capacity = {}, csi }: PersistentVolumeSpec): FieldError[] {
  return [
    ...(claimRef === undefined ? [] : [forbiddenField(spec.child('claimRef'), NOT_INLINE)]),
    ...(Object.keys(capacity).length === 0 ? [] : [forbiddenField(spec.child('capacity'), NOT_INLINE)]),
    ...(csi === undefined ? [required(spec.child('csi'), 'has to be specified in the context of inline volumes')] : []),
  ]
}

function reclaimErrors(spec: FieldPath, now: PersistentVolumeSpec, inline = false): FieldError[] {
  const { persistentVolumeReclaimPolicy: policy } = now
  const at = spec.child('persistentVolumeReclaimPolicy')
  if (!policy) return []
  if (inline)
    return policy === 'Retain' ? [] : [forbiddenField(at, 'may only be Retain in the context of inline volumes')]
  return reclaimPolicies.includes(policy) ? [] : [notSupported(at, policy, reclaimPolicies)]
}

function classErrors(spec: FieldPath, { storageClassName }: PersistentVolumeSpec, inline = false): FieldError[] {
  const at = spec.child('storageClassName')
  if (!storageClassName) return []
  return inline ? [forbiddenField(at, NOT_INLINE)] : validateSubdomain(at, storageClassName)
}

function volumeModeErrors(spec: FieldPath, { volumeMode }: PersistentVolumeSpec, inline = false): FieldError[] {
  const at = spec.child('volumeMode')
  if (volumeMode === undefined) return []
  if (!inline) return volumeModes.includes(volumeMode) ? [] : [notSupported(at, volumeMode, volumeModes)]
  const text = 'may not specify volumeMode other than Filesystem in the context of inline volumes'
  return volumeMode === 'Filesystem' ? [] : [forbiddenField(at, text)]
}

function accessModeErrors(spec: FieldPath, modes: readonly string[]): FieldError[] {
  const at = spec.child('accessModes')
  const isMixed =
    modes.includes('ReadWriteOncePod') &&
    modes.some((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(mode))
  return [
    ...(modes.length === 0 ? [required(at)] : []),
    ...errorsOf(modes, (mode) => (accessModes.includes(mode) ? [] : [notSupported(at, mode, accessModes)])),
    ...(isMixed ? [forbiddenField(at, 'may not use ReadWriteOncePod with other access modes')] : []),
  ]
}

/** Returns at most two names. */
function someNames(map: object): string[] {
  const names: string[] = []
  for (const name in map) if (names.push(name) === 2) break
  return names
}

function capacityErrors(spec: FieldPath, volume: PersistentVolumeSpec): FieldError[] {
  const capacity = volume.capacity ?? {}
  const at = spec.child('capacity')
  const [first, second] = someNames(capacity)
  const shown = mapNames(capacity, sortedKeys, (name) => `${jsonText(name)}:${jsonText(ownValue(capacity, name)!)}`)
  const isStorageAlone = first === 'storage' && second === undefined
  return [
    ...(first === undefined ? [required(at)] : []),
    ...(isStorageAlone
      ? []
      : kept(capacity, () => [
          first === undefined
            ? notSupported(at, sentField(volume, 'capacity'), ['storage'])
            : notSupportedText(at, `{${shown.join(',')}}`, ['storage']),
        ])),
    ...errorsByName(capacity, (name) => {
      const amount = Quantity.parse(ownValue(capacity, name)!)
      // kube-apiserver computes with 64 bits here
      const value = BigInt.asIntN(64, amount.scaledValue(0))
      return [
        ...(value < 0n ? [invalidValue(at.key(name), value, 'must be a valid resource quantity')] : []),
        ...(amount.sign <= 0 ? [invalidValue(at.key(name), amount.toString(), 'must be greater than zero')] : []),
      ]
    }),
  ]
}

function affinityErrors(
  spec: FieldPath,
  { required: selector }: VolumeNodeAffinity,
  old: VolumeNodeAffinity | undefined,
): FieldError[] {
  const at = spec.child('nodeAffinity', 'required')
  if (selector === undefined) return [required(at, 'must specify required node constraints')]
  const terms = old?.required?.nodeSelectorTerms ?? []
  const hadInvalid = somePart(terms, hasInvalidValue)
  return validateNodeSelector(at, selector, hadInvalid)
}

function recycledRootErrors(
  spec: FieldPath,
  { hostPath, persistentVolumeReclaimPolicy }: PersistentVolumeSpec,
): FieldError[] {
  if (hostPath === undefined || persistentVolumeReclaimPolicy !== 'Recycle') return []
  const parts = (hostPath.path ?? '').split('/')
  const isRoot =
    parts[0] === '' && parts.length > 1 && parts.every((part) => part === '' || part === '.' || part === '..')
  return isRoot
    ? [forbiddenField(spec.child('persistentVolumeReclaimPolicy'), "may not be 'recycle' for a hostPath mount of '/'")]
    : []
}

function attributesClassErrors(
  spec: FieldPath,
  { volumeAttributesClassName: name, csi }: PersistentVolumeSpec,
): FieldError[] {
  if (name === undefined) return []
  const at = spec.child('volumeAttributesClassName')
  return [
    ...(name === '' ? [required(at, 'an empty string is disallowed')] : validateSubdomain(at, name)),
    ...(csi === undefined
      ? [required(spec.child('csi'), 'has to be specified when using volumeAttributesClassName')]
      : []),
  ]
}

const withMountOptions: readonly (keyof PersistentVolumeSpec)[] = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
]

function mountOptionErrors({ metadata, spec: now = {} }: PersistentVolume): FieldError[] {
  if (metadata.annotations?.[MOUNT_OPTIONS] === undefined) return []
  if (withMountOptions.some((field) => now[field] !== undefined)) return []
  const at = path('metadata', 'annotations', MOUNT_OPTIONS)
  return [forbiddenField(at, 'may not specify mount options for this volume type')]
}
