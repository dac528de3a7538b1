/** Which requests a policy or a binding matches (apiserver's plugin/policy/matching). */
import type { MatchResources, NamedRuleWithOperations } from '../../api/admissionregistration/v1.ts'
import type { Attributes } from '../attributes.ts'
import type { ResourceKind } from '../equivalent-resources.ts'
import { ruleMatches } from '../webhooks/rules.ts'
import { namespaceMatches, objectMatches } from '../webhooks/selectors.ts'

export type Equivalents = () => Promise<readonly ResourceKind[]>

/**
 * Returns the version of the request's resource that the rules name. Expressions see the objects in that version.
 * @returns undefined where the policy does not match
 * @throws StatusError 404 for a namespace that does not exist
 */
export async function matchedBy(
  { resourceRules = [], excludeResourceRules = [], matchPolicy, ...selectors }: MatchResources,
  attributes: Attributes,
  equivalents: Equivalents,
): Promise<ResourceKind | undefined> {
  const byRules = (rules: readonly NamedRuleWithOperations[]) =>
    ruled(rules, attributes, matchPolicy === 'Equivalent' ? equivalents : noEquivalents)
  if (!objectMatches(selectors.objectSelector, attributes)) return undefined
  if ((await byRules(excludeResourceRules)) !== undefined) return undefined
  const { resource, kind } = attributes
  const matched = resourceRules.length === 0 ? { resource, kind } : await byRules(resourceRules)
  if (matched === undefined || !(await namespaceMatches(selectors.namespaceSelector, attributes))) return undefined
  return matched
}

const noEquivalents: Equivalents = () => Promise.resolve([])

async function ruled(
  rules: readonly NamedRuleWithOperations[],
  attributes: Attributes,
  equivalents: Equivalents,
): Promise<ResourceKind | undefined> {
  if (rules.length === 0) return undefined
  const named = rules.filter(({ resourceNames = [] }) => isAbout(resourceNames, attributes.name))
  const { resource, kind } = attributes
  if (named.some((rule) => ruleMatches(rule, attributes))) return { resource, kind }
  // kube-apiserver tries the rules in their order, then the versions in theirs
  for (const rule of named)
    for (const other of await equivalents())
      if (ruleMatches(rule, { ...attributes, resource: other.resource })) return other
  return undefined
}

const isAbout = (names: readonly string[], name: string): boolean => names.length === 0 || names.includes(name)
