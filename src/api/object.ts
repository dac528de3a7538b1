import type * as MetaV1 from './meta/v1.ts'

/**
 * Objects as they are in memory: plain JSON values. Whole numbers outside of ±(2^53 − 1) are `bigint`
 * (see api/json.ts), so that int64 fields survive exactly.
 */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json | undefined
}

export type ObjectMeta = MetaV1.ObjectMeta
export type ListMeta = MetaV1.ListMeta
export type OwnerReference = MetaV1.OwnerReference
export type ManagedFieldsEntry = MetaV1.ManagedFieldsEntry

/** Any API object: type and metadata are known, the rest is whatever its kind says (see src/api/GROUP/VERSION.ts). */
export interface KubeObject {
  kind?: string
  apiVersion?: string
  metadata: ObjectMeta
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Objects are JSON whose interfaces do not say so. */
export const asJson = (object: KubeObject): JsonObject => object as unknown as JsonObject
