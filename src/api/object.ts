/**
 * Objects as they are in memory: plain JSON values. Whole numbers outside of ±(2^53 − 1) are `bigint`
 * (see codec/json), so that int64 fields survive exactly.
 */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json | undefined
}

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export interface ManagedFieldsEntry {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  time?: string
  fieldsType?: string
  fieldsV1?: JsonObject
  subresource?: string
}

/** meta.k8s.io/v1 ObjectMeta. Times are RFC 3339 text in UTC with whole seconds. */
export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  selfLink?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
}

export interface ListMeta {
  selfLink?: string
  resourceVersion?: string
  continue?: string
  remainingItemCount?: number
}

/** Any API object: type and metadata are known, the rest is whatever its kind says. */
export interface KubeObject {
  kind?: string
  apiVersion?: string
  metadata: ObjectMeta
  [field: string]: unknown
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
