import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { csiDrivers } from './csi-drivers.ts'
import { csiNodes } from './csi-nodes.ts'
import { csiStorageCapacities } from './csi-storage-capacities.ts'
import { storageClasses } from './storage-classes.ts'
import { volumeAttachments } from './volume-attachments.ts'
import { volumeAttributesClasses } from './volume-attributes-classes.ts'

export const storageDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'csidrivers.storage.k8s.io': untyped(csiDrivers),
  'csinodes.storage.k8s.io': untyped(csiNodes),
  'csistoragecapacities.storage.k8s.io': untyped(csiStorageCapacities),
  'storageclasses.storage.k8s.io': untyped(storageClasses),
  'volumeattachments.storage.k8s.io': untyped(volumeAttachments),
  'volumeattributesclasses.storage.k8s.io': untyped(volumeAttributesClasses),
}
