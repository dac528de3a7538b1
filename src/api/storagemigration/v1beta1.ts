// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export interface StorageVersionMigration {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: StorageVersionMigrationSpec
  status?: StorageVersionMigrationStatus
}
export interface StorageVersionMigrationList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: StorageVersionMigration[]
}
export interface StorageVersionMigrationSpec {
  resource?: MetaV1.GroupResource
}
export interface StorageVersionMigrationStatus {
  conditions?: MetaV1.Condition[]
  resourceVersion?: string
}
