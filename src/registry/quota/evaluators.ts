/** Finds the evaluator that counts the objects of a resource. */
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../../api/core/v1.ts'
import type { GroupResource } from '../../api/group-version.ts'
import { groupResourceText } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { lazy } from '../../base/lazy.ts'
import { definitionOf, definitions } from '../definitions.ts'
import { countEvaluator } from './count-evaluator.ts'
import type { Evaluator } from './evaluator.ts'

/** @param resource the name under which storage keeps its objects */
export const countName = (resource: GroupResource): string => `count/${groupResourceText(resource)}`

/** Resources for which quotas count more than `count/RESOURCE.GROUP`. */
export const specialResources = lazy((): readonly GroupResource[] =>
  definitions()
    .filter(({ definition: { quota } }) => quota !== undefined && quota !== 'uncounted')
    .map(({ resource }) => resource),
)

/** Undefined for resources that no quota counts. @param resource the name under which storage keeps its objects */
export function evaluatorOf(resource: GroupResource): Evaluator | undefined {
  const { quota = countEvaluator(countName(resource)) } = definitionOf(resource)
  return quota === 'uncounted' ? undefined : quota
}

export const scopesOf = ({ spec }: ResourceQuota): ScopedResourceSelectorRequirement[] => [
  ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
  ...(spec?.scopeSelector?.matchExpressions ?? []),
]

export const isInScope = (evaluator: Evaluator, quota: ResourceQuota, object: KubeObject): boolean =>
  scopesOf(quota).every((scope) => evaluator.matchesScope?.(scope, object) === true)
