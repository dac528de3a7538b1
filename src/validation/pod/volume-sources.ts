/** Validates each source of a volume (core validation of VolumeSource). */
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, notSupported, notSupportedString, required, tooLong } from '../../api/field.ts'
import { Quantity } from '../../schema/quantity.ts'
import { inRange, problems, rangeText, requiredText, validateLabelText } from '../field-rules.ts'
import { descendingPath, withoutBacksteps } from '../local-paths.ts'
import { dns1123Subdomain } from '../names.ts'
import { byteLength } from '../../base/utf8.ts'
import { validateClaimTemplate } from '../persistent-volume-claim-spec.ts'
import { validateProjected } from './projected-volume.ts'
import { validatePullPolicy } from './pull-policy.ts'
import type { PodRules } from './rules.ts'
import { errorsByName, errorsOf } from '../errors-of.ts'
import { validateDownwardFile, validateFileMode, validateItems } from './volume-files.ts'

export interface VolumeContext {
  readonly name: string
  readonly podName: string
  readonly rules: PodRules
}

export type Source<T> = (at: FieldPath, source: T, context: VolumeContext) => FieldError[]

export type SourceName = Exclude<keyof CoreV1.Volume, 'name'>

const NAME_REQUIRED = 'name'

function validatePartition(at: FieldPath, partition = 0): FieldError[] {
  return partition < 0 || partition > 255 ? [invalidValue(at, partition, rangeText(1, 255))] : []
}

/**
 * Matches `iqn\.\d{4}-\d{2}\.([-.a-zA-Z0-9]+)(:[^,;*&$|\s]+)$` in linear time; a match may begin anywhere. Only the
 * text behind the last excluded character can match, and one of its parts before a colon must end with date and
 * authority.
 */
function isIqn(name: string): boolean {
  const tail = name.split(/[,;*&$|\s]/).at(-1)!
  const parts = (tail.endsWith(':') ? tail.slice(0, -1) : tail).split(':').slice(0, -1)
  return parts.some((part) => /iqn\.\d{4}-\d{2}\../.test(part.split(/[^-.a-zA-Z0-9]/).at(-1)!))
}

export const IQN_FORMATS: readonly (readonly [prefix: string, format: Pick<RegExp, 'test'>])[] = [
  ['iqn', { test: isIqn }],
  ['eui', /^eui.[a-zA-Z0-9]{16}$/],
  ['naa', /^naa.[a-zA-Z0-9]{32}$/],
]

function validateInitiator(at: FieldPath, name: string): FieldError[] {
  const format = IQN_FORMATS.find(([prefix]) => name.startsWith(prefix))
  if (format === undefined) return [invalidValue(at, name, 'must be valid format starting with iqn, eui, or naa')]
  return format[1].test(name) ? [] : [invalidValue(at, name, 'must be valid format')]
}

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]
const HOST_PORTS = 'must be a host:port pair or multiple pairs separated by commas'
const MANAGED_DISK = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
const BLOB_DISK = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'

/** The checks of volume sources, in the order of kube-apiserver's checks. */
export const sourceRules: { readonly [F in SourceName]: Source<NonNullable<CoreV1.Volume[F]>> } = {
  emptyDir: (at, { sizeLimit }) =>
    sizeLimit !== undefined && Quantity.parse(sizeLimit).sign < 0
      ? [forbiddenField(at.child('sizeLimit'), 'SizeLimit field must be a valid resource quantity')]
      : [],
  hostPath: (at, { path, type }) =>
    !path
      ? [required(at.child('path'))]
      : [
          ...withoutBacksteps(at.child('path'), path),
          ...(type !== undefined && !HOST_PATH_TYPES.includes(type)
            ? [notSupported(at.child('type'), type, HOST_PATH_TYPES)]
            : []),
        ],
  gitRepo: (at, { repository, directory = '' }) => [
    ...requiredText(at.child('repository'), repository),
    ...descendingPath(at.child('directory'), directory),
  ],
  gcePersistentDisk: (at, { pdName, partition }) => [
    ...requiredText(at.child('pdName'), pdName),
    ...validatePartition(at.child('partition'), partition),
  ],
  awsElasticBlockStore: (at, { volumeID, partition }) => [
    ...requiredText(at.child('volumeID'), volumeID),
    ...validatePartition(at.child('partition'), partition),
  ],
  secret: (at, { secretName, defaultMode, items }) => [
    ...requiredText(at.child('secretName'), secretName),
    ...validateFileMode(at.child('defaultMode'), defaultMode),
    ...validateItems(at.child('items'), items),
  ],
  nfs: (at, { server, path = '' }) => [
    ...requiredText(at.child('server'), server),
    ...requiredText(at.child('path'), path),
    ...(path.startsWith('/') ? [] : [invalidValue(at.child('path'), path, 'must be an absolute path')]),
  ],
  iscsi: (at, { targetPortal, iqn, lun = 0, chapAuthDiscovery, chapAuthSession, secretRef, initiatorName }) => [
    ...requiredText(at.child('targetPortal'), targetPortal),
    ...(iqn ? validateInitiator(at.child('iqn'), iqn) : [required(at.child('iqn'))]),
    ...inRange(at.child('lun'), lun, 0, 255),
    ...((chapAuthDiscovery || chapAuthSession) && secretRef === undefined ? [required(at.child('secretRef'))] : []),
    ...(initiatorName === undefined ? [] : validateInitiator(at.child('initiatorname'), initiatorName)),
  ],
  glusterfs: (at, { endpoints, path }) => [
    ...requiredText(at.child('endpoints'), endpoints),
    ...requiredText(at.child('path'), path),
  ],
  flocker: (at, { datasetName = '', datasetUUID = '' }) => [
    ...(datasetName === '' && datasetUUID === ''
      ? [required(at, 'one of datasetName and datasetUUID is required')]
      : []),
    ...(datasetName !== '' && datasetUUID !== ''
      ? [invalidValue(at, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')]
      : []),
    ...(datasetName.includes('/') ? [invalidValue(at.child('datasetName'), datasetName, "must not contain '/'")] : []),
  ],
  persistentVolumeClaim: (at, { claimName }) => requiredText(at.child('claimName'), claimName),
  rbd: (at, { monitors = [], image }) => [
    ...(monitors.length === 0 ? [required(at.child('monitors'))] : []),
    ...requiredText(at.child('image'), image),
  ],
  cinder: (at, { volumeID, secretRef }) => [
    ...requiredText(at.child('volumeID'), volumeID),
    ...(secretRef === undefined ? [] : requiredText(at.child('secretRef', NAME_REQUIRED), secretRef.name)),
  ],
  cephfs: (at, { monitors = [] }) => (monitors.length === 0 ? [required(at.child('monitors'))] : []),
  quobyte: (at, { registry, tenant = '', volume }) => [
    ...(!registry
      ? [required(at.child('registry'), HOST_PORTS)]
      : tenant.length >= 65
        ? [required(at.child('tenant'), 'must be a UUID and may not exceed a length of 64 characters')]
        : registry
            .split(',')
            .filter((pair) => !isHostPort(pair))
            .map(() => invalidValue(at.child('registry'), registry, HOST_PORTS))),
    ...requiredText(at.child('volume'), volume),
  ],
  downwardAPI: (at, { defaultMode, items = [] }) => [
    ...validateFileMode(at.child('defaultMode'), defaultMode),
    ...errorsOf(items, (file) => validateDownwardFile(at, file)),
  ],
  fc: (at, { targetWWNs = [], wwids = [], lun }) => [
    ...(targetWWNs.length === 0 && wwids.length === 0
      ? [required(at.child('targetWWNs'), 'must specify either targetWWNs or wwids, but not both')]
      : []),
    ...(targetWWNs.length > 0 && wwids.length > 0
      ? [invalidValue(at.child('targetWWNs'), targetWWNs, 'targetWWNs and wwids can not be specified simultaneously')]
      : []),
    ...(targetWWNs.length === 0
      ? []
      : lun === undefined
        ? [required(at.child('lun'), 'lun is required if targetWWNs is specified')]
        : inRange(at.child('lun'), lun, 0, 255)),
  ],
  flexVolume: (at, { driver, options = {} }) => [
    ...requiredText(at.child('driver'), driver),
    ...errorsByName(options, (key) =>
      /\.(kubernetes|k8s)\.io$/.test(`.${key.split('/')[0]!.toLowerCase()}`)
        ? [invalidValue(at.child('options').key(key), key, 'kubernetes.io and k8s.io namespaces are reserved')]
        : [],
    ),
  ],
  configMap: (at, { name, defaultMode, items }) => [
    ...requiredText(at.child('name'), name),
    ...validateFileMode(at.child('defaultMode'), defaultMode),
    ...validateItems(at.child('items'), items),
  ],
  azureFile: (at, { secretName, shareName }) => [
    ...requiredText(at.child('secretName'), secretName),
    ...requiredText(at.child('shareName'), shareName),
  ],
  vsphereVolume: (at, { volumePath }) => requiredText(at.child('volumePath'), volumePath),
  photonPersistentDisk: (at, { pdID }) => requiredText(at.child('pdID'), pdID),
  portworxVolume: (at, { volumeID }) => requiredText(at.child('volumeID'), volumeID),
  azureDisk: validateAzureDisk,
  storageos: (at, { volumeName, volumeNamespace, secretRef }) => [
    ...(volumeName ? validateLabelText(at.child('volumeName'), volumeName) : [required(at.child('volumeName'))]),
    ...(volumeNamespace ? validateLabelText(at.child('volumeNamespace'), volumeNamespace) : []),
    ...(secretRef === undefined ? [] : requiredText(at.child('secretRef', NAME_REQUIRED), secretRef.name)),
  ],
  projected: (at, source, { rules }) => [
    ...validateFileMode(at.child('defaultMode'), source.defaultMode),
    ...validateProjected(at, source, rules),
  ],
  scaleIO: (at, { gateway, system, volumeName }) => [
    ...requiredText(at.child('gateway'), gateway),
    ...requiredText(at.child('system'), system),
    ...requiredText(at.child('volumeName'), volumeName),
  ],
  csi: (at, { driver = '', nodePublishSecretRef }) => [
    ...validateCsiDriverName(at.child('driver'), driver),
    ...(nodePublishSecretRef === undefined
      ? []
      : nodePublishSecretRef.name
        ? problems(at.child('name'), nodePublishSecretRef.name, dns1123Subdomain(nodePublishSecretRef.name))
        : [required(at.child('nodePublishSecretRef', NAME_REQUIRED))]),
  ],
  ephemeral: (at, { volumeClaimTemplate }) =>
    volumeClaimTemplate === undefined
      ? [required(at.child('volumeClaimTemplate'))]
      : validateClaimTemplate(at.child('volumeClaimTemplate'), volumeClaimTemplate),
  image: (at, { reference, pullPolicy }, { rules }) => [
    ...(rules.isPod ? requiredText(at.child('reference'), reference) : []),
    ...validatePullPolicy(at.child('pullPolicy'), pullPolicy),
  ],
}

/** Sources that PersistentVolumes have, too, with the same rules. These rules do not depend on a pod. */
export type SharedSource =
  | 'hostPath'
  | 'gcePersistentDisk'
  | 'awsElasticBlockStore'
  | 'flocker'
  | 'nfs'
  | 'quobyte'
  | 'fc'
  | 'vsphereVolume'
  | 'photonPersistentDisk'
  | 'portworxVolume'
  | 'azureDisk'

export const validateSharedSource = (field: SharedSource, at: FieldPath, source: unknown): FieldError[] =>
  // the field determines the type of the source
  (sourceRules[field] as (at: FieldPath, source: unknown, context: VolumeContext | undefined) => FieldError[])(
    at,
    source,
    undefined,
  )

export const sourceOrder: readonly SourceName[] = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
]

function validateAzureDisk(at: FieldPath, disk: CoreV1.AzureDiskVolumeSource): FieldError[] {
  const { diskName, diskURI = '', cachingMode, kind } = disk
  const errors = [...requiredText(at.child('diskName'), diskName), ...requiredText(at.child('diskURI'), diskURI)]
  const modes = ['None', 'ReadOnly', 'ReadWrite']
  const kinds = ['Dedicated', 'Managed', 'Shared']
  if (cachingMode !== undefined && !modes.includes(cachingMode))
    errors.push(notSupported(at.child('cachingMode'), cachingMode, modes))
  if (kind !== undefined && !kinds.includes(kind)) errors.push(notSupported(at.child('kind'), kind, kinds))
  if (kind === 'Managed' && !diskURI.startsWith('/subscriptions/'))
    errors.push(notSupportedString(at.child('diskURI'), diskURI, [MANAGED_DISK]))
  if (kind !== undefined && kind !== 'Managed' && !diskURI.startsWith('https://'))
    errors.push(notSupportedString(at.child('diskURI'), diskURI, [BLOB_DISK]))
  return errors
}

export function validateCsiDriverName(at: FieldPath, name: string): FieldError[] {
  if (name === '') return [required(at)]
  return [
    ...(byteLength(name) > 63 ? [tooLong(at, 63)] : []),
    ...problems(at, name, dns1123Subdomain(name.toLowerCase())),
  ]
}

/** Whether Go's net.SplitHostPort accepts the text. */
const isHostPort = (text: string): boolean => /^(\[[^\[\]]*\]|[^:\[\]]*):[^:\[\]]*$/.test(text)
