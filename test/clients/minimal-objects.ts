// The least of every resource that a default server accepts: what each client library creates, lists and deletes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface MinimalObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata?: { readonly name: string }
}

export const MINIMAL_OBJECTS_FILE = join(import.meta.dirname, 'minimal-objects.json')

/** By `group/version/resource` (`v1/pods` of the core group), for use in this namespace. */
export function minimalObjects(namespace: string): Record<string, MinimalObject> {
  const text = readFileSync(MINIMAL_OBJECTS_FILE, 'utf8').replaceAll('${NAMESPACE}', namespace)
  return JSON.parse(text) as Record<string, MinimalObject> // the file is of this shape
}
