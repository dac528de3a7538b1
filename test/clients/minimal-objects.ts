// A minimal object of every resource that a default server accepts; each client library creates, lists and deletes
// these.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface MinimalObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata?: { readonly name: string }
}

export const MINIMAL_OBJECTS_FILE = join(import.meta.dirname, 'minimal-objects.json')

/** Keys are `group/version/resource` (`v1/pods` in the core group); the objects are for this namespace. */
export function minimalObjects(namespace: string): Record<string, MinimalObject> {
  const text = readFileSync(MINIMAL_OBJECTS_FILE, 'utf8').replaceAll('${NAMESPACE}', namespace)
  return JSON.parse(text) as Record<string, MinimalObject> // the file has this shape
}
