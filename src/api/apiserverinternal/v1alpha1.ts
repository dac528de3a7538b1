// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export interface ServerStorageVersion {
  apiServerID?: string
  encodingVersion?: string
  decodableVersions?: string[]
  servedVersions?: string[]
}
export interface StorageVersion {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: StorageVersionSpec
  status?: StorageVersionStatus
}
export interface StorageVersionCondition {
  type?: string
  status?: string
  observedGeneration?: number | bigint
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface StorageVersionList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: StorageVersion[]
}
export type StorageVersionSpec = Record<string, never>
export interface StorageVersionStatus {
  storageVersions?: ServerStorageVersion[]
  commonEncodingVersion?: string
  conditions?: StorageVersionCondition[]
}
