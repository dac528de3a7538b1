// Generated from the facts by `npm run generate`. Do not edit.
import type { Json, JsonObject } from '../object.ts'
import type * as PkgRuntime from '../pkg/runtime.ts'

export interface APIGroup {
  kind?: string
  apiVersion?: string
  name?: string
  versions?: GroupVersionForDiscovery[]
  preferredVersion?: GroupVersionForDiscovery
  serverAddressByClientCIDRs?: ServerAddressByClientCIDR[]
}
export interface APIGroupList {
  kind?: string
  apiVersion?: string
  groups?: APIGroup[]
}
export interface APIResource {
  name?: string
  singularName?: string
  namespaced?: boolean
  group?: string
  version?: string
  kind?: string
  verbs?: Verbs
  shortNames?: string[]
  categories?: string[]
  storageVersionHash?: string
}
export interface APIResourceList {
  kind?: string
  apiVersion?: string
  groupVersion?: string
  resources?: APIResource[]
}
export interface APIVersions {
  kind?: string
  apiVersion?: string
  versions?: string[]
  serverAddressByClientCIDRs?: ServerAddressByClientCIDR[]
}
export interface ApplyOptions {
  kind?: string
  apiVersion?: string
  dryRun?: string[]
  force?: boolean
  fieldManager?: string
}
export interface Condition {
  type?: string
  status?: string
  observedGeneration?: number | bigint
  lastTransitionTime?: Time
  reason?: string
  message?: string
}
export interface CreateOptions {
  kind?: string
  apiVersion?: string
  dryRun?: string[]
  fieldManager?: string
  fieldValidation?: string
}
export interface DeleteOptions {
  kind?: string
  apiVersion?: string
  gracePeriodSeconds?: number | bigint
  preconditions?: Preconditions
  orphanDependents?: boolean
  propagationPolicy?: string
  dryRun?: string[]
  ignoreStoreReadErrorWithClusterBreakingPotential?: boolean
}
export type Duration = string
export interface FieldSelectorRequirement {
  key?: string
  operator?: string
  values?: string[]
}
export type FieldsV1 = JsonObject
export interface GetOptions {
  kind?: string
  apiVersion?: string
  resourceVersion?: string
}
export interface GroupKind {
  group?: string
  kind?: string
}
export interface GroupResource {
  group?: string
  resource?: string
}
export interface GroupVersion {
  group?: string
  version?: string
}
export interface GroupVersionForDiscovery {
  groupVersion?: string
  version?: string
}
export interface GroupVersionKind {
  group?: string
  version?: string
  kind?: string
}
export interface GroupVersionResource {
  group?: string
  version?: string
  resource?: string
}
export interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: LabelSelectorRequirement[]
}
export interface LabelSelectorRequirement {
  key?: string
  operator?: string
  values?: string[]
}
export interface List {
  kind?: string
  apiVersion?: string
  metadata?: ListMeta
  items?: PkgRuntime.RawExtension[]
}
export interface ListMeta {
  selfLink?: string
  resourceVersion?: string
  continue?: string
  remainingItemCount?: number | bigint
  shardInfo?: ShardInfo
}
export interface ListOptions {
  kind?: string
  apiVersion?: string
  labelSelector?: string
  fieldSelector?: string
  watch?: boolean
  allowWatchBookmarks?: boolean
  resourceVersion?: string
  resourceVersionMatch?: string
  timeoutSeconds?: number | bigint
  limit?: number | bigint
  continue?: string
  sendInitialEvents?: boolean
  shardSelector?: string
}
export interface ManagedFieldsEntry {
  manager?: string
  operation?: string
  apiVersion?: string
  time?: Time
  fieldsType?: string
  fieldsV1?: FieldsV1
  subresource?: string
}
export type MicroTime = string
export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  selfLink?: string
  uid?: string
  resourceVersion?: string
  generation?: number | bigint
  creationTimestamp?: Time
  deletionTimestamp?: Time
  deletionGracePeriodSeconds?: number | bigint
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
}
export interface OwnerReference {
  apiVersion?: string
  kind?: string
  name?: string
  uid?: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}
export interface PartialObjectMetadata {
  kind?: string
  apiVersion?: string
  metadata: ObjectMeta
}
export interface PartialObjectMetadataList {
  kind?: string
  apiVersion?: string
  metadata?: ListMeta
  items?: PartialObjectMetadata[]
}
export type Patch = Record<string, never>
export interface PatchOptions {
  kind?: string
  apiVersion?: string
  dryRun?: string[]
  force?: boolean
  fieldManager?: string
  fieldValidation?: string
}
export interface Preconditions {
  uid?: string
  resourceVersion?: string
}
export interface RootPaths {
  paths?: string[]
}
export interface ServerAddressByClientCIDR {
  clientCIDR?: string
  serverAddress?: string
}
export interface ShardInfo {
  selector?: string
}
export interface Status {
  kind?: string
  apiVersion?: string
  metadata?: ListMeta
  status?: string
  message?: string
  reason?: string
  details?: StatusDetails
  code?: number
}
export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}
export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}
export interface Table {
  kind?: string
  apiVersion?: string
  metadata?: ListMeta
  columnDefinitions?: TableColumnDefinition[]
  rows?: TableRow[]
}
export interface TableColumnDefinition {
  name?: string
  type?: string
  format?: string
  description?: string
  priority?: number
}
export interface TableOptions {
  kind?: string
  apiVersion?: string
  includeObject?: string
}
export interface TableRow {
  cells?: Json[]
  conditions?: TableRowCondition[]
  object?: PkgRuntime.RawExtension
}
export interface TableRowCondition {
  type?: string
  status?: string
  reason?: string
  message?: string
}
export type Time = string
export interface Timestamp {
  seconds?: number | bigint
  nanos?: number
}
export interface TypeMeta {
  kind?: string
  apiVersion?: string
}
export interface UpdateOptions {
  kind?: string
  apiVersion?: string
  dryRun?: string[]
  fieldManager?: string
  fieldValidation?: string
}
export type Verbs = string[]
export interface WatchEvent {
  type?: string
  object?: PkgRuntime.RawExtension
}
