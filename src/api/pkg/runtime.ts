// Generated from the facts by `npm run generate`. Do not edit.
import type { Json } from '../object.ts'

export type RawExtension = Json
export interface TypeMeta {
  apiVersion?: string
  kind?: string
}
export type Unknown = Json
