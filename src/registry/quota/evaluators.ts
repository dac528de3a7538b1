/** Which evaluator counts the objects of a resource. */
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../../api/core/v1.ts'
import type { GroupResource } from '../../api/group-version.ts'
import { groupResourceText } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../api/own.ts'
import type { Amounts } from './amounts.ts'
import { ONE } from './amounts.ts'
import { claimEvaluator } from './claims.ts'
import { deviceClaimEvaluator } from './device-claims.ts'
import type { Evaluator } from './evaluator.ts'
import { podEvaluator } from './pods.ts'
import { serviceEvaluator } from './services.ts'

/** @param resource as what its objects are kept */
export const countName = (resource: GroupResource): string => `count/${groupResourceText(resource)}`

const special: Readonly<Record<string, Evaluator>> = {
  persistentvolumeclaims: claimEvaluator,
  pods: podEvaluator,
  'resourceclaims.resource.k8s.io': deviceClaimEvaluator,
  services: serviceEvaluator,
}

/** Names from before every resource could be counted. */
const counted = ['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']

export const SPECIAL_RESOURCES: readonly GroupResource[] = [
  { group: '', resource: 'persistentvolumeclaims' },
  { group: '', resource: 'pods' },
  { group: 'resource.k8s.io', resource: 'resourceclaims' },
  { group: '', resource: 'services' },
  ...counted.map((resource) => ({ group: '', resource })),
]

/** They come and go in numbers, and no quota holds them. */
const IGNORED: ReadonlySet<string> = new Set(['bindings', 'events', 'events.events.k8s.io'])

/** Undefined for what no quota counts. */
export function evaluatorOf(resource: GroupResource): Evaluator | undefined {
  const text = groupResourceText(resource)
  return IGNORED.has(text) ? undefined : (ownValue(special, text) ?? countEvaluator(resource, text))
}

function countEvaluator(resource: GroupResource, text: string): Evaluator {
  const names = counted.includes(text) ? [countName(resource), text] : [countName(resource)]
  const usage: Amounts = new Map(names.map((name) => [name, ONE]))
  return {
    handles: ({ operation, subresource }) => subresource === '' && operation === 'CREATE',
    tracks: (name) => names.includes(name),
    usage: () => usage,
  }
}

export const scopesOf = ({ spec }: ResourceQuota): ScopedResourceSelectorRequirement[] => [
  ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
  ...(spec?.scopeSelector?.matchExpressions ?? []),
]

export const isInScope = (evaluator: Evaluator, quota: ResourceQuota, object: KubeObject): boolean =>
  scopesOf(quota).every((scope) => evaluator.matchesScope?.(scope, object) === true)
