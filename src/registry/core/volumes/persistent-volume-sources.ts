/** Validates the source of a PersistentVolume: exactly one, with the fields that its kind needs. */
import { append } from '../../../base/append.ts'
import type {
  CSIPersistentVolumeSource,
  FlexPersistentVolumeSource,
  GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  PersistentVolumeSpec,
  SecretReference,
  StorageOSPersistentVolumeSource,
} from '../../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../../api/field.ts'
import { forbiddenField, invalidValue, required } from '../../../api/field.ts'
import { inRange, requiredText, validateLabelText, validateSubdomain } from '../../../validation/field-rules.ts'
import { withoutBacksteps } from '../../../validation/local-paths.ts'
import { byteLength } from '../../../base/utf8.ts'
import type { SharedSource } from '../../../validation/pod/volume-sources.ts'
import { IQN_FORMATS, validateCsiDriverName, validateSharedSource } from '../../../validation/pod/volume-sources.ts'
import { errorsByName } from '../../../validation/errors-of.ts'

const BAD_FORMAT = 'must be valid format'

type SourceName =
  | SharedSource
  | 'glusterfs'
  | 'rbd'
  | 'cephfs'
  | 'iscsi'
  | 'cinder'
  | 'flexVolume'
  | 'azureFile'
  | 'scaleIO'
  | 'local'
  | 'storageos'
  | 'csi'

/** kube-apiserver checks the sources in this order. */
export const sourceOrder: readonly SourceName[] = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
]
/** Errors have these paths, as kube-apiserver's do. They differ from the names of the fields. */
const pathsOfRules: Partial<Record<SourceName, string>> = { gcePersistentDisk: 'persistentDisk' }
const pathsOfSecond: Partial<Record<SourceName, string>> = { cephfs: 'cephFS' }

export function sourceErrors(spec: FieldPath, now: PersistentVolumeSpec, name: string): FieldError[] {
  const errors: FieldError[] = []
  let sources = 0
  for (const field of sourceOrder) {
    if (now[field] === undefined) continue
    if (sources > 0 && field !== 'flexVolume')
      errors.push(forbiddenField(spec.child(pathsOfSecond[field] ?? field), 'may not specify more than 1 volume type'))
    else append(errors, oneSourceErrors(spec, field, spec.child(pathsOfRules[field] ?? field), now, name))
    sources++
  }
  if (sources === 0) errors.push(required(spec, 'must specify a volume type'))
  return errors
}

function oneSourceErrors(
  spec: FieldPath,
  field: SourceName,
  at: FieldPath,
  now: PersistentVolumeSpec,
  name: string,
): FieldError[] {
  switch (field) {
    case 'glusterfs':
      return glusterErrors(at, now.glusterfs!)
    case 'rbd':
      return [...monitorsErrors(at, now.rbd!.monitors), ...requiredText(at.child('image'), now.rbd!.image)]
    case 'cephfs':
      return monitorsErrors(at, now.cephfs!.monitors)
    case 'iscsi':
      return iscsiErrors(at, now.iscsi!, name)
    case 'cinder':
      return [
        ...requiredText(at.child('volumeID'), now.cinder!.volumeID),
        ...namedSecretErrors(at.child('secretRef'), now.cinder!.secretRef),
      ]
    case 'flexVolume':
      return flexErrors(at, now.flexVolume!)
    case 'azureFile': {
      const { secretName, shareName, secretNamespace } = now.azureFile!
      return [
        ...requiredText(at.child('secretName'), secretName),
        ...requiredText(at.child('shareName'), shareName),
        ...(secretNamespace === undefined ? [] : requiredText(at.child('secretNamespace'), secretNamespace)),
      ]
    }
    case 'scaleIO': {
      const { gateway, system, volumeName } = now.scaleIO!
      return [
        ...requiredText(at.child('gateway'), gateway),
        ...requiredText(at.child('system'), system),
        ...requiredText(at.child('volumeName'), volumeName),
      ]
    }
    case 'local': {
      const { path: local = '' } = now.local!
      return [
        ...(local === '' ? [required(at.child('path'))] : withoutBacksteps(at.child('path'), local)),
        ...(now.nodeAffinity === undefined
          ? [required(spec.child('nodeAffinity'), 'Local volume requires node affinity')]
          : []),
      ]
    }
    case 'storageos':
      return storageOsErrors(at, now.storageos!)
    case 'csi':
      return csiErrors(at, now.csi!)
    default:
      return validateSharedSource(field, at, now[field])
  }
}

const monitorsErrors = (at: FieldPath, monitors: readonly string[] = []): FieldError[] =>
  monitors.length === 0 ? [required(at.child('monitors'))] : []

function glusterErrors(at: FieldPath, source: GlusterfsPersistentVolumeSource): FieldError[] {
  const { endpoints, path: volume, endpointsNamespace: namespace } = source
  const here = at.child('endpointsNamespace')
  return [
    ...requiredText(at.child('endpoints'), endpoints),
    ...requiredText(at.child('path'), volume),
    ...(namespace === ''
      ? [invalidValue(here, '', 'if the endpointnamespace is set, it must be a valid namespace name')]
      : namespace === undefined
        ? []
        : validateLabelText(here, namespace)),
  ]
}

const namedSecretErrors = (at: FieldPath, secret: SecretReference | undefined): FieldError[] =>
  secret === undefined
    ? []
    : [...requiredText(at.child('name'), secret.name), ...requiredText(at.child('namespace'), secret.namespace)]

function iscsiErrors(at: FieldPath, source: ISCSIPersistentVolumeSource, name: string): FieldError[] {
  const { targetPortal = '', initiatorName, iqn = '', lun = 0, secretRef } = source
  const needsSecret = (source.chapAuthDiscovery || source.chapAuthSession) && secretRef === undefined
  return [
    ...requiredText(at.child('targetPortal'), targetPortal),
    ...(initiatorName !== undefined && byteLength(`${name}:${targetPortal}`) > 64
      ? [
          invalidValue(
            at.child('targetportal'),
            targetPortal,
            'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
          ),
        ]
      : []),
    ...(iqn === '' ? [required(at.child('iqn'))] : initiatorErrors(at.child('iqn'), iqn)),
    ...inRange(at.child('lun'), lun, 0, 255),
    ...(needsSecret ? [required(at.child('secretRef'))] : []),
    ...(secretRef === undefined ? [] : requiredText(at.child('secretRef', 'name'), secretRef.name)),
    ...(initiatorName === undefined ? [] : initiatorErrors(at.child('initiatorname'), initiatorName)),
  ]
}

function initiatorErrors(at: FieldPath, name: string): FieldError[] {
  const format = IQN_FORMATS.find(([prefix]) => name.startsWith(prefix))
  return format?.[1].test(name) ? [] : [invalidValue(at, name, BAD_FORMAT)]
}

const flexErrors = (at: FieldPath, { driver, options = {} }: FlexPersistentVolumeSource): FieldError[] => [
  ...requiredText(at.child('driver'), driver),
  ...errorsByName(options, (key) =>
    /\.(kubernetes|k8s)\.io$/.test(`.${key.split('/')[0]!.toLowerCase()}`)
      ? [invalidValue(at.child('options').key(key), key, 'kubernetes.io and k8s.io namespaces are reserved')]
      : [],
  ),
]

const storageOsErrors = (at: FieldPath, source: StorageOSPersistentVolumeSource): FieldError[] => [
  ...(source.volumeName
    ? validateLabelText(at.child('volumeName'), source.volumeName)
    : [required(at.child('volumeName'))]),
  ...(source.volumeNamespace ? validateLabelText(at.child('volumeNamespace'), source.volumeNamespace) : []),
  ...namedSecretErrors(at.child('secretRef'), source.secretRef),
]

function csiErrors(at: FieldPath, source: CSIPersistentVolumeSource): FieldError[] {
  const secrets = [
    'controllerPublishSecretRef',
    'controllerExpandSecretRef',
    'nodePublishSecretRef',
    'nodeExpandSecretRef',
  ] as const
  return [
    ...validateCsiDriverName(at.child('driver'), source.driver ?? ''),
    ...requiredText(at.child('volumeHandle'), source.volumeHandle),
    ...secrets.flatMap((field) => {
      const secret = source[field]
      if (secret === undefined) return []
      const { name, namespace } = secret
      const here = at.child(field)
      return [
        ...(name ? validateSubdomain(here.child('name'), name) : [required(here.child('name'))]),
        ...(namespace ? validateLabelText(here.child('namespace'), namespace) : [required(here.child('namespace'))]),
      ]
    }),
  ]
}
