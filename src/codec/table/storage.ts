import type { CSIDriver, CSINode, StorageClass, VolumeAttachment, VolumeAttributesClass } from '../../api/storage/v1.ts'
import { age, nameOf, printer } from './cells.ts'

export const storageClassPrinter = printer<StorageClass>((object, now) => [
  isDefault(object) ? `${nameOf(object)} (default)` : nameOf(object),
  object.provisioner ?? '',
  object.reclaimPolicy ?? 'Delete',
  object.volumeBindingMode ?? 'Immediate',
  object.allowVolumeExpansion ?? false,
  age(object, now),
])

export const volumeAttributesClassPrinter = printer<VolumeAttributesClass>((object, now) => [
  nameOf(object),
  object.driverName ?? '',
  age(object, now),
])

export const volumeAttachmentPrinter = printer<VolumeAttachment>((object, now) => [
  nameOf(object),
  object.spec?.attacher ?? '',
  object.spec?.source?.persistentVolumeName ?? '',
  object.spec?.nodeName ?? '',
  object.status?.attached ?? false,
  age(object, now),
])

export const csiDriverPrinter = printer<CSIDriver>((object, now) => {
  const { spec = {} } = object
  const { tokenRequests } = spec
  return [
    nameOf(object),
    spec.attachRequired ?? true,
    spec.podInfoOnMount ?? false,
    spec.storageCapacity ?? false,
    tokenRequests === undefined ? '<unset>' : tokenRequests.map(({ audience = '' }) => audience).join(','),
    spec.requiresRepublish ?? false,
    (spec.volumeLifecycleModes ?? []).join(',') || '<none>',
    age(object, now),
  ]
})

export const csiNodePrinter = printer<CSINode>((object, now) => [
  nameOf(object),
  (object.spec?.drivers ?? []).length,
  age(object, now),
])

const isDefault = ({ metadata }: StorageClass): boolean =>
  metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true' ||
  metadata.annotations?.['storageclass.beta.kubernetes.io/is-default-class'] === 'true'
