import { protectionFinalizer } from '../controllers/protection-finalizers.ts'
import type { AdmissionPlugin } from './attributes.ts'

/** StorageObjectInUseProtection: what is created of these kinds stays until nobody uses it. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  handles: ({ operation, resource, subresource }) =>
    operation === 'CREATE' && protectionFinalizer(resource) !== undefined && subresource === '',
  admit({ object, resource }) {
    const finalizer = protectionFinalizer(resource)
    if (object === undefined || finalizer === undefined) return
    const present = object.metadata.finalizers ?? []
    if (!present.includes(finalizer)) object.metadata.finalizers = [...present, finalizer]
  },
}
