import type { PersistentVolumeClaim } from '../../api/core/v1.ts'
import { defaultClass } from './default-class.ts'
import type { AdmissionPlugin } from '../attributes.ts'

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'
const storageClasses = { group: 'storage.k8s.io', resource: 'storageclasses' }
const marks = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class']

/** DefaultStorageClass: a new claim without a class gets the default class. */
export const defaultStorageClass: AdmissionPlugin = {
  name: 'DefaultStorageClass',
  handles: ({ operation, resource, subresource }) =>
    operation === 'CREATE' &&
    resource.group === '' &&
    resource.resource === 'persistentvolumeclaims' &&
    subresource === '',
  async admit({ object, request }) {
    const claim = object as PersistentVolumeClaim | undefined // only claims are created at this path
    if (claim === undefined || claim.spec?.storageClassName !== undefined) return
    if (claim.metadata.annotations?.[CLASS_ANNOTATION] !== undefined) return
    const name = await defaultClass(request, storageClasses, marks)
    if (name !== undefined) claim.spec = { ...claim.spec, storageClassName: name }
  },
}
