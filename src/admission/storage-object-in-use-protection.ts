import { groupResourceText } from '../api/group-version.ts'
import type { AdmissionPlugin } from './attributes.ts'

const finalizers: Readonly<Record<string, string>> = {
  persistentvolumes: 'kubernetes.io/pv-protection',
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  'volumeattributesclasses.storage.k8s.io': 'kubernetes.io/vac-protection',
}

/** StorageObjectInUseProtection: what is created of these kinds stays until nobody uses it. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  handles: ({ operation, resource, subresource }) =>
    operation === 'CREATE' && groupResourceText(resource) in finalizers && subresource === '',
  admit({ object, resource }) {
    const finalizer = finalizers[groupResourceText(resource)]
    if (object === undefined || finalizer === undefined) return
    const present = object.metadata.finalizers ?? []
    if (!present.includes(finalizer)) object.metadata.finalizers = [...present, finalizer]
  },
}
