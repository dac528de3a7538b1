// Generated from the facts by `npm run generate`. Do not edit.
import type * as ApiResource from '../api/resource.ts'
import type * as CoreV1 from '../core/v1.ts'
import type * as MetaV1 from '../meta/v1.ts'

export interface CSIDriver {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: CSIDriverSpec
}
export interface CSIDriverList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: CSIDriver[]
}
export interface CSIDriverSpec {
  attachRequired?: boolean
  podInfoOnMount?: boolean
  volumeLifecycleModes?: string[]
  storageCapacity?: boolean
  fsGroupPolicy?: string
  tokenRequests?: TokenRequest[]
  requiresRepublish?: boolean
  seLinuxMount?: boolean
  nodeAllocatableUpdatePeriodSeconds?: number | bigint
  serviceAccountTokenInSecrets?: boolean
  preventPodSchedulingIfMissing?: boolean
}
export interface CSINode {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: CSINodeSpec
}
export interface CSINodeDriver {
  name?: string
  nodeID?: string
  topologyKeys?: string[]
  allocatable?: VolumeNodeResources
}
export interface CSINodeList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: CSINode[]
}
export interface CSINodeSpec {
  drivers?: CSINodeDriver[]
}
export interface CSIStorageCapacity {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  nodeTopology?: MetaV1.LabelSelector
  storageClassName?: string
  capacity?: ApiResource.Quantity
  maximumVolumeSize?: ApiResource.Quantity
}
export interface CSIStorageCapacityList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: CSIStorageCapacity[]
}
export interface StorageClass {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  provisioner?: string
  parameters?: Record<string, string>
  reclaimPolicy?: string
  mountOptions?: string[]
  allowVolumeExpansion?: boolean
  volumeBindingMode?: string
  allowedTopologies?: CoreV1.TopologySelectorTerm[]
}
export interface StorageClassList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: StorageClass[]
}
export interface TokenRequest {
  audience?: string
  expirationSeconds?: number | bigint
}
export interface VolumeAttachment {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: VolumeAttachmentSpec
  status?: VolumeAttachmentStatus
}
export interface VolumeAttachmentList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: VolumeAttachment[]
}
export interface VolumeAttachmentSource {
  persistentVolumeName?: string
  inlineVolumeSpec?: CoreV1.PersistentVolumeSpec
}
export interface VolumeAttachmentSpec {
  attacher?: string
  source?: VolumeAttachmentSource
  nodeName?: string
}
export interface VolumeAttachmentStatus {
  attached?: boolean
  attachmentMetadata?: Record<string, string>
  attachError?: VolumeError
  detachError?: VolumeError
}
export interface VolumeAttributesClass {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  driverName?: string
  parameters?: Record<string, string>
}
export interface VolumeAttributesClassList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: VolumeAttributesClass[]
}
export interface VolumeError {
  time?: MetaV1.Time
  message?: string
  errorCode?: number
}
export interface VolumeNodeResources {
  count?: number
}
