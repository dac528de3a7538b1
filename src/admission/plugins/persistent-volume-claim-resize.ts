import type { PersistentVolumeClaim } from '../../api/core/v1.ts'
import type { StorageClass } from '../../api/storage/v1.ts'
import { forbidden } from '../../api/status.ts'
import { collectionOf } from '../../storage/collections.ts'
import { liveOf } from '../../codec/stored-object.ts'
import type { ApiCall } from '../../request/context.ts'
import { Quantity } from '../../schema/quantity.ts'
import { storageFor } from '../../storage/environment-storage.ts'
import type { AdmissionPlugin } from '../attributes.ts'

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'
const storageClasses = { group: 'storage.k8s.io', resource: 'storageclasses' }

/** PersistentVolumeClaimResize: a claim may grow only if it is bound and its class allows it. */
export const persistentVolumeClaimResize: AdmissionPlugin = {
  name: 'PersistentVolumeClaimResize',
  handles: ({ operation, resource, subresource }) =>
    operation === 'UPDATE' &&
    resource.group === '' &&
    resource.resource === 'persistentvolumeclaims' &&
    subresource === '',
  async validate({ object, oldObject, resource, name, request }) {
    const claim = object as PersistentVolumeClaim | undefined // only claims are written at this path
    const old = oldObject as PersistentVolumeClaim | undefined
    if (claim === undefined || old === undefined || sizeOf(claim).compare(sizeOf(old)) <= 0) return
    if (old.status?.phase !== 'Bound')
      throw forbidden(resource, name, 'Only bound persistent volume claims can be expanded')
    if (!(await mayGrow(claim, old, request)))
      throw forbidden(
        resource,
        name,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      )
  },
}

const sizeOf = ({ spec }: PersistentVolumeClaim): Quantity =>
  Quantity.tryParse(spec?.resources?.requests?.storage ?? '') ?? Quantity.zero

const classOf = ({ metadata, spec }: PersistentVolumeClaim): string =>
  metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? ''

async function mayGrow(claim: PersistentVolumeClaim, old: PersistentVolumeClaim, call: ApiCall): Promise<boolean> {
  const name = classOf(claim)
  if (name === '' || name !== classOf(old)) return false
  const stored = await storageFor(call).get(collectionOf(call.tenant, storageClasses), name)
  // every object of this collection was decoded as a StorageClass
  return stored !== undefined && ((liveOf(stored).object as StorageClass).allowVolumeExpansion ?? false)
}
