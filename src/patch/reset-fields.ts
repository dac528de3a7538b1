/**
 * Fields that a write can't change, so that nobody becomes their owner by it: the main resource does not write the
 * status, `status` does not write the spec.
 */
import { lazy } from '../api/lazy.ts'
import { FieldSet } from './field-set.ts'

/** Filters a set of fields of this version; undefined: keeps everything. */
export type ResetFields = (apiVersion: string) => ((fields: FieldSet) => FieldSet) | undefined

/** @param paths names of fields, from the object down */
export const without = (...paths: readonly (readonly string[])[]): ResetFields => {
  const reset = lazy(() => FieldSet.of(...paths.map((path) => path.map((name) => `f:${name}`))))
  return () => (fields) => fields.recursiveDifference(reset())
}

export const withoutStatus = without(['status'])
export const withoutSpec = without(['spec'])
export const withoutSpecAndMetadata = without(['spec'], ['metadata'])
export const everything: ResetFields = () => undefined
