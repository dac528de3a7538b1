import type { StatusError } from '../api/status.ts'
import { forbidden } from '../api/status.ts'
import type { Attributes } from './attributes.ts'

/**
 * The error of a refusal. It names the object as well as possible: a name may yet have to be generated
 * (admission.NewForbidden).
 */
export function admissionForbidden({ resource, name, object }: Attributes, why: string): StatusError {
  const { name: own, generateName } = object?.metadata ?? {}
  return forbidden(resource, name || own || generateName || 'Unknown', why)
}
