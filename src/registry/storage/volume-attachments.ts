import { withoutSpecAndMetadata } from '../../patch/reset-fields.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, path, required, tooLong } from '../../api/field.ts'
import type {
  VolumeAttachment,
  VolumeAttachmentSource,
  VolumeAttachmentStatus,
  VolumeError,
} from '../../api/storage/v1.ts'
import { immutable, inRange, MAX_INT32, validateSubdomain } from '../../validation/field-rules.ts'
import { ownValue } from '../../base/own.ts'
import { eachName, kept } from '../../base/parts.ts'
import { byteLength } from '../../base/utf8.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { validateCsiDriverName } from '../../validation/pod/volume-sources.ts'
import { keepMetadata } from '../metadata-of-status.ts'
import { sameValue } from '../../validation/same-value.ts'
import { specErrors } from '../core/volumes/persistent-volume-validation.ts'
import { volumeAttachmentPrinter } from '../../codec/table/storage.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { attachableRules } from '../core/volumes/volume-work.ts'

const MAX_METADATA_BYTES = 256 * 1024
const MAX_MESSAGE_BYTES = 1024
const SPEC_TYPE = 'io.k8s.api.storage.v1.VolumeAttachmentSpec'
const spec = path('spec')
const status = path('status')
const ONE_SOURCE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'

export const volumeAttachments: BuiltInDefinition<VolumeAttachment> = {
  workloadWork: attachableRules,
  printer: volumeAttachmentPrinter,
  allowUnconditionalUpdate: false,
  resetFields: { status: withoutSpecAndMetadata },
  validate: attachmentErrors,
  metadataOnUpdate: 'as new',
  validateUpdate: (attachment, old) => [
    ...attachmentErrors(attachment),
    ...immutable(
      spec,
      () => internalJson(SPEC_TYPE, attachment.spec ?? {}),
      sameValue(SPEC_TYPE, attachment.spec, old.spec),
    ),
  ],
  subresources: {
    status: {
      prepareForUpdate: ({ metadata }, old) => keepMetadata(metadata, old.metadata),
      metadataOnUpdate: 'as new',
      validateUpdate: attachmentErrors,
    },
  },
}

function attachmentErrors({ spec: now = {}, status: state = {} }: VolumeAttachment): FieldError[] {
  const { attacher = '', source = {}, nodeName = '' } = now
  const volume = source.persistentVolumeName
  return [
    ...validateCsiDriverName(spec.child('attacher'), attacher),
    ...sourceErrors(spec.child('source'), source),
    ...validateSubdomain(spec.child('nodeName'), nodeName),
    ...statusErrors(state),
    ...(volume === undefined ? [] : validateSubdomain(spec.child('source', 'persistentVolumeName'), volume)),
  ]
}

function sourceErrors(at: FieldPath, { inlineVolumeSpec, persistentVolumeName }: VolumeAttachmentSource): FieldError[] {
  if (inlineVolumeSpec === undefined && persistentVolumeName === undefined) return [required(at, ONE_SOURCE)]
  if (inlineVolumeSpec !== undefined && persistentVolumeName !== undefined) return [forbiddenField(at, ONE_SOURCE)]
  if (inlineVolumeSpec !== undefined)
    return specErrors(at.child('inlineVolumeSpec'), inlineVolumeSpec, { name: '', inline: true })
  return persistentVolumeName === ''
    ? [required(at.child('persistentVolumeName'), 'must specify non empty persistentVolumeName')]
    : []
}

function statusErrors({ attachmentMetadata = {}, attachError, detachError }: VolumeAttachmentStatus): FieldError[] {
  const total = kept(attachmentMetadata, () => ({ bytes: 0 }))
  eachName(attachmentMetadata, Object.keys, (key) => {
    total.bytes += byteLength(key) + byteLength(ownValue(attachmentMetadata, key)!)
  })
  return [
    ...(total.bytes > MAX_METADATA_BYTES ? [tooLong(status.child('attachmentMetadata'), MAX_METADATA_BYTES)] : []),
    ...volumeErrors(status.child('attachError'), attachError),
    ...volumeErrors(status.child('detachError'), detachError),
  ]
}

function volumeErrors(at: FieldPath, error: VolumeError | undefined): FieldError[] {
  if (error === undefined) return []
  const { message = '', errorCode } = error
  return [
    // kube-apiserver's message names another limit than the one that it applies
    ...(byteLength(message) > MAX_MESSAGE_BYTES ? [tooLong(at.child('message'), MAX_METADATA_BYTES)] : []),
    ...(errorCode === undefined ? [] : inRange(at.child('errorCode'), errorCode, 0, MAX_INT32)),
  ]
}
