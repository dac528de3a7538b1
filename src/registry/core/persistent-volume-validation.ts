/** What a PersistentVolume must be, and what of it may change (kubernetes' pkg/apis/core/validation). */
import { append } from '../../api/append.ts'
import type {
  CSIPersistentVolumeSource,
  FlexPersistentVolumeSource,
  GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  PersistentVolume,
  PersistentVolumeSpec,
  SecretReference,
  StorageOSPersistentVolumeSource,
  VolumeNodeAffinity,
} from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import {
  forbiddenField,
  invalidValue,
  jsonText,
  notSupported,
  notSupportedText,
  path,
  required,
} from '../../api/field.ts'
import type { JsonObject } from '../../api/object.ts'
import { ownValue } from '../../api/own.ts'
import { sentField } from '../../schema/emptied.ts'
import { Quantity } from '../../schema/quantity.ts'
import { immutable, inRange, requiredText, validateLabelText, validateSubdomain } from '../../validation/field-rules.ts'
import { differenceText } from '../../validation/difference-text.ts'
import { withoutBacksteps } from '../../validation/local-paths.ts'
import { labelValueProblems } from '../../validation/names.ts'
import { byteLength } from '../../api/utf8.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { validateNodeSelector } from '../../validation/pod/scheduling.ts'
import type { SharedSource } from '../../validation/pod/volumes.ts'
import { IQN_FORMATS, validateCsiDriverName, validateSharedSource } from '../../validation/pod/volumes.ts'
import { sortedKeys } from '../../api/json.ts'
import { kept, mapNames } from '../../api/parts.ts'
import { errorsByName, errorsOf } from '../../validation/errors-of.ts'

const specAt = path('spec')
const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
const reclaimPolicies = ['Delete', 'Recycle', 'Retain']
const volumeModes = ['Block', 'Filesystem']
const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options'
const BAD_FORMAT = 'must be valid format'

export function validateVolume(volume: PersistentVolume, old?: PersistentVolume): FieldError[] {
  const now = volume.spec ?? {}
  return [...specErrors(specAt, now, { name: volume.metadata.name ?? '', old }), ...mountOptionErrors(volume)]
}

export interface SpecContext {
  readonly name: string
  /** The stored volume of an update: what it holds may stay. */
  readonly old?: PersistentVolume
  /** The spec stands in a VolumeAttachment, without a volume of its own. */
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

/** Two at most. */
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
      // kube-apiserver counts in 64 bits here
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
  const hadInvalid = terms.some(({ matchExpressions = [] }) =>
    matchExpressions.some(({ values = [] }) => values.some((value) => labelValueProblems(value).length > 0)),
  )
  return validateNodeSelector(at, selector, hadInvalid)
}

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

/** In the order in which kube-apiserver looks for them. */
const sourceOrder: readonly SourceName[] = [
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
/** Paths that are not the field's own, as clients know them. */
const pathsOfRules: Partial<Record<SourceName, string>> = { gcePersistentDisk: 'persistentDisk' }
const pathsOfSecond: Partial<Record<SourceName, string>> = { cephfs: 'cephFS' }

function sourceErrors(spec: FieldPath, now: PersistentVolumeSpec, name: string): FieldError[] {
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

/** Checks of what may not change. Others validate the new state. */
export function volumeChangeErrors(now: PersistentVolumeSpec, before: PersistentVolumeSpec): FieldError[] {
  const classBefore = before.volumeAttributesClassName
  return [
    ...sourceChangeErrors(now, before),
    // kube-apiserver reports these paths without `spec`
    ...immutable(path('volumeMode'), now.volumeMode, now.volumeMode === before.volumeMode),
    ...(before.nodeAffinity !== undefined && !sameAffinity(now.nodeAffinity, before.nodeAffinity)
      ? [
          invalidValue(
            path('nodeAffinity'),
            now.nodeAffinity === undefined ? null : affinityAsPrinted(now.nodeAffinity),
            'field is immutable, except for updating from beta label to GA',
          ),
        ]
      : []),
    ...(classBefore !== undefined && now.volumeAttributesClassName === undefined
      ? [forbiddenField(specAt.child('volumeAttributesClassName'), 'update from non-nil value to nil is forbidden')]
      : []),
  ]
}

function sourceChangeErrors(now: PersistentVolumeSpec, before: PersistentVolumeSpec): FieldError[] {
  const source = (of: PersistentVolumeSpec) => JSON.stringify(sorted(sourcesOf(of)))
  const old = source(before)
  if (source(now) === old) return []
  // a secret for growing may be added
  const { controllerExpandSecretRef, ...csi } = now.csi ?? {}
  const isAdded = before.csi !== undefined && before.csi.controllerExpandSecretRef === undefined
  if (now.csi !== undefined && isAdded && controllerExpandSecretRef !== undefined && source({ ...now, csi }) === old)
    return []
  return [
    forbiddenField(
      specAt.child('persistentvolumesource'),
      'spec.persistentvolumesource is immutable after creation\n' +
        differenceText(shownSources(before), shownSources(now)),
    ),
  ]
}

/** The sources, with the names that kube-apiserver uses inside. */
function shownSources(of: PersistentVolumeSpec): object {
  const whole = internalJson('io.k8s.api.core.v1.PersistentVolumeSpec', sourcesOf(of)) as JsonObject
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !besideSources.has(name)))
}

const besideSources = new Set(
  `Capacity AccessModes ClaimRef PersistentVolumeReclaimPolicy StorageClassName MountOptions VolumeMode NodeAffinity
  VolumeAttributesClassName`.split(/\s+/),
)

const sourcesOf = (of: PersistentVolumeSpec): object =>
  Object.fromEntries(sourceOrder.flatMap((field) => (of[field] === undefined ? [] : [[field, of[field]]])))

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, member]) => [key, sorted(member)]))
}

/** Labels of nodes that got other names may be written with these. kube-apiserver takes a removed key, too. */
const renamedLabels: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
}

function sameAffinity(now: VolumeNodeAffinity | undefined, before: VolumeNodeAffinity): boolean {
  if (now === undefined) return false
  const old = affinityAsPrinted(before).Required?.NodeSelectorTerms ?? []
  const terms = affinityAsPrinted(now).Required?.NodeSelectorTerms ?? []
  return (
    old.length === terms.length &&
    old.every((term, index) => {
      const other = terms[index]!
      return (
        sameExpressions(term.MatchFields ?? [], other.MatchFields ?? []) &&
        sameExpressions(term.MatchExpressions ?? [], other.MatchExpressions ?? [])
      )
    })
  )
}

interface Expression {
  readonly Key: string
  readonly Operator: string
  readonly Values: readonly string[] | null
}

const sameExpressions = (before: readonly Expression[], now: readonly Expression[]): boolean =>
  before.length === now.length &&
  before.every((old, index) => {
    const { Key, ...rest } = now[index]!
    const { Key: oldKey, ...oldRest } = old
    const isSameKey = Key === oldKey || (ownValue(renamedLabels, oldKey) ?? '') === Key
    return isSameKey && JSON.stringify(rest) === JSON.stringify(oldRest)
  })

/** With the names that kube-apiserver uses inside. */
function affinityAsPrinted({ required: selector }: VolumeNodeAffinity) {
  const expressions = (list: readonly { key?: string; operator?: string; values?: string[] }[] | undefined) =>
    list === undefined || list.length === 0
      ? null
      : list.map((one) => ({
          Key: one.key ?? '',
          Operator: one.operator ?? '',
          Values: sentField(one, 'values') ?? null,
        }))
  if (selector === undefined) return { Required: null }
  return {
    Required: {
      NodeSelectorTerms:
        selector.nodeSelectorTerms?.map(({ matchExpressions, matchFields }) => ({
          MatchExpressions: expressions(matchExpressions),
          MatchFields: expressions(matchFields),
        })) ?? null,
    },
  }
}
