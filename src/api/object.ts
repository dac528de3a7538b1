import type * as MetaV1 from './meta/v1.ts'

/**
 * Objects in memory are plain JSON values. Whole numbers outside of ±(2^53 − 1) are `bigint` (json/numbers.ts), so
 * that int64 fields stay exact.
 */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json | undefined
}

export type ObjectMeta = MetaV1.ObjectMeta
export type ListMeta = MetaV1.ListMeta
export type OwnerReference = MetaV1.OwnerReference
export type ManagedFieldsEntry = MetaV1.ManagedFieldsEntry

/** Any API object with its TypeMeta and ObjectMeta. Its kind declares the other fields (src/api/GROUP/VERSION.ts). */
export interface KubeObject {
  kind?: string
  apiVersion?: string
  metadata: ObjectMeta
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An object as JSON. The interfaces of objects have no index signature. */
export const asJson = (object: Partial<KubeObject>): JsonObject => object as unknown as JsonObject
