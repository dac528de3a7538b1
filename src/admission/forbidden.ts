import type { StatusError } from '../api/status.ts'
import { forbidden } from '../api/status.ts'
import type { Attributes } from './attributes.ts'

/**
 * The error of a refusal (admission.NewForbidden). It names the object by its prefix where the name is not generated
 * yet.
 */
export function admissionForbidden({ resource, name, object }: Attributes, why: string): StatusError {
  const { name: own, generateName } = object?.metadata ?? {}
  return forbidden(resource, name || own || generateName || 'Unknown', why)
}
