/**
 * Fields that a write cannot change, and of which it therefore makes no one the owner. A write to the main resource
 * leaves the status alone, a write to `status` leaves the spec alone.
 */
import { lazy } from '../base/lazy.ts'
import { FieldSet } from './field-set.ts'

/** Returns the filter for sets of fields of this version; undefined where every field stays. */
export type ResetFields = (apiVersion: string) => ((fields: FieldSet) => FieldSet) | undefined

/** @param paths each a list of field names, from the root of the object */
export const without = (...paths: readonly (readonly string[])[]): ResetFields => {
  const reset = lazy(() => FieldSet.of(...paths.map((path) => path.map((name) => `f:${name}`))))
  return () => (fields) => fields.recursiveDifference(reset())
}

export const withoutStatus = without(['status'])
export const withoutSpec = without(['spec'])
export const withoutSpecAndMetadata = without(['spec'], ['metadata'])
export const everything: ResetFields = () => undefined
