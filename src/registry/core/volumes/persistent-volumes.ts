import type { PersistentVolume, PersistentVolumeSpec } from '../../../api/core/v1.ts'
import { path } from '../../../api/field.ts'
import { ownValue } from '../../../base/own.ts'
import { termWarnings } from '../../../validation/pod/pod-warnings.ts'
import { subdomainName } from '../../../validation/names.ts'
import { validateObjectMeta } from '../../../validation/object-meta.ts'
import { persistentVolumePrinter } from '../../../codec/table/core.ts'
import type { BuiltInDefinition } from '../../built-in-definition.ts'
import { volumeChangeErrors } from './persistent-volume-changes.ts'
import { specErrors, validateVolume } from './persistent-volume-validation.ts'
import { volumeRules } from './volume-work.ts'

const RECYCLE =
  'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.'

const deprecatedAnnotations: readonly (readonly [key: string, text: string])[] = [
  ['volume.beta.kubernetes.io/storage-class', 'deprecated since v1.8; use "storageClassName" attribute instead'],
  ['volume.beta.kubernetes.io/mount-options', 'deprecated since v1.31; use "mountOptions" attribute instead'],
]
const deprecatedSources: readonly (readonly [field: keyof PersistentVolumeSpec, name: string, text: string])[] = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
]

export const persistentVolumes: BuiltInDefinition<PersistentVolume> = {
  printer: persistentVolumePrinter,
  protection: {
    finalizer: 'kubernetes.io/pv-protection',
    account: 'pv-protection-controller',
    isUsed: ({ status }) => status?.phase === 'Bound',
  },
  workloadWork: volumeRules,
  prepareForCreate(volume, { now }) {
    volume.status = { phase: 'Pending', lastPhaseTransitionTime: secondsText(now) }
  },
  validate: (volume) => validateVolume(volume),
  // kube-apiserver validates the whole object twice
  metadataOnUpdate: 'as new',
  validateUpdate: (volume, old, { enabled }) => [
    ...validateVolume(volume, old),
    ...validateObjectMeta(volume.metadata, false, subdomainName),
    ...specErrors(path('spec'), volume.spec ?? {}, { name: volume.metadata.name ?? '', old }),
    ...volumeChangeErrors(volume.spec ?? {}, old.spec ?? {}, { mutableAffinity: enabled('MutablePVNodeAffinity') }),
  ],
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  selectableFields: ({ metadata }) => ({ name: metadata.name ?? '' }),
  subresources: {
    status: {
      prepareForUpdate(volume, old, { now }) {
        const status = (volume.status ??= {})
        const before = old.status ?? {}
        const time = status.lastPhaseTransitionTime ?? undefined
        if (before.phase === status.phase) status.lastPhaseTransitionTime = time ?? before.lastPhaseTransitionTime
        else if (time === undefined || time === before.lastPhaseTransitionTime)
          status.lastPhaseTransitionTime = secondsText(now)
      },
    },
  },
}

const secondsText = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`

function warnings({ metadata, spec: now = {} }: PersistentVolume): string[] {
  const terms = now.nodeAffinity?.required?.nodeSelectorTerms ?? []
  const termsAt = path('spec', 'nodeAffinity', 'required', 'nodeSelectorTerms')
  return [
    ...deprecatedAnnotations
      .filter(([key]) => ownValue(metadata.annotations, key) !== undefined)
      .map(([key, text]) => `metadata.annotations[${key}]: ${text}`),
    ...(now.persistentVolumeReclaimPolicy === 'Recycle' ? [`spec.persistentVolumeReclaimPolicy: ${RECYCLE}`] : []),
    ...terms.flatMap((term, index) => termWarnings(termsAt.index(index), term, false)),
    ...deprecatedSources.filter(([field]) => now[field] !== undefined).map(([, name, text]) => `spec.${name}: ${text}`),
  ]
}
