/**
 * Names of things in the Kubernetes API: groups, versions, resources and kinds.
 * The core group is the empty string, as everywhere in Kubernetes.
 */
export interface GroupVersion {
  readonly group: string
  readonly version: string
}

export interface GroupResource {
  readonly group: string
  readonly resource: string
}

export interface GroupKind {
  readonly group: string
  readonly kind: string
}

export interface GroupVersionResource extends GroupVersion {
  readonly resource: string
}

export interface GroupVersionKind extends GroupVersion {
  readonly kind: string
}

/** The text of an `apiVersion` field: `apps/v1`, or `v1` for the core group. */
export function apiVersionOf({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`
}

/** The group and version of an `apiVersion` field. Undefined: it has more than one slash. */
export function parseApiVersion(apiVersion: string): GroupVersion | undefined {
  const parts = apiVersion.split('/')
  if (parts.length === 1) return { group: '', version: apiVersion }
  if (parts.length === 2) return { group: parts[0]!, version: parts[1]! }
  return undefined
}

/** The name of a resource in messages and storage keys: `deployments.apps`, or `pods` for the core group. */
export function groupResourceText({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`
}

/** The inverse of `groupResourceText`. */
export function groupResourceOf(text: string): GroupResource {
  const dot = text.indexOf('.')
  return dot < 0 ? { group: '', resource: text } : { group: text.slice(dot + 1), resource: text.slice(0, dot) }
}

/** The name of a kind in validation messages: `Deployment.apps`, or `Pod` for the core group. */
export function groupKindText({ group, kind }: { group: string; kind: string }): string {
  return group === '' ? kind : `${kind}.${group}`
}
