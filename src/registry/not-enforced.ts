/**
 * What this server keeps and does not enforce yet: a write of it gets a Warning. A row goes when what it names is enforced.
 * A dry run keeps nothing, so that nothing is missing after it.
 */
import type { CustomResourceDefinition } from '../api/apiextensions/v1.ts'
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { ownValue } from '../api/own.ts'

interface NotEnforced {
  readonly warning: string
  /** What of an object is not enforced, as text. An update that does not change it is told nothing. */
  of(object: KubeObject): string
}

const CONVERSION: NotEnforced = {
  warning: 'this server does not call conversion webhooks yet: requests in a version that needs one fail',
  of(object) {
    const { spec }: CustomResourceDefinition = object
    return spec?.conversion?.strategy === 'Webhook' && (spec.versions ?? []).length > 1 ? 'conversion' : ''
  },
}

const rows: Readonly<Record<string, NotEnforced>> = {
  'customresourcedefinitions.apiextensions.k8s.io': CONVERSION,
}

/** @param resource as what the objects are kept */
export function notEnforcedWarnings(resource: GroupResource, object: KubeObject, old?: KubeObject): string[] {
  const row = ownValue(rows, groupResourceText(resource))
  if (row === undefined) return []
  const now = row.of(object)
  return now === '' || (old !== undefined && now === row.of(old)) ? [] : [row.warning]
}
