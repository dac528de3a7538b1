import { definitionOf } from '../../registry/definitions.ts'
import type { AdmissionPlugin } from '../attributes.ts'

/** New objects of these kinds get a finalizer, which stays as long as the object is in use. */
const protecting = (name: string, isOf: (group: string) => boolean): AdmissionPlugin => ({
  name,
  handles: ({ operation, resource, subresource }) =>
    operation === 'CREATE' &&
    isOf(resource.group) &&
    definitionOf(resource).protection !== undefined &&
    subresource === '',
  admit({ object, resource }) {
    const finalizer = definitionOf(resource).protection?.finalizer
    if (object === undefined || finalizer === undefined) return
    const present = object.metadata.finalizers ?? []
    if (!present.includes(finalizer)) object.metadata.finalizers = [...present, finalizer]
  },
})

const POD_GROUPS = 'scheduling.k8s.io'
export const storageObjectInUseProtection = protecting('StorageObjectInUseProtection', (group) => group !== POD_GROUPS)
export const podGroupProtection = protecting('PodGroupProtection', (group) => group === POD_GROUPS)
